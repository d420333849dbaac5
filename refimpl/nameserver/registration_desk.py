"""The requests of brokers: 103, 104 and 322."""

from collections.abc import Iterable, Mapping
from typing import Final

from refimpl.nameserver.broker_table import LiveBroker
from refimpl.nameserver.configuration import Configuration
from refimpl.nameserver.key_value_table import KeyValueTable
from refimpl.nameserver.registry import Registration, Registry
from refimpl.remoting.request import OK, Handler, Reply, Request, refuse, succeed
from spec.broker.topic import DataVersion
from spec.nameserver.route import ORDER_NAMESPACE
from spec.wire.body.record import RecordCodec
from spec.wire.body.registration import RegisterBrokerBody, decode_registration, is_body_intact
from spec.wire.body.route import KvTable
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.nameserver import (
    BrokerIdentityHeader,
    DataVersionResponseHeader,
    RegisterBrokerHeader,
    RegisterBrokerResponseHeader,
)

_VERSION: Final = RecordCodec(DataVersion)
_LOWEST_ID: Final = -1
"""What a broker of a DLedger group registers until it knows its role."""


class RegistrationDesk:
    """Where brokers report."""

    def __init__(self, registry: Registry, key_values: KeyValueTable, configuration: Configuration) -> None:
        self._registry = registry
        self._key_values = key_values
        self._configuration = configuration

    def handlers(self) -> Mapping[int, Handler]:
        """What is served here."""
        return {
            RequestCode.REGISTER_BROKER: self.on_register,
            RequestCode.UNREGISTER_BROKER: self.on_farewell,
            RequestCode.QUERY_DATA_VERSION: self.on_version,
        }

    def on_register(self, request: Request) -> Reply:
        """The broker and its topics are known; a slave has heard of its master.

        Clauses: wire.body.registration-checksum, wire.body.registration-forms
        """
        header = request.header(RegisterBrokerHeader)
        if not is_body_intact(header.body_crc32, request.frame.body):
            return refuse(ResponseCode.SYSTEM_ERROR, "crc32 not match")
        body = decode_registration(
            request.frame.body,
            is_compressed=header.compressed,
            sender_version=request.frame.version,
            size_limit=self._configuration.settings.registration_limit,
        )
        registration = _derive_registration(request, header, body)
        refusal = self._refusal(registration)
        if refusal is not None:
            return refuse(ResponseCode.SYSTEM_ERROR, refusal)
        self._registry.register(registration)
        return self._welcome(registration.broker)

    def _refusal(self, registration: Registration) -> str | None:
        """Why the registration is not stored: all of it is told to everybody who asks."""
        broker, topics = registration
        settings = self._configuration.settings
        if len(broker.filter_servers) > settings.filter_server_limit:
            found = f"{len(broker.filter_servers)} filter servers"
            return f"{found}, at most {settings.filter_server_limit} are kept (filterServerLimit)"
        texts = (broker.cluster, broker.replication_address, *broker.filter_servers, *topics)
        return _find_refusal(
            broker.name, broker.address, broker.broker_id, texts, settings.text_limit
        ) or self._registry.refusal(registration)

    def _welcome(self, broker: LiveBroker) -> Reply:
        """Success, the master for a slave, and the order configuration of all topics if there is one.

        Clause: nameserver.registration.slave-learns-master
        """
        master = self._registry.brokers.master_of(broker)
        header = RegisterBrokerResponseHeader()
        if master is not None:
            header = RegisterBrokerResponseHeader(master.replication_address, master.address)
        _, order = self._key_values.list_namespace(ORDER_NAMESPACE)
        return succeed(header, b"" if order is None else KvTable(order))

    def on_farewell(self, request: Request) -> Reply:
        """The broker is not registered."""
        header = request.header(BrokerIdentityHeader)
        name, broker_id, address = header.broker_name, header.broker_id, header.broker_addr
        refusal = _find_refusal(name, address, broker_id, (), self._configuration.settings.text_limit)
        if refusal is not None:
            return refuse(ResponseCode.SYSTEM_ERROR, refusal)
        self._registry.farewell(name, broker_id, address, request.now_ms)
        return OK

    def on_version(self, request: Request) -> Reply:
        """Whether the broker should register, and the version that is known.

        Clause: nameserver.registration.version-query
        """
        header = request.header(BrokerIdentityHeader)
        version = _VERSION.decode(request.frame.body)
        name, address = header.broker_name, header.broker_addr
        is_changed = self._registry.is_changed(name, address, version, request.now_ms)
        known = self._registry.brokers.find(name, address)
        body = b"" if known is None else _VERSION.encode(known.version)
        return succeed(DataVersionResponseHeader(is_changed), body)


def _derive_registration(
    request: Request, header: RegisterBrokerHeader, body: RegisterBrokerBody
) -> Registration:
    table = body.topic_config_serialize_wrapper
    broker = LiveBroker(
        header.cluster_name,
        header.broker_name,
        header.broker_id,
        header.broker_addr,
        header.ha_server_addr,
        body.filter_server_list,
        table.data_version,
        request.connection,
        request.now_ms,
    )
    # As in Apache, a topic goes by the name inside its configuration.
    return Registration(broker, {topic.name: topic for topic in table.topic_config_table.values()})


def _find_refusal(
    name: str, address: str, broker_id: int, texts: Iterable[str], length_limit: int
) -> str | None:
    if not name or not address:
        return "brokerName or brokerAddr is empty"
    if broker_id < _LOWEST_ID:
        return f"brokerId {broker_id}: expected 0 for a master, more for a slave"
    for text in (name, address, *texts):
        if len(text) > length_limit:
            return (
                f"{text[:40]!r}... has {len(text)} characters, at most {length_limit} are taken (textLimit)"
            )
    return None
