"""Every combination of facts against the checks written down once more as plain `if`s."""

from itertools import product

import pytest

from spec.broker.pull_guard import CarriedSubscription, KnownSubscription, PullTarget, check_pull
from spec.broker.send import SendTarget, check_send
from spec.broker.send_back import BackTarget, FailedMessage, check_send_back, derive_copy

FLAGS = (False, True)


def refuse_pull(  # noqa: C901, PLR0911, PLR0912 - a chain of checks is what is judged
    target: PullTarget,
    queue_id: int,
    known: KnownSubscription,
    carried: CarriedSubscription | None,
    wanted: int,
) -> int | None:
    if not target.is_broker_readable:
        return 16
    if not target.has_group:
        return 26
    if not target.is_consume_enabled:
        return 16
    if not target.has_topic:
        return 17
    if not target.is_topic_readable:
        return 16
    if queue_id < 0 or queue_id >= target.read_queue_count:
        return 1
    if carried is not None:
        if not carried.is_legal:
            return 23
        return 1 if carried.is_expression else None
    if not known.is_group_online:
        return 24
    if known.is_broadcast_refused:
        return 16
    if not known.is_topic_subscribed:
        return 24
    if known.version < wanted:
        return 25
    if known.is_expression:
        if not known.has_filter_data:
            return 27
        return 1 if known.is_filter_data_fresh else 28
    return None


@pytest.mark.clause("broker.pull.guard-order")
def test_pull_is_refused_by_the_first_failed_check_of_its_target_in_every_combination() -> None:
    for broker, group, enabled, topic, readable in product(FLAGS, repeat=5):
        for count, queue_id in product((0, 1, 4), (-1, 0, 3, 4)):
            target = PullTarget(broker, group, enabled, topic, readable, count)
            for known in (KnownSubscription(), KnownSubscription(is_group_online=False)):
                expected = refuse_pull(target, queue_id, known, None, 0)
                assert check_pull(target, queue_id, 0b011, 0, known) == expected


@pytest.mark.clause(
    "broker.pull.guard-order", "broker.pull.carried-subscription", "broker.filter.stale-subscription-refused"
)
def test_pull_is_refused_by_the_first_failed_check_of_its_subscription_in_every_combination() -> None:
    carriers = [None, *(CarriedSubscription(*bits) for bits in product(FLAGS, repeat=2))]
    for online, broadcast, subscribed, expression, data, fresh in product(FLAGS, repeat=6):
        for version, wanted in product((0, 5), (4, 5, 6)):
            known = KnownSubscription(online, broadcast, subscribed, version, expression, data, fresh)
            for carried in carriers:
                expected = refuse_pull(PullTarget(), 0, known, carried, wanted)
                flag = 0b011 if carried is None else 0b111
                shown = carried or CarriedSubscription(is_legal=False, is_expression=True)
                assert check_pull(PullTarget(), 0, flag, wanted, known, carried=shown) == expected


def refuse_send(target: SendTarget, topic: str, queue_id: int) -> int | None:  # noqa: PLR0911 - as above
    if not target.is_broker_writable and target.is_ordered_topic:
        return 16
    if topic in ("", "a b", "x" * 128):
        return 1
    if topic == "SCHEDULE_TOPIC_XXXX":
        return 16
    if not target.has_topic:
        return 17
    if queue_id >= target.queue_count:
        return 1
    if not target.is_retry_group_known:
        return 26
    if target.is_transaction and target.is_transaction_refused:
        return 16
    return None


@pytest.mark.clause("broker.send.guard-order")
def test_send_is_refused_by_the_first_failed_check_in_every_combination() -> None:
    topics = ("", "a b", "x" * 127, "x" * 128, "SCHEDULE_TOPIC_XXXX", "%RETRY%G")
    for writable, ordered, known, group, transaction, refused in product(FLAGS, repeat=6):
        for count, topic, queue_id in product((0, 4), topics, (-1, 0, 3, 4)):
            target = SendTarget(writable, ordered, known, count, group, transaction, refused)
            assert check_send(target, topic, queue_id) == refuse_send(target, topic, queue_id)


def answer_send_back(target: BackTarget) -> int | None:
    if not target.has_group:
        return 26
    if not target.is_broker_writable:
        return 16
    if target.retry_queue_count <= 0:
        return 0
    if not target.is_retry_topic_writable:
        return 16
    return None if target.has_message else 1


@pytest.mark.clause("broker.retry.guard-order", "broker.retry.no-retry-queue-discards")
def test_send_back_is_answered_by_the_first_failed_check_in_every_combination() -> None:
    for group, writable, topic, message in product(FLAGS, repeat=4):
        for queues in (-1, 0, 1, 3):
            target = BackTarget(group, writable, queues, topic, message)
            assert check_send_back(target) == answer_send_back(target)


@pytest.mark.clause(
    "broker.retry.limit-source",
    "broker.retry.exhausted-goes-dead",
    "broker.retry.negative-level-goes-dead",
    "broker.retry.level-series",
    "broker.retry.one-attempt-older",
    "broker.retry.origin-kept",
    "broker.retry.dead-letter-is-not-delayed",
)
def test_copy_of_a_send_back_is_the_one_that_the_steps_give_in_every_combination() -> None:
    known: tuple[dict[str, str], ...] = (
        {},
        {"RETRY_TOPIC": "First", "ORIGIN_MESSAGE_ID": "F0", "DELAY": "7", "WAIT": "true", "KEYS": "k"},
    )
    levels, limits, versions = (-1, 0, 1, 18, 40), (None, 0, 3, 16), (0, 120, 121, 399)
    for times, level, asked, version, properties in product(
        (0, 2, 3, 15, 16, 17), levels, limits, versions, known
    ):
        maximum = 16
        if version >= 121 and asked is not None:
            maximum = asked
        expected = {"RETRY_TOPIC": "T", "ORIGIN_MESSAGE_ID": "O1"}
        expected.update(properties)
        expected["WAIT"] = "false"
        topic, delay = "%RETRY%G", level
        if times >= maximum or level < 0:
            topic, delay = "%DLQ%G", 0
        elif level == 0:
            delay = 3 + times
        expected["DELAY"] = str(delay)
        failed = FailedMessage("T", times, "O1", properties)
        copy = derive_copy("G", failed, level, 16, asked_limit=asked, client_version=version)
        assert (copy.topic, copy.reconsume_times, copy.delay_level) == (topic, times + 1, delay)
        assert copy.properties == expected
