"""What a broker checks before it looks for messages: the first failed check is the answer.

The promise: a pull that may not be answered is refused with a code that tells its client why,
and always with the same code, because the checks have an order. A client that has just started
meets 24 and 25 in normal operation (its heartbeat has not arrived yet) and simply tries again;
a pull that were answered with an older subscription instead would lose messages.

A pull either carries its own subscription (sysFlag bit 4) or is judged by the one that the
group's heartbeats left behind; the second half of the chain depends on which.
"""

from dataclasses import dataclass
from typing import Final

from spec.broker.filter import is_subscription_fresh
from spec.values.pull_flag import PullFlag
from spec.wire.code import ResponseCode


@dataclass(frozen=True, slots=True)
class PullTarget:
    """What the broker knows of the place that a pull names; the defaults pass every check."""

    is_broker_readable: bool = True
    has_group: bool = True
    """False when the group is unknown and is not created by its first use."""
    is_consume_enabled: bool = True
    has_topic: bool = True
    is_topic_readable: bool = True
    read_queue_count: int = 4


@dataclass(frozen=True, slots=True)
class KnownSubscription:
    """What the broker knows of the group's subscription of the topic; the defaults pass every check."""

    is_group_online: bool = True
    is_broadcast_refused: bool = False
    """The group consumes by broadcast although its configuration forbids it."""
    is_topic_subscribed: bool = True
    version: int = 0
    is_expression: bool = False
    """The subscription is an SQL expression, not a set of tags."""
    has_filter_data: bool = True
    is_filter_data_fresh: bool = True


@dataclass(frozen=True, slots=True)
class CarriedSubscription:
    """The subscription in the request itself; the defaults pass every check."""

    is_legal: bool = True
    """False when it cannot be parsed."""
    is_expression: bool = False


_TAGS: Final = CarriedSubscription()


def check_target(target: PullTarget, queue_id: int) -> ResponseCode | None:
    """The refusal by the first check of broker, group, topic and queue that fails, or None.

    Clause: broker.pull.guard-order
    """
    checks = (
        (target.is_broker_readable, ResponseCode.NO_PERMISSION),
        (target.has_group, ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST),
        (target.is_consume_enabled, ResponseCode.NO_PERMISSION),
        (target.has_topic, ResponseCode.TOPIC_NOT_EXIST),
        (target.is_topic_readable, ResponseCode.NO_PERMISSION),
        (0 <= queue_id < target.read_queue_count, ResponseCode.SYSTEM_ERROR),
    )
    return next((code for passed, code in checks if not passed), None)


def check_known_subscription(known: KnownSubscription, requested_version: int) -> ResponseCode | None:
    """The refusal by the first check of the group's own subscription that fails, or None.

    Clauses: broker.pull.guard-order, broker.filter.stale-subscription-refused
    """
    needs_data = known.is_expression
    checks = (
        (known.is_group_online, ResponseCode.SUBSCRIPTION_NOT_EXIST),
        (not known.is_broadcast_refused, ResponseCode.NO_PERMISSION),
        (known.is_topic_subscribed, ResponseCode.SUBSCRIPTION_NOT_EXIST),
        (is_subscription_fresh(known.version, requested_version), ResponseCode.SUBSCRIPTION_NOT_LATEST),
        (known.has_filter_data or not needs_data, ResponseCode.FILTER_DATA_NOT_EXIST),
        (known.is_filter_data_fresh or not needs_data, ResponseCode.FILTER_DATA_NOT_LATEST),
    )
    return next((code for passed, code in checks if not passed), None)


def check_pull(
    target: PullTarget,
    queue_id: int,
    sys_flag: int,
    requested_version: int,
    known: KnownSubscription,
    *,
    carried: CarriedSubscription = _TAGS,
    is_expression_enabled: bool = False,
) -> ResponseCode | None:
    """The code with which a pull is refused, or None when the store is asked.

    `carried` is looked at if the flag says that the request has a subscription, `known` if not.

    Clauses: broker.pull.guard-order, broker.pull.carried-subscription
    """
    refused = check_target(target, queue_id)
    if refused is not None:
        return refused
    if sys_flag & PullFlag.SUBSCRIPTION:
        is_expression = carried.is_expression
        refused = None if carried.is_legal else ResponseCode.SUBSCRIPTION_PARSE_FAILED
    else:
        is_expression = known.is_expression
        refused = check_known_subscription(known, requested_version)
    if refused is None and is_expression and not is_expression_enabled:
        return ResponseCode.SYSTEM_ERROR
    return refused
