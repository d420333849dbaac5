"""Groups, as administrators make, look at and delete them, and who is online in them.

A group is deleted with its offsets or without them, as the request says. Only the first is a
deletion to the history: who keeps the offsets wants the group to go on where it was.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from refimpl.broker.client_info import ClientInfo
from refimpl.broker.parts import BrokerParts
from refimpl.broker.producer_registry import ProducerRegistry
from refimpl.remoting.request import OK, Handler, Reply, Request, refuse, succeed
from spec.broker.subscription_group import GroupConfig, explain_bad_group
from spec.history.kind import Kind
from spec.wire.body.group import ClientConnection, ConsumerConnectionList, ProducerConnectionList
from spec.wire.body.record import RecordCodec
from spec.wire.body.subscription import derive_record
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.admin import DeleteGroupHeader
from spec.wire.header.client import ConsumerGroupHeader, ProducerGroupHeader

_GROUP: Final = RecordCodec(GroupConfig)


class GroupDesk:
    """Looks after groups."""

    def __init__(self, parts: BrokerParts, producers: ProducerRegistry) -> None:
        self._parts = parts
        self._producers = producers

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {
            RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: self.on_put,
            RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: self.on_list,
            RequestCode.DELETE_SUBSCRIPTIONGROUP: self.on_delete,
            RequestCode.GET_CONSUMER_CONNECTION_LIST: self.on_consumers,
            RequestCode.GET_PRODUCER_CONNECTION_LIST: self.on_producers,
        }

    def on_put(self, request: Request) -> Reply:
        """The group is as asked for.

        Clause: broker.admin.group-limits
        """
        group = _GROUP.decode(request.frame.body)
        refused = explain_bad_group(group)
        if refused is not None:
            return refuse(ResponseCode.SYSTEM_ERROR, refused)
        self._parts.groups.put(group, request.now_ms)
        return OK

    def on_list(self, _request: Request) -> Reply:
        """All groups, as the file has them."""
        return succeed(None, self._parts.groups.table())

    def on_delete(self, request: Request) -> Reply:
        """There is no such group; its offsets are gone too, if that was asked for.

        Clause: broker.offset.delete-exact-group
        """
        header = request.header(DeleteGroupHeader)
        group, parts = header.group_name, self._parts
        if header.remove_offset or header.clean_offset:
            parts.offsets.remove_group(group)
            parts.offsets.persist()
            if parts.recorder.is_on:
                event = parts.recorder.event(Kind.DELETE, request.now_ms)
                parts.recorder.add(event._replace(status="group", group=group))
        parts.groups.remove(group, request.now_ms)
        parts.statistics.forget_group(group)
        return OK

    def on_consumers(self, request: Request) -> Reply:
        """The consumers that are online in the group, and how they said that it consumes."""
        name = request.header(ConsumerGroupHeader).consumer_group
        group = self._parts.consumers.find(name)
        if group is None:
            return refuse(
                ResponseCode.CONSUMER_NOT_ONLINE, f"no consumer of the group {name[:255]} is online"
            )
        body = ConsumerConnectionList(
            _connections(self._parts.consumers.clients(name)),
            {one.topic: derive_record(one) for one in group.subscriptions},
            group.manner.consume_type,
            group.manner.message_model,
            group.manner.start_policy,
        )
        return succeed(None, body)

    def on_producers(self, request: Request) -> Reply:
        """The producers that are online in the group."""
        name = request.header(ProducerGroupHeader).producer_group
        clients = self._producers.clients(name)
        if not clients:
            return refuse(ResponseCode.SYSTEM_ERROR, f"no producer of the group {name[:255]} is online")
        return succeed(None, ProducerConnectionList(_connections(clients)))


def _connections(clients: Iterable[ClientInfo]) -> tuple[ClientConnection, ...]:
    return tuple(ClientConnection(one.client_id, str(one.peer), one.language, one.version) for one in clients)
