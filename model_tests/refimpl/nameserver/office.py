"""A name server that is asked over the wire, with brokers that register there."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from refimpl.effect import Effect, Note, Send, Severity
from refimpl.history_log import HistoryLog
from refimpl.nameserver.name_server import NameServer
from refimpl.nameserver.settings import NameServerSettings
from refimpl.simulated.disk import SimulatedDisk
from spec.broker.topic import DataVersion, TopicConfig
from spec.history.declaration import Declaration
from spec.history.event import Event
from spec.history.kind import Kind
from spec.values.host import Host, host_of
from spec.wire.body.registration import RegisterBrokerBody
from spec.wire.body.topic import TopicConfigTable
from spec.wire.code import RequestCode
from spec.wire.frame import Frame, decode_frame, encode_frame
from spec.wire.header.nameserver import BrokerIdentityHeader, RegisterBrokerHeader
from spec.wire.language import Language

START: Final = 1_700_000_000_000
OPAQUE: Final = 77
DEFAULTS: Final = NameServerSettings()
FIRST_VERSION: Final = DataVersion(1, 1)


@dataclass(frozen=True, slots=True)
class Broker:
    """One broker process, and over which connection it is heard."""

    name: str = "broker-a"
    address: str = "127.0.0.1:10911"
    broker_id: int = 0
    cluster: str = "C"
    connection: int = 1

    def as_id(self, broker_id: int) -> "Broker":
        """The same process in another role."""
        return replace(self, broker_id=broker_id)

    def fields(self, **others: str) -> dict[str, str]:
        replication = self.address + "-ha"
        header = RegisterBrokerHeader(self.name, self.address, self.cluster, replication, self.broker_id)
        return {**header.encode(), **others}

    def identity(self) -> dict[str, str]:
        return BrokerIdentityHeader(self.name, self.address, self.cluster, self.broker_id).encode()


MASTER: Final = Broker()
SLAVE: Final = Broker(address="127.0.0.1:20911", broker_id=1, connection=2)
OTHER: Final = Broker("broker-b", "127.0.0.1:30911", connection=3)


def topic(name: str, *, count: int = 4, permission: int = 6, flag: int = 0) -> TopicConfig:
    return TopicConfig(name, count, count, permission, system_flag=flag)


def body_of(*topics: TopicConfig, version: DataVersion, servers: tuple[str, ...] = ()) -> RegisterBrokerBody:
    table = TopicConfigTable({config.name: config for config in topics}, version)
    return RegisterBrokerBody(table, servers)


def reply(
    code: int = 0, remark: str | None = None, fields: dict[str, str] | None = None, body: bytes = b""
) -> Frame:
    """What is expected of a name server."""
    return Frame(code, Language.PYTHON, 399, OPAQUE, 1, remark, fields, body=body)


def host(connection: int) -> Host:
    return host_of("10.0.0.9", 40_000 + connection)


@dataclass(slots=True)
class Office:
    """One name server, its disk and its history."""

    settings: NameServerSettings = DEFAULTS
    disk: SimulatedDisk = field(default_factory=lambda: SimulatedDisk(1, clock=lambda: START))
    now_ms: int = START
    events: list[Event] = field(default_factory=list)
    log: HistoryLog | None = None
    """One that several name servers share, if they do."""
    core: NameServer = field(init=False)

    def __post_init__(self) -> None:
        if self.log is None:
            self.log = HistoryLog("run", Declaration(frozenset(Kind)), self.events.append, self.now_ms)
        self.core = NameServer(self.settings, self.disk, self.now_ms, self.log)

    def talk(
        self,
        code: int,
        fields: Mapping[str, str] | None = None,
        body: bytes = b"",
        *,
        connection: int = 9,
        version: int = 399,
        flag: int = 0,
    ) -> list[Effect]:
        """All that follows from a request, without notes of the everyday."""
        frame = Frame(code, Language.JAVA, version, OPAQUE, flag, None, dict(fields or {}), body=body)
        return self.feed(encode_frame(frame), connection)

    def feed(self, data: bytes, connection: int = 9) -> list[Effect]:
        if connection not in self.core.peers:
            self.core.on_open(connection, host(connection), self.now_ms)
        self.core.on_frame(connection, decode_frame(data), self.now_ms)
        return self.effects()

    def effects(self) -> list[Effect]:
        effects = self.core.take_effects()
        return [e for e in effects if not (isinstance(e, Note) and e.severity is Severity.INFO)]

    def ask(
        self,
        code: int,
        fields: Mapping[str, str] | None = None,
        body: bytes = b"",
        *,
        connection: int = 9,
        version: int = 399,
    ) -> Frame:
        """The one answer, as its bytes read."""
        (effect,) = self.talk(code, fields, body, connection=connection, version=version)
        assert isinstance(effect, Send)
        assert effect.connection == connection
        return decode_frame(encode_frame(effect.frame))

    def register(
        self, broker: Broker = MASTER, *topics: TopicConfig, version: DataVersion = FIRST_VERSION
    ) -> Frame:
        body = body_of(*topics, version=version).encode()
        return self.ask(RequestCode.REGISTER_BROKER, broker.fields(), body, connection=broker.connection)

    def farewell(self, broker: Broker) -> Frame:
        return self.ask(RequestCode.UNREGISTER_BROKER, broker.identity(), connection=broker.connection)

    def route(self, name: str = "T") -> Frame:
        return self.ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": name})

    def has_route(self, name: str = "T") -> bool:
        return self.route(name).code == 0

    def clusters(self) -> bytes:
        return self.ask(RequestCode.GET_BROKER_CLUSTER_INFO).body

    def put(self, namespace: str, key: str, value: str) -> Frame:
        fields = {"namespace": namespace, "key": key, "value": value}
        return self.ask(RequestCode.PUT_KV_CONFIG, fields)

    def value(self, namespace: str, key: str) -> str | None:
        answer = self.ask(RequestCode.GET_KV_CONFIG, {"namespace": namespace, "key": key})
        return (answer.extension_fields or {}).get("value")

    def pass_time(self, milliseconds: int) -> list[Effect]:
        """All that follows when time passes, with every deadline kept."""
        end = self.now_ms + milliseconds
        found: list[Effect] = []
        while self.core.deadline_ms <= end:
            self.now_ms = max(self.now_ms, self.core.deadline_ms)
            self.core.on_time(self.now_ms)
            found += self.effects()
        self.now_ms = end
        return found

    def close(self, connection: int) -> list[Effect]:
        self.core.on_close(connection, self.now_ms)
        return self.effects()

    def restart(self) -> "Office":
        """Another process on the same disk, after this one was stopped."""
        self.core.stop(self.now_ms)
        return Office(self.settings, self.disk, self.now_ms, self.events, self.log)
