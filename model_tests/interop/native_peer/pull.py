"""Pulls every queue of a topic from its start to its end, and reports each message."""

from model_tests.interop.native_peer.library import make_pull_consumer
from model_tests.interop.native_peer.scenario import read_options, report_received, run, start


def pull() -> None:
    """Every queue was pulled until the broker had nothing more."""
    options = read_options(expression="*")
    consumer = make_pull_consumer(options["group"])
    start(consumer, options)
    for message in consumer.pull(options["topic"], options["expression"]):
        report_received(message, "pulled")
    consumer.shutdown()


if __name__ == "__main__":
    run(pull)
