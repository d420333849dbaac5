"""A member of a group: reports each message that its user gets, until it is asked to end."""

from model_tests.interop.native_peer.library import IncomingMessage, make_push_consumer, subscribe
from model_tests.interop.native_peer.scenario import (
    read_options,
    report_received,
    run,
    start,
    wait_asked_to_end,
)


def consume() -> None:
    """The member took part until it was asked to end, and left cleanly."""
    options = read_options(expression="*", model="clustering", listener="concurrent", fail_times="0")

    def take(message: IncomingMessage) -> bool:
        is_consumed = message.reconsume_times >= int(options["fail_times"])
        report_received(message, "consumed" if is_consumed else "failed")
        return is_consumed

    consumer = make_push_consumer(
        options["group"],
        is_orderly=options["listener"] == "orderly",
        is_broadcasting=options["model"] == "broadcasting",
    )
    subscribe(consumer, options["topic"], options["expression"], take)
    start(consumer, options)
    wait_asked_to_end()
    consumer.shutdown()


if __name__ == "__main__":
    run(consume)
