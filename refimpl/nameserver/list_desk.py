"""The requests for lists: brokers by cluster (106), and topics (206, 224, 304, 311 to 313)."""

from collections.abc import Mapping
from typing import Final

from refimpl.nameserver.registry import Registry
from refimpl.remoting.request import Handler, Reply, Request, succeed
from spec.nameserver.topic_list import UnitList, derive_any_address, derive_system_topics, is_listed
from spec.wire.body.route import ClusterInfo
from spec.wire.body.topic import TopicList
from spec.wire.code import RequestCode
from spec.wire.header.nameserver import ClusterHeader

_UNIT_LISTS: Final[Mapping[int, UnitList]] = {
    RequestCode.GET_UNIT_TOPIC_LIST: UnitList.UNIT,
    RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST: UnitList.SUBSCRIBED,
    RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST: UnitList.SUBSCRIBED_ONLY,
}


class ListDesk:
    """Where administrators see what there is."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def handlers(self) -> Mapping[int, Handler]:
        """What is served here."""
        return {
            RequestCode.GET_BROKER_CLUSTER_INFO: self.on_clusters,
            RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: self.on_topics,
            RequestCode.GET_TOPICS_BY_CLUSTER: self.on_cluster_topics,
            RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS: self.on_system_topics,
            **dict.fromkeys(_UNIT_LISTS, self.on_unit_topics),
        }

    def on_clusters(self, request: Request) -> Reply:  # noqa: ARG002 - it asks for all
        """All brokers by name, and their names by cluster."""
        brokers = self._registry.brokers
        return succeed(body=ClusterInfo(dict(sorted(brokers.entries.items())), brokers.clusters()))

    def on_topics(self, request: Request) -> Reply:  # noqa: ARG002 - it asks for all
        """Every topic."""
        return succeed(body=TopicList(self._registry.routes.topics()))

    def on_cluster_topics(self, request: Request) -> Reply:
        """Every topic of a cluster; none for one that is not known."""
        names = self._registry.brokers.names_in(request.header(ClusterHeader).cluster)
        return succeed(body=TopicList(self._registry.routes.topics_of(names)))

    def on_system_topics(self, request: Request) -> Reply:  # noqa: ARG002 - it asks for all
        """The topics named after clusters and brokers, and a broker that knows the others.

        Clause: nameserver.topic-list.system-topics
        """
        entries = self._registry.brokers.entries
        return succeed(body=TopicList(derive_system_topics(entries), derive_any_address(entries)))

    def on_unit_topics(self, request: Request) -> Reply:
        """The topics whose flags are asked for; the flags are those behind the first broker name.

        Clause: nameserver.topic-list.unit-flags
        """
        asked = _UNIT_LISTS[request.frame.code]
        routes = self._registry.routes
        listed = (
            topic for topic in routes.topics() if is_listed(asked, routes.queues_of(topic)[0].system_flag)
        )
        return succeed(body=TopicList(frozenset(listed)))
