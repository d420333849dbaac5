"""Clients that come, stay and go: Apache's ClientManageProcessor and ClientHousekeepingService."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from refimpl.broker.client_info import ClientInfo
from refimpl.broker.heartbeat import Heartbeat, read_heartbeat
from refimpl.broker.parts import BrokerParts
from refimpl.broker.producer_registry import ProducerRegistry
from refimpl.effect import Severity
from refimpl.remoting.request import OK, Handler, Reply, Request, refuse, succeed
from spec.broker.membership import list_client_ids
from spec.broker.topic import derive_group_topic
from spec.values.name import is_topic_legal, retry_topic_of
from spec.values.subscription import ExpressionType
from spec.wire.body.group import ConsumerIdList
from spec.wire.body.heartbeat import CheckClientConfigBody, ConsumerData
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.client import ConsumerGroupHeader, UnregisterClientHeader

CloseConnection: TypeAlias = Callable[[int, str], None]
"""Closes a connection, for a reason."""

_TOLD: Final = 3
"""How many of a heartbeat's unreadable subscriptions a note shows."""


class ClientDesk:
    """Keeps both registries by what clients say, and by what they no longer say."""

    def __init__(self, parts: BrokerParts, producers: ProducerRegistry, close: CloseConnection) -> None:
        self._parts = parts
        self._producers = producers
        self._close = close

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {
            RequestCode.HEART_BEAT: self._on_heartbeat,
            RequestCode.UNREGISTER_CLIENT: self._on_unregister,
            RequestCode.GET_CONSUMER_LIST_BY_GROUP: self._on_list,
            RequestCode.CHECK_CLIENT_CONFIG: self._on_check,
        }

    # What clients say

    def _on_heartbeat(self, request: Request) -> Reply:
        """Every group that the client names has heard of it; changed groups were told before the answer.

        Clause: broker.member.change-is-told-to-all
        """
        heartbeat = read_heartbeat(request.frame.body)
        excess = self._find_excess(heartbeat, request.connection)
        if excess is not None:
            return self._refuse(request, excess)
        data = heartbeat.data
        client = ClientInfo(
            request.connection,
            data.client_id,
            request.frame.language,
            request.frame.version,
            request.peer,
            request.now_ms,
        )
        is_new = self._is_new(client, data.consumer_data_set)
        for consumer in data.consumer_data_set:
            self._register_consumer(client, consumer, request.now_ms)
        for producer in data.producer_data_set:
            self._producers.register(client, producer.group_name)
        if heartbeat.left_out and is_new:
            told = "; ".join(reason[:120] for reason in heartbeat.left_out[:_TOLD])
            count = len(heartbeat.left_out)
            text = f"{client.client_id[:80]!r} at {request.peer}: {count} subscriptions are left out: {told}"
            self._parts.note(Severity.WARNING, text)
        return OK

    def _refuse(self, request: Request, excess: str) -> Reply:
        self._parts.note(Severity.WARNING, f"heartbeat from {request.peer} is refused: {excess}")
        return refuse(ResponseCode.SYSTEM_ERROR, excess)

    def _find_excess(self, heartbeat: Heartbeat, connection: int) -> str | None:
        """Why the heartbeat is more than a broker takes; None if it is not."""
        limit = self._parts.settings.subscription_limit
        if heartbeat.size > limit:
            return f"a heartbeat names {heartbeat.size} groups and subscriptions, {limit} are the limit"
        consumers = {consumer.group_name for consumer in heartbeat.data.consumer_data_set}
        producers = {producer.group_name for producer in heartbeat.data.producer_data_set}
        count = len(consumers.union(self._parts.consumers.groups_of(connection)))
        count += len(producers.union(self._producers.groups_of(connection)))
        return f"a connection is in {count} groups, {limit} are the limit" if count > limit else None

    def _is_new(self, client: ClientInfo, consumers: tuple[ConsumerData, ...]) -> bool:
        registry = self._parts.consumers
        return any(not registry.client_id_of(one.group_name, client.connection) for one in consumers)

    def _register_consumer(self, client: ClientInfo, data: ConsumerData, now_ms: int) -> None:
        """The group and its retry topic exist, if they may, and the group has heard of the client.

        Clauses: broker.group.auto-create, broker.topic.retry-created
        """
        config = self._parts.groups.find(data.group_name, now_ms)
        retry_topic = retry_topic_of(data.group_name)
        if config is not None and is_topic_legal(retry_topic):
            self._parts.topics.ensure(derive_group_topic(retry_topic, config.retry_queue_count), now_ms)
        self._parts.consumers.register(
            client, data, now_ms, is_group_notified=config is None or config.is_change_notified
        )

    def _on_unregister(self, request: Request) -> Reply:
        """The connection is out of the groups that the client names."""
        header = request.header(UnregisterClientHeader)
        if header.producer_group is not None:
            self._producers.unregister(header.producer_group, request.connection)
        if header.consumer_group is not None:
            config = self._parts.groups.known(header.consumer_group)
            self._parts.consumers.unregister(
                header.consumer_group,
                request.connection,
                request.now_ms,
                is_group_notified=config is None or config.is_change_notified,
            )
        return OK

    def _on_list(self, request: Request) -> Reply:
        """The members of a group, one id for each connection.

        Clauses: broker.member.list-by-connection, broker.member.empty-list-is-an-error
        """
        group = request.header(ConsumerGroupHeader).consumer_group
        ids = list_client_ids(self._parts.consumers.find(group))
        if ids is None:
            return refuse(ResponseCode.SYSTEM_ERROR, f"no consumer for this group, {group[:255]}")
        return succeed(body=ConsumerIdList(ids))

    def _on_check(self, request: Request) -> Reply:
        """Whether the broker can filter as the client wishes: by tags only."""
        wish = CheckClientConfigBody.decode(request.frame.body).subscription_data
        match wish.expression_type:
            case ExpressionType.TAG:
                return OK
            case ExpressionType.SQL92:
                remark = "The broker does not support consumer to filter message by SQL92"
                return refuse(ResponseCode.SYSTEM_ERROR, remark)

    # What clients no longer say

    def on_close(self, connection: int, now_ms: int) -> None:
        """The connection is in no group, and whoever is left was told.

        Clause: broker.member.close-is-told
        """
        self._parts.consumers.drop_connection(connection, now_ms)
        self._producers.drop_connection(connection)

    def scan(self, now_ms: int) -> None:
        """Connections that were silent for too long are in no group and will be closed.

        Clause: broker.member.expiry-is-strict
        """
        silent = (*self._parts.consumers.scan(now_ms), *self._producers.scan(now_ms))
        limit_ms = self._parts.settings.member_expiry_ms
        for connection in dict.fromkeys(silent):
            self._close(connection, f"no heartbeat for more than {limit_ms} ms")
