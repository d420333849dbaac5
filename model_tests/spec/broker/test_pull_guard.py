import pytest

from spec.broker.pull_guard import (
    CarriedSubscription,
    KnownSubscription,
    PullTarget,
    check_known_subscription,
    check_pull,
    check_target,
)
from spec.wire.code import ResponseCode

ALL_BAD = PullTarget(
    is_broker_readable=False,
    has_group=False,
    is_consume_enabled=False,
    has_topic=False,
    is_topic_readable=False,
    read_queue_count=0,
)


@pytest.mark.clause("broker.pull.guard-order")
def test_target_is_checked_in_order() -> None:
    order = ["is_broker_readable", "has_group", "is_consume_enabled", "has_topic", "is_topic_readable"]
    codes = [check_target(ALL_BAD, 0)]
    repaired: dict[str, bool] = {}
    for name in order:
        repaired[name] = True
        bad = {other: False for other in order if other not in repaired}
        codes.append(check_target(PullTarget(**bad, **repaired, read_queue_count=0), 0))
    assert codes == [
        ResponseCode.NO_PERMISSION,
        ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
        ResponseCode.NO_PERMISSION,
        ResponseCode.TOPIC_NOT_EXIST,
        ResponseCode.NO_PERMISSION,
        ResponseCode.SYSTEM_ERROR,
    ]


@pytest.mark.clause("broker.pull.guard-order")
def test_queue_id_lies_below_the_read_queues() -> None:
    assert [check_target(PullTarget(), queue_id) for queue_id in (-1, 0, 3, 4)] == [
        ResponseCode.SYSTEM_ERROR,
        None,
        None,
        ResponseCode.SYSTEM_ERROR,
    ]


@pytest.mark.clause("broker.pull.guard-order", "broker.filter.stale-subscription-refused")
@pytest.mark.parametrize(
    ("known", "code"),
    [
        (KnownSubscription(is_group_online=False), ResponseCode.SUBSCRIPTION_NOT_EXIST),
        (KnownSubscription(is_broadcast_refused=True), ResponseCode.NO_PERMISSION),
        (KnownSubscription(is_topic_subscribed=False, version=5), ResponseCode.SUBSCRIPTION_NOT_EXIST),
        (KnownSubscription(version=4), ResponseCode.SUBSCRIPTION_NOT_LATEST),
        (KnownSubscription(version=5), None),
        (KnownSubscription(version=6), None),
        (KnownSubscription(version=5, has_filter_data=False), None),
        (
            KnownSubscription(version=5, is_expression=True, has_filter_data=False),
            ResponseCode.FILTER_DATA_NOT_EXIST,
        ),
        (
            KnownSubscription(version=5, is_expression=True, is_filter_data_fresh=False),
            ResponseCode.FILTER_DATA_NOT_LATEST,
        ),
    ],
)
def test_known_subscription_is_checked_in_order(known: KnownSubscription, code: ResponseCode | None) -> None:
    assert check_known_subscription(known, 5) is code


@pytest.mark.clause("broker.pull.carried-subscription")
def test_carried_subscription_replaces_the_known_one() -> None:
    offline = KnownSubscription(is_group_online=False)
    assert check_pull(PullTarget(), 0, 0b100, 5, offline) is None
    assert check_pull(PullTarget(), 0, 0b011, 5, offline) is ResponseCode.SUBSCRIPTION_NOT_EXIST
    refused = check_pull(PullTarget(), 0, 0b100, 5, offline, carried=CarriedSubscription(is_legal=False))
    assert refused is ResponseCode.SUBSCRIPTION_PARSE_FAILED


@pytest.mark.clause("broker.pull.guard-order")
def test_expressions_need_to_be_switched_on() -> None:
    known = KnownSubscription(is_expression=True)
    assert check_pull(PullTarget(), 0, 0, 0, known) is ResponseCode.SYSTEM_ERROR
    assert check_pull(PullTarget(), 0, 0, 0, known, is_expression_enabled=True) is None
    assert check_pull(ALL_BAD, 0, 0, 0, known) is ResponseCode.NO_PERMISSION


@pytest.mark.clause("broker.pull.carried-subscription", "broker.pull.guard-order")
def test_only_the_subscription_that_counts_has_to_be_one_the_broker_can_evaluate() -> None:
    known = KnownSubscription(is_expression=True)
    carried = CarriedSubscription(is_expression=True)
    assert check_pull(PullTarget(), 0, 0b100, 0, known) is None
    assert check_pull(PullTarget(), 0, 0, 0, KnownSubscription(), carried=carried) is None
    assert (
        check_pull(PullTarget(), 0, 0b100, 0, KnownSubscription(), carried=carried)
        is ResponseCode.SYSTEM_ERROR
    )
    assert check_pull(PullTarget(), 0, 0b100, 0, known, carried=carried, is_expression_enabled=True) is None
