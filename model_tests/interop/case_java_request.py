"""A Java client asks, another one answers, and the broker leads the answer to the one that asked."""

from model_tests.interop.java_event import Answered
from model_tests.interop.java_peer import JavaClient
from model_tests.interop.native_broker import create_topic
from model_tests.interop.target import Target

pytest_plugins = ["model_tests.interop.java_fixture"]


def test_each_request_is_answered_with_the_reply_to_it(
    both_java: tuple[JavaClient, ...], target: Target
) -> None:
    # 5.3.3 gives up waiting for a reply as soon as its request was sent, so it can only answer.
    asks = both_java[0]
    assert asks.version == "4.9.8"
    bodies = [f"message-{number}" for number in range(5)]
    for answers in both_java:
        topic = answers.name("Asked")
        create_topic(target, topic)
        responder = answers.start(
            "respond", group=answers.name("answering"), reply_group=answers.name("replies"), topic=topic
        )
        responder.wait_happened("started")
        asker = asks.run("request", group="asking", topic=topic, count=len(bodies))
        responder.stop()
        assert [(event.body, event.reply) for event in asker.events(Answered)] == [
            (body, f"{body} is answered") for body in bodies
        ]
        assert sorted(event.body for event in responder.received) == bodies
