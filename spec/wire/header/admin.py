"""The fields by which topics, groups and statistics are managed on a broker."""

from spec.broker.topic import TopicFilter
from spec.values.java_literal import Long
from spec.values.units import QueueId
from spec.wire.header.codec import CustomHeader, wire_header


@wire_header
class CreateTopicHeader(CustomHeader):
    """A topic as it shall be; brokers ignore `order`.

    Clause: wire.header-fields.enumeration
    """

    topic: str
    default_topic: str
    read_queue_nums: int
    write_queue_nums: int
    perm: int
    topic_filter_type: TopicFilter
    order: bool
    topic_sys_flag: int | None = None


@wire_header
class TopicHeader(CustomHeader):
    """One topic."""

    topic: str


@wire_header
class DeleteGroupHeader(CustomHeader):
    """Forget a group, and its offsets if asked; 5.x calls that `cleanOffset`."""

    group_name: str
    remove_offset: bool = False
    clean_offset: bool | None = None


@wire_header
class ConsumeStatsHeader(CustomHeader):
    """How far a group is, in one topic or in all."""

    consumer_group: str
    topic: str | None = None


@wire_header
class TopicGroupHeader(CustomHeader):
    """One group in one topic."""

    topic: str
    group: str


@wire_header
class BrokerStatsHeader(CustomHeader):
    """One statistic by name and key."""

    stats_name: str
    stats_key: str


@wire_header
class BrokerConsumeStatsHeader(CustomHeader):
    """How far all groups are: those that consume orderly, or the others."""

    is_order: bool


@wire_header
class ConsumeQueueHeader(CustomHeader):
    """Some units of a consume queue."""

    topic: str | None = None
    queue_id: QueueId = QueueId(0)
    index: Long = 0
    count: int = 0
    consumer_group: str | None = None


@wire_header
class FilterServerHeader(CustomHeader):
    """A filter server announces itself."""

    filter_server_addr: str


@wire_header
class FilterServerResponseHeader(CustomHeader):
    """The broker that a filter server now belongs to."""

    broker_name: str
    broker_id: Long


@wire_header
class ConfigResponseHeader(CustomHeader):
    """The version of a broker's configuration: the JSON text of a data version."""

    version: str | None = None


@wire_header
class RoutingMarkHeader(CustomHeader):
    """What clients of 4.9.5 and later add to requests of any kind, beside their fields.

    Clause: wire.header-fields.unknown-ignored
    """

    bname: str | None = None
    ns: str | None = None
    nsd: bool | None = None
    oway: bool | None = None
    lo: bool | None = None
