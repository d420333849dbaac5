"""Sends messages in one of the client's ways, one after the other, and reports each answer."""

import json
import threading
from typing import Final, TypedDict

from model_tests.interop.native_peer.library import (
    OutgoingMessage,
    Producer,
    SendResult,
    make_message,
    make_producer,
)
from model_tests.interop.native_peer.scenario import read_options, report, run, start

ANSWER_LIMIT_SECONDS: Final = 10.0


class Wanted(TypedDict):
    """A message as the case asked for it."""

    body: str
    tags: str
    keys: list[str]
    delayLevel: int
    shard: str


def _build(topic: str, wanted: Wanted) -> OutgoingMessage:
    message = make_message(topic)
    message.set_body(wanted["body"])
    if wanted["tags"]:
        message.set_tags(wanted["tags"])
    if wanted["keys"]:
        message.set_keys(" ".join(wanted["keys"]))
    if wanted["delayLevel"]:
        message.set_delay_time_level(wanted["delayLevel"])
    return message


def _report_sent(body: str, result: SendResult | None) -> None:
    if result is None:
        report("sent", body=body, status="")
        return
    status, offset = result.status.name, result.offset
    report("sent", body=body, status=status, messageId=result.msg_id, queueOffset=offset)


def _send_async(producer: Producer, message: OutgoingMessage) -> SendResult:
    """The answer that came by a callback."""
    answered = threading.Event()
    answers: list[SendResult] = []
    errors: list[Exception] = []

    def take(result: SendResult) -> None:
        answers.append(result)
        answered.set()

    def refuse(error: Exception) -> None:
        errors.append(error)
        answered.set()

    producer.send_async(message, take, refuse)
    if not answered.wait(ANSWER_LIMIT_SECONDS) or errors:
        raise RuntimeError(f"the asynchronous send failed: {errors or 'no callback'}")
    return answers[0]


def _send(producer: Producer, way: str, message: OutgoingMessage, shard: str) -> SendResult | None:
    match way:
        case "sync":
            return producer.send_sync(message)
        case "async":
            return _send_async(producer, message)
        case "one-way":
            producer.send_oneway(message)
        case "orderly":
            return producer.send_orderly(message, int(shard))
        case "one-way-orderly":
            producer.send_oneway_orderly(message, int(shard))
        case _:
            raise ValueError(f"there is no way {way!r} to send")
    return None


def produce() -> None:
    """Every message was sent, and every answer reported."""
    options = read_options(way="sync", messages="[]")
    producer = make_producer(options["group"])
    start(producer, options)
    plan: list[Wanted] = json.loads(options["messages"])
    built = [(wanted, _build(options["topic"], wanted)) for wanted in plan]
    if options["way"] == "batch":
        _report_sent("", producer.send_batch([message for _, message in built]))
    else:
        for wanted, message in built:
            _report_sent(wanted["body"], _send(producer, options["way"], message, wanted["shard"]))
    producer.shutdown()


if __name__ == "__main__":
    run(produce)
