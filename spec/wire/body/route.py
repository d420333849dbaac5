"""Where topics and brokers are: what a name server answers."""

from collections.abc import Mapping
from dataclasses import field

from spec.nameserver.registration import BrokerEntry
from spec.nameserver.route import QueueData
from spec.wire.body.record import JsonRecord, json_record


@json_record
class TopicRouteData(JsonRecord):
    """The queues of a topic and the brokers behind them."""

    broker_datas: tuple[BrokerEntry, ...] = ()
    queue_datas: tuple[QueueData, ...] = ()
    filter_server_table: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    order_topic_conf: str | None = None


@json_record
class ClusterInfo(JsonRecord):
    """All brokers by name, and all names by cluster."""

    broker_addr_table: Mapping[str, BrokerEntry] = field(default_factory=dict)
    cluster_addr_table: Mapping[str, frozenset[str]] = field(default_factory=dict)


@json_record
class KvTable(JsonRecord):
    """Texts by key: a namespace of a name server, or a broker's runtime figures."""

    table: Mapping[str, str] = field(default_factory=dict)
