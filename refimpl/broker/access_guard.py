"""Access control: what stands before every handler when it is on. Apache's PlainPermissionManager.

A refusal is a system error whose remark begins like Apache's, so that clients show it to their
users. Refusals are counted, and told once a round: whoever is refused asks again and again.
"""

from collections.abc import Callable, Mapping
from ipaddress import IPv6Address, ip_address
from typing import Final, TypeAlias

from refimpl.broker.account_store import AccountStore
from refimpl.broker.config_table import Note
from refimpl.broker.heartbeat import read_heartbeat
from refimpl.effect import Severity
from refimpl.remoting.request import Reply, Request, refuse
from spec.broker.access import derive_needed_permissions
from spec.broker.admission import admit, check_permissions
from spec.rejection import Rejection
from spec.values.host import Host
from spec.wire.code import LaterRequestCode, RequestCode, ResponseCode
from spec.wire.header.client import ConsumerGroupHeader, SendBackHeader, UnregisterClientHeader
from spec.wire.header.offset import UpdateConsumerOffsetHeader
from spec.wire.header.pull import PullMessageHeader, QueryMessageHeader
from spec.wire.header.send import SEND_LONG, SEND_SHORT

REMARK_START: Final = "org.apache.rocketmq.acl.common.AclException: "
"""How Apache's remark begins: the name of the exception."""

Resources: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""Topics and groups that a request names."""


def derive_address(peer: Host) -> str:
    """The peer's address as white lists name it; an IPv4 address that travels as IPv6 is IPv4."""
    address = ip_address(peer.address)
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


def derive_operation(code: int) -> RequestCode | None:
    """What the request asks for, by the names of 4.9; None for what no right is about."""
    if code == LaterRequestCode.LITE_PULL_MESSAGE:
        return RequestCode.PULL_MESSAGE
    try:
        return RequestCode(code)
    except ValueError:
        return None


def _of_long_send(request: Request) -> Resources:
    return (SEND_LONG.decode(request.frame.extension_fields).topic,), ()


def _of_short_send(request: Request) -> Resources:
    return (SEND_SHORT.decode(request.frame.extension_fields).topic,), ()


def _of_send_back(request: Request) -> Resources:
    header = request.header(SendBackHeader)
    return (header.origin_topic,) if header.origin_topic else (), (header.group,)


def _of_pull(request: Request) -> Resources:
    header = request.header(PullMessageHeader)
    return (header.topic,), (header.consumer_group,)


def _of_query(request: Request) -> Resources:
    return (request.header(QueryMessageHeader).topic,), ()


def _of_commit(request: Request) -> Resources:
    header = request.header(UpdateConsumerOffsetHeader)
    return (header.topic,), (header.consumer_group,)


def _of_heartbeat(request: Request) -> Resources:
    consumers = read_heartbeat(request.frame.body).data.consumer_data_set
    topics = [record.topic for consumer in consumers for record in consumer.subscription_data_set]
    return tuple(topics), tuple(consumer.group_name for consumer in consumers)


def _of_farewell(request: Request) -> Resources:
    group = request.header(UnregisterClientHeader).consumer_group
    return (), (group,) if group is not None else ()


def _of_listing(request: Request) -> Resources:
    return (), (request.header(ConsumerGroupHeader).consumer_group,)


_FINDERS: Final[Mapping[RequestCode, Callable[[Request], Resources]]] = {
    RequestCode.SEND_MESSAGE: _of_long_send,
    RequestCode.SEND_MESSAGE_V2: _of_short_send,
    RequestCode.SEND_BATCH_MESSAGE: _of_short_send,
    RequestCode.SEND_REPLY_MESSAGE: _of_long_send,
    RequestCode.SEND_REPLY_MESSAGE_V2: _of_short_send,
    RequestCode.CONSUMER_SEND_MSG_BACK: _of_send_back,
    RequestCode.PULL_MESSAGE: _of_pull,
    RequestCode.QUERY_MESSAGE: _of_query,
    RequestCode.UPDATE_CONSUMER_OFFSET: _of_commit,
    RequestCode.HEART_BEAT: _of_heartbeat,
    RequestCode.UNREGISTER_CLIENT: _of_farewell,
    RequestCode.GET_CONSUMER_LIST_BY_GROUP: _of_listing,
}


def find_resources(operation: RequestCode, request: Request) -> Resources:
    """The topics and groups that the request names, as far as rights are about them.

    Clause: broker.access.needed-by-code
    """
    finder = _FINDERS.get(operation)
    return ((), ()) if finder is None else finder(request)


class AccessGuard:
    """Looks at every request before its handler does."""

    def __init__(self, accounts: AccountStore, note: Note) -> None:
        self._accounts = accounts
        self._note = note
        self._refused = 0
        self._last = ""

    def check(self, request: Request) -> Reply | None:
        """The refusal, or None if the request may be handled.

        Clauses: broker.access.identity, broker.access.needed-by-code
        """
        try:
            self._check(request)
        except Rejection as refusal:
            self._refused += 1
            self._last = f"request {request.frame.code} from {request.peer}: {refusal.reason}"
            return refuse(ResponseCode.SYSTEM_ERROR, REMARK_START + refusal.reason)
        return None

    def _check(self, request: Request) -> None:
        frame = request.frame
        fields = frame.extension_fields or {}
        # Who it is comes first: what a stranger wrote is not even read.
        admitted = admit(self._accounts.trust, derive_address(request.peer), fields, frame.body)
        operation = derive_operation(frame.code)
        if operation is None or admitted.account is None:
            return
        topics, groups = find_resources(operation, request)
        check_permissions(admitted, operation, derive_needed_permissions(operation, topics, groups))

    def tell(self, now_ms: int) -> None:  # noqa: ARG002 - the agenda hands it over
        """Whoever runs the broker knows how many requests were refused since the last time."""
        if self._refused:
            count, self._refused = self._refused, 0
            text = f"access control refused {count} requests, the last one was {self._last}"
            self._note(Severity.WARNING, text)
