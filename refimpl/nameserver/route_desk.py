"""The requests about single topics and brokers: 105, 205, 216 and 327."""

from collections.abc import Mapping

from refimpl.nameserver.configuration import Configuration
from refimpl.nameserver.key_value_table import KeyValueTable
from refimpl.nameserver.registry import Registry
from refimpl.remoting.request import OK, Handler, Reply, Request, refuse, succeed
from spec.nameserver.route import ORDER_NAMESPACE, Route, add_write, derive_route_code, wipe_write
from spec.wire.body.route import TopicRouteData
from spec.wire.code import RequestCode
from spec.wire.header.nameserver import (
    AddResponseHeader,
    BrokerNameHeader,
    DeleteRouteHeader,
    RouteHeader,
    WipeResponseHeader,
)
from spec.wire.version import is_route_json_standard


class RouteDesk:
    """Where clients learn where a topic is, and administrators change it."""

    def __init__(self, registry: Registry, key_values: KeyValueTable, configuration: Configuration) -> None:
        self._registry = registry
        self._key_values = key_values
        self._configuration = configuration

    def handlers(self) -> Mapping[int, Handler]:
        """What is served here."""
        return {
            RequestCode.GET_ROUTEINFO_BY_TOPIC: self.on_route,
            RequestCode.WIPE_WRITE_PERM_OF_BROKER: self.on_wipe,
            RequestCode.ADD_WRITE_PERM_OF_BROKER: self.on_add,
            RequestCode.DELETE_TOPIC_IN_NAMESRV: self.on_delete,
        }

    def on_route(self, request: Request) -> Reply:
        """The route of a topic, or 17 with what to do about it.

        Clauses: nameserver.route.not-empty, wire.version.standard-route-json
        """
        header = request.header(RouteHeader)
        entries = self._registry.brokers.entries
        route = self._registry.routes.find(header.topic, entries, self._order_of(header.topic))
        if route is None:
            remark = f"No topic route info in name server for the topic: {header.topic[:255]}"
            hint = "create it, or check that a broker which has it registers here"
            return refuse(derive_route_code(route), f"{remark}; {hint}")
        is_standard = (
            is_route_json_standard(request.frame.version) or header.accept_standard_json_only is True
        )
        return succeed(body=self._derive_body(route).encode(is_dialect=not is_standard))

    def _order_of(self, topic: str) -> str | None:
        if not self._configuration.settings.is_order_message_enabled:
            return None
        return self._key_values.get(ORDER_NAMESPACE, topic)[1]

    def _derive_body(self, route: Route) -> TopicRouteData:
        brokers = self._registry.brokers
        lived = (
            brokers.find(entry.name, address)
            for entry in route.brokers
            for address in entry.addresses.values()
        )
        servers = {live.address: live.filter_servers for live in lived if live and live.filter_servers}
        return TopicRouteData(route.brokers, route.queues, servers, route.order_configuration)

    def on_wipe(self, request: Request) -> Reply:
        """Producers leave the broker; the answer tells of how many topics.

        Clause: nameserver.route.wipe-write
        """
        name = request.header(BrokerNameHeader).broker_name
        return succeed(WipeResponseHeader(self._registry.routes.change(name, wipe_write)))

    def on_add(self, request: Request) -> Reply:
        """Producers may come back to the broker.

        Clause: nameserver.route.add-write
        """
        name = request.header(BrokerNameHeader).broker_name
        return succeed(AddResponseHeader(self._registry.routes.change(name, add_write)))

    def on_delete(self, request: Request) -> Reply:
        """The topic is in no route, or in none of the cluster's.

        Clause: nameserver.route.delete-topic
        """
        header = request.header(DeleteRouteHeader)
        cluster = header.cluster_name
        names = self._registry.brokers.names_in(cluster) if cluster else None
        self._registry.routes.delete(header.topic, names)
        return OK
