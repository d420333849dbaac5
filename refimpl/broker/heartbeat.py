"""A heartbeat as it arrived: what can be read of it counts.

A client whose heartbeat is refused is forgotten after two minutes, and its queues go to others. So
one subscription that nobody understands does not cost the client the rest of what it said.
"""

from typing import NamedTuple

from spec.rejection import Rejection
from spec.wire.body.heartbeat import HeartbeatData
from spec.wire.body.subscription import SubscriptionRecord
from spec.wire.fastjson import JsonValue, parse_fastjson

_CONSUMERS = "consumerDataSet"
_SUBSCRIPTIONS = "subscriptionDataSet"


class Heartbeat(NamedTuple):
    """What a client said, and why some of its subscriptions are not in it."""

    data: HeartbeatData
    left_out: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many groups and subscriptions it names."""
        consumers = self.data.consumer_data_set
        subscriptions = sum(len(consumer.subscription_data_set) for consumer in consumers)
        return len(self.data.producer_data_set) + len(consumers) + subscriptions


def read_heartbeat(body: bytes) -> Heartbeat:
    """The heartbeat without subscriptions that cannot be read; refuses what is wrong elsewhere.

    Clause: wire.body.heartbeat-sets
    """
    tree = parse_fastjson(body)
    try:
        return Heartbeat(HeartbeatData.decode_tree(tree))
    except Rejection:
        left_out: list[str] = []
        return Heartbeat(HeartbeatData.decode_tree(_without_unreadable(tree, left_out)), tuple(left_out))


def _without_unreadable(tree: JsonValue, left_out: list[str]) -> JsonValue:
    consumers = tree.get(_CONSUMERS) if isinstance(tree, dict) else None
    if not isinstance(tree, dict) or not isinstance(consumers, list):
        return tree
    return {**tree, _CONSUMERS: [_readable_part(consumer, left_out) for consumer in consumers]}


def _readable_part(consumer: JsonValue, left_out: list[str]) -> JsonValue:
    records = consumer.get(_SUBSCRIPTIONS) if isinstance(consumer, dict) else None
    if not isinstance(consumer, dict) or not isinstance(records, list):
        return consumer
    kept: list[JsonValue] = []
    for record in records:
        try:
            SubscriptionRecord.decode_tree(record)
        except Rejection as refusal:
            left_out.append(refusal.reason)
        else:
            kept.append(record)
    return {**consumer, _SUBSCRIPTIONS: kept}
