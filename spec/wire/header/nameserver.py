"""The fields that brokers, clients and admins send to a name server, and those of its answers."""

from spec.values.java_literal import Long
from spec.wire.header.codec import CustomHeader, wire_header


@wire_header
class PutKvConfigHeader(CustomHeader):
    """A value under a key of a namespace."""

    namespace: str
    key: str
    value: str


@wire_header
class KvKeyHeader(CustomHeader):
    """A key of a namespace."""

    namespace: str
    key: str


@wire_header
class NamespaceHeader(CustomHeader):
    """All keys of a namespace."""

    namespace: str


@wire_header
class KvValueResponseHeader(CustomHeader):
    """The value, absent when there is none."""

    value: str | None = None


@wire_header
class RegisterBrokerHeader(CustomHeader):
    """A broker says that it lives; a checksum of 0 is not checked."""

    broker_name: str
    broker_addr: str
    cluster_name: str
    ha_server_addr: str
    broker_id: Long
    compressed: bool = False
    body_crc32: int = 0


@wire_header
class RegisterBrokerResponseHeader(CustomHeader):
    """Where the master is, for a slave whose master lives."""

    ha_server_addr: str | None = None
    master_addr: str | None = None


@wire_header
class BrokerIdentityHeader(CustomHeader):
    """One broker process: to unregister it, or to compare data versions."""

    broker_name: str
    broker_addr: str
    cluster_name: str
    broker_id: Long


@wire_header
class DataVersionResponseHeader(CustomHeader):
    """Whether the name server knows another version."""

    changed: bool


@wire_header
class RouteHeader(CustomHeader):
    """The route of a topic; the last field is of 4.9.4 and later."""

    topic: str
    accept_standard_json_only: bool | None = None


@wire_header
class DeleteRouteHeader(CustomHeader):
    """Forget a topic; the cluster is of 4.9.8 and later."""

    topic: str
    cluster_name: str | None = None


@wire_header
class BrokerNameHeader(CustomHeader):
    """All topics of one broker name: take or give the write permission."""

    broker_name: str


@wire_header
class WipeResponseHeader(CustomHeader):
    """How many topics lost the write permission."""

    wipe_topic_count: int


@wire_header
class AddResponseHeader(CustomHeader):
    """How many topics got the write permission."""

    add_topic_count: int


@wire_header
class ClusterHeader(CustomHeader):
    """The topics of one cluster."""

    cluster: str
