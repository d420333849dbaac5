"""Queue choice of a producer: in turn, and elsewhere after a failure."""

from spec.client.queue_choice import advance_counter, choose_queue, derive_position
from spec.client.send_retry import SendMode, is_tried_again


def position_is_in_the_list(counter: int, queue_count: int) -> bool:
    """Any Java int stands for a queue, the lowest included.

    clause: client.producer.round-robin
    pre: -(2 ** 31) <= counter < 2 ** 31
    pre: 1 <= queue_count <= 8
    post: __return__
    """
    return 0 <= derive_position(counter, queue_count) < queue_count


def counter_stays_a_java_int(counter: int) -> bool:
    """The counter wraps as Java's does.

    clause: client.producer.round-robin
    pre: -(2 ** 31) <= counter < 2 ** 31
    post: __return__
    """
    after = advance_counter(counter)
    return after == (counter + 1 if counter < 2**31 - 1 else -(2**31))


def retry_avoids_the_failed_broker(brokers: tuple[int, ...], counter: int, failed: int) -> bool:
    """If another broker has a queue, the retry goes to another broker.

    clause: client.producer.retry-elsewhere
    pre: 1 <= len(brokers) <= 3
    pre: all(0 <= broker <= 2 for broker in brokers)
    pre: 0 <= counter < 1000
    pre: 0 <= failed <= 2
    post: __return__
    """
    choice = choose_queue(brokers, counter, failed)
    return brokers[choice.position] != failed or all(broker == failed for broker in brokers)


def tries_are_bounded(mode: SendMode, tries: int, elapsed: int, retries: int) -> bool:
    """Beyond its retries, or beyond its time, a send is never tried again.

    clause: client.producer.try-limit
    pre: 1 <= tries and 0 <= retries and 0 <= elapsed
    post: __return__
    """
    again = is_tried_again(mode, None, tries, elapsed, retries=retries)
    return not again or (tries <= retries and elapsed <= 3000)
