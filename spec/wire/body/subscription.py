"""A subscription as heartbeats and connection lists carry it.

Tags and their hash codes are stated beside the expression they follow from. Some clients state
wrong codes (`[0,0]` for real tags); the record keeps what was said, and `derive_subscription`
works it out again from the expression, which is the only part that counts.
"""

from spec.values.subscription import ExpressionType, Subscription, subscribe_sql, subscribe_tags
from spec.values.units import Milliseconds
from spec.wire.body.record import JsonRecord, json_record


@json_record
class SubscriptionRecord(JsonRecord):
    """What a member of a group says that it wants of a topic."""

    topic: str
    sub_string: str
    tags_set: frozenset[str] = frozenset()
    code_set: frozenset[int] = frozenset()
    sub_version: Milliseconds = Milliseconds(0)
    expression_type: ExpressionType = ExpressionType.TAG
    class_filter_mode: bool = False


def derive_subscription(record: SubscriptionRecord) -> Subscription:
    """The subscription that the expression stands for, whatever tags and codes were stated.

    Clause: wire.body.expression-wins
    """
    match record.expression_type:
        case ExpressionType.TAG:
            return subscribe_tags(record.topic, record.sub_string, record.sub_version)
        case ExpressionType.SQL92:
            return subscribe_sql(record.topic, record.sub_string, record.sub_version)


def derive_record(subscription: Subscription) -> SubscriptionRecord:
    """The record that states a subscription in full."""
    return SubscriptionRecord(
        subscription.topic,
        subscription.expression,
        frozenset(subscription.tags),
        frozenset(subscription.codes),
        subscription.version,
        subscription.expression_type,
    )
