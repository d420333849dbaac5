"""The fields by which clients, groups and single messages are named to the broker and back."""

from dataclasses import field

from spec.values.units import CommitLogPosition
from spec.wire.header.codec import CustomHeader, wire_header, wire_name


@wire_header
class UnregisterClientHeader(CustomHeader):
    """A client leaves its producer group, its consumer group, or both."""

    client_id: str = field(metadata=wire_name("clientID"))
    producer_group: str | None = None
    consumer_group: str | None = None


@wire_header
class ConsumerGroupHeader(CustomHeader):
    """One consumer group: to list its members or connections, or to say that they changed."""

    consumer_group: str


@wire_header
class ProducerGroupHeader(CustomHeader):
    """One producer group."""

    producer_group: str


@wire_header
class SendBackHeader(CustomHeader):
    """A message that could not be consumed goes back; clients send as little as three fields."""

    offset: CommitLogPosition
    group: str
    delay_level: int
    origin_msg_id: str | None = None
    origin_topic: str | None = None
    unit_mode: bool = False
    max_reconsume_times: int | None = None


@wire_header
class HeartbeatResponseHeader(CustomHeader):
    """What a 5.x broker adds to its answer; a 4.9 broker adds nothing."""

    is_heartbeat_v2_supported: bool | None = field(
        default=None, metadata=wire_name("IS_SUPPORT_HEART_BEAT_V2")
    )
    is_subscription_changed: bool | None = field(default=None, metadata=wire_name("IS_SUB_CHANGE"))


@wire_header
class ConsumerRunningInfoHeader(CustomHeader):
    """Ask one consumer how it is doing."""

    consumer_group: str
    client_id: str
    jstack_enable: bool = False


@wire_header
class ConsumeDirectlyHeader(CustomHeader):
    """Have one consumer consume one message now."""

    consumer_group: str
    client_id: str | None = None
    msg_id: str | None = None
    broker_name: str | None = None
