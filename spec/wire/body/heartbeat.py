"""What a client says about itself every thirty seconds.

Clients leave out the set they do not need, name enums by number and write versions as texts;
all of it is read.
"""

from dataclasses import field

from spec.group.consumption import ConsumeType, MessageModel
from spec.group.start_position import StartPolicy
from spec.wire.body.record import JsonRecord, json_record
from spec.wire.body.subscription import SubscriptionRecord
from spec.wire.header.codec import wire_name


@json_record
class ProducerData(JsonRecord):
    """A producer group that the client belongs to."""

    group_name: str


@json_record
class ConsumerData(JsonRecord):
    """A consumer group that the client belongs to, and how it consumes."""

    group_name: str
    consume_type: ConsumeType
    message_model: MessageModel
    consume_from_where: StartPolicy
    subscription_data_set: tuple[SubscriptionRecord, ...] = ()
    unit_mode: bool = False


@json_record
class HeartbeatData(JsonRecord):
    """One heartbeat.

    Clause: wire.body.heartbeat-sets
    """

    client_id: str = field(metadata=wire_name("clientID"))
    producer_data_set: tuple[ProducerData, ...] = ()
    consumer_data_set: tuple[ConsumerData, ...] = ()


@json_record
class CheckClientConfigBody(JsonRecord):
    """A client asks whether the broker can filter as it wishes."""

    client_id: str
    group: str
    subscription_data: SubscriptionRecord
    namespace: str | None = None
