"""Sends numbered messages until it is asked to end, and reports each answer and each failure."""

from model_tests.interop.native_peer.library import make_message, make_producer
from model_tests.interop.native_peer.scenario import is_asked_to_end, read_options, report, run, start


def stream() -> None:
    """Each message was tried once, whatever came of it."""
    options = read_options(word="", pause_ms="0")
    producer = make_producer(options["group"])
    start(producer, options)
    number = 0
    while not is_asked_to_end(int(options["pause_ms"])):
        message, body = make_message(options["topic"]), f"{options['word']}-{number}"
        message.set_body(body)
        try:
            result = producer.send_sync(message)
        except Exception as error:  # noqa: BLE001 - the client tells every failure by another one
            report("refused", body=body, error=repr(error))
        else:
            status, offset = result.status.name, result.offset
            report("sent", body=body, status=status, messageId=result.msg_id, queueOffset=offset)
        number += 1
    producer.shutdown()


if __name__ == "__main__":
    run(stream)
