"""Theorems on retries: each failure costs one attempt, and attempts end."""

from spec.broker.schedule import LEVEL_COUNT, clamp_level
from spec.broker.send import derive_retry_limit, is_exhausted, pick_queue
from spec.broker.send_back import derive_retry_level, is_dead


def message_dies_exactly_at_its_limit(times: int, limit: int, level: int) -> bool:
    """A message with attempts left is retried unless its client says never again.

    clause: broker.retry.exhausted-goes-dead
    pre: 0 <= times <= 100
    pre: 0 <= limit <= 100
    pre: -1 <= level <= 18
    post: __return__
    """
    return is_dead(times, limit, level) == (times >= limit or level < 0)


def default_retries_use_every_level_from_the_third(times: int) -> bool:
    """The sixteen default retries take the levels 3 to 18, one after the other.

    clause: broker.retry.level-series
    pre: 0 <= times < 16
    post: __return__
    """
    level = derive_retry_level(0, times)
    return level == 3 + times and clamp_level(level) == level


def retry_delay_never_shrinks(times: int) -> bool:
    """A later attempt never waits at a lower level than an earlier one.

    clause: broker.retry.level-series
    pre: 0 <= times <= 1000
    post: __return__
    """
    earlier = clamp_level(derive_retry_level(0, times))
    return earlier <= clamp_level(derive_retry_level(0, times + 1)) <= LEVEL_COUNT


def old_clients_have_the_limit_of_their_group(group_limit: int, asked: int, version: int) -> bool:
    """A client's own limit counts from version 121 on, and not before.

    clause: broker.retry.limit-source
    pre: 0 <= group_limit <= 100
    pre: 0 <= asked <= 100
    pre: 0 <= version <= 500
    post: __return__
    """
    expected = asked if version >= 121 else group_limit
    return derive_retry_limit(group_limit, asked, version) == expected


def attempts_end(limit: int) -> bool:
    """Counting one for each failure, a message is exhausted after exactly its limit of retries.

    clause: broker.retry.one-attempt-older
    pre: 0 <= limit <= 20
    post: __return__
    """
    times = 0
    while not is_exhausted(times, limit):
        times += 1
    return times == limit


def drawn_queue_exists(asked: int, queue_count: int, draw: int) -> bool:
    """A message that names no queue gets one that exists; a named one is kept.

    clause: broker.send.negative-queue-is-drawn
    pre: -10 <= asked <= 10
    pre: 1 <= queue_count <= 16
    pre: 0 <= draw <= 10**6
    post: __return__
    """
    queue_id = pick_queue(asked, queue_count, draw)
    return 0 <= queue_id < queue_count if asked < 0 else queue_id == asked
