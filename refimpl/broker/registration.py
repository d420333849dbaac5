"""How a broker makes itself known: Apache's BrokerOuterAPI.

The broker keeps one connection to each name server. It registers with all its topics when the
connection is there and then every thirty seconds; a topic that changes is told at once, alone,
under the new version of the table. A name server that missed such news would think it knows that
version, so the version is advanced before it is told everything again.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

from refimpl.agenda import Agenda
from refimpl.broker.parts import BrokerParts
from refimpl.effect import Severity
from refimpl.remoting.outward import Call
from spec.broker.topic import TopicConfig
from spec.nameserver.liveness import clamp_register_period_ms
from spec.nameserver.route import derive_queue_data
from spec.values.checksum import derive_checksum
from spec.wire.body.registration import RegisterBrokerBody, encode_compressed
from spec.wire.body.topic import TopicConfigTable
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.connection import derive_replication_port
from spec.wire.frame import Frame
from spec.wire.header.nameserver import BrokerIdentityHeader, RegisterBrokerHeader

CALL_LIMIT_MS: Final = 6_000
"""How long a registration may take, Apache's `registerBrokerTimeoutMills`."""

FAREWELL_LIMIT_MS: Final = 1_000
"""How long a stop waits for name servers; a decision."""

RECONNECT_MS: Final = 1_000
"""Pause before a connection that ended is asked for again; a decision."""


class Outward(NamedTuple):
    """The ways out that registration needs of its core."""

    agenda: Agenda
    connect: Callable[[str], int]
    """Asks for a connection to an address; its number."""
    call: Call


FilterServers: TypeAlias = Callable[[int], tuple[str, ...]]
"""The filter servers that are alive at a time."""


class _NameServer:
    """One name server, as this broker sees it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.connection: int | None = None
        self.is_open = False
        self.is_registered = False
        self.has_missed_news = False


class Registration:
    """The broker's entry at every name server."""

    def __init__(self, parts: BrokerParts, outward: Outward, filter_servers: FilterServers) -> None:
        self._settings = parts.settings
        self._topics = parts.topics
        self._note = parts.note
        self._outward = outward
        self._filter_servers = filter_servers
        self._name_servers = [_NameServer(address) for address in parts.settings.name_servers]
        self._news: dict[str, None] = {}
        self._is_ending = False
        self._farewells = 0
        parts.topics.on_change.append(lambda topic, _: self._news.setdefault(topic))

    @property
    def is_registered(self) -> bool:
        """Whether every name server that can be reached knows the broker, and one at least does."""
        known = [server for server in self._name_servers if server.is_registered]
        waiting = [server for server in self._name_servers if server.is_open and not server.is_registered]
        return bool(known) and not waiting

    @property
    def is_ended(self) -> bool:
        """Whether every farewell was answered, or given up."""
        return self._is_ending and self._farewells == 0

    def start(self, now_ms: int) -> None:
        """Every name server is connected to, and hears of the broker from now on."""
        for server in self._name_servers:
            self._connect(server)
        period_ms = clamp_register_period_ms(self._settings.register_ms)
        self._outward.agenda.every(now_ms + period_ms, period_ms, self._register_all)

    def _connect(self, server: _NameServer) -> None:
        server.connection = self._outward.connect(server.address)

    def on_open(self, connection: int, now_ms: int) -> None:
        """If it leads to a name server, the broker registers there."""
        server = self._find(connection)
        if server is not None:
            server.is_open = True
            self._register(server, now_ms)

    def on_close(self, connection: int, now_ms: int) -> None:
        """If it led to a name server, it is asked for again after a pause."""
        server = self._find(connection)
        if server is None:
            return
        if not self._is_ending and (server.is_open or not server.has_missed_news):
            self._note(Severity.WARNING, f"name server {server.address} cannot be reached, trying on")
        server.connection, server.is_open, server.is_registered = None, False, False
        server.has_missed_news = True
        if not self._is_ending:
            self._outward.agenda.at(now_ms + RECONNECT_MS, lambda _: self._reconnect(server))

    def _reconnect(self, server: _NameServer) -> None:
        if not self._is_ending:
            self._connect(server)

    def _find(self, connection: int) -> _NameServer | None:
        return next((server for server in self._name_servers if server.connection == connection), None)

    def begin_anew(self, now_ms: int) -> None:
        """What the broker registers has changed: every name server hears of all topics again."""
        self._topics.advance(now_ms)
        self._register_all(now_ms)

    def _register_all(self, now_ms: int) -> None:
        for server in self._name_servers:
            if server.is_open and not self._is_ending:
                self._register(server, now_ms)

    def _register(self, server: _NameServer, now_ms: int) -> None:
        """The name server hears of all topics.

        Clause: nameserver.registration.period
        """
        if server.has_missed_news:
            server.has_missed_news = False
            self._topics.advance(now_ms)
        self._tell(server, list(self._topics.all().values()), now_ms)

    def end_turn(self, now_ms: int) -> None:
        """Topics that changed in this turn are told to all."""
        if not self._news or self._is_ending:
            return
        found = [self._topics.find(name) for name in sorted(self._news)]
        self._news.clear()
        for server in self._name_servers:
            if server.is_registered:
                self._tell(server, [topic for topic in found if topic is not None], now_ms)

    def _tell(self, server: _NameServer, topics: list[TopicConfig], now_ms: int) -> None:
        if server.connection is None:
            return
        table = TopicConfigTable({topic.name: self._lend(topic) for topic in topics}, self._topics.version)
        body = self._encode(RegisterBrokerBody(table, self._filter_servers(now_ms)))
        header = self._header(body)
        self._outward.call(
            server.connection,
            RequestCode.REGISTER_BROKER,
            header.encode(),
            body,
            now_ms=now_ms,
            timeout_ms=CALL_LIMIT_MS,
            then=lambda frame, _: self._on_answer(server, frame),
        )

    def _lend(self, topic: TopicConfig) -> TopicConfig:
        """A broker that is closed for reading or writing lends its own permission to every topic.

        Clause: nameserver.route.broker-permission
        """
        lent = derive_queue_data(self._settings.name, topic, self._settings.permission)
        return replace(topic, permission=lent.permission)

    def _encode(self, body: RegisterBrokerBody) -> bytes:
        return encode_compressed(body) if self._settings.is_register_compressed else body.encode()

    def _header(self, body: bytes) -> RegisterBrokerHeader:
        settings = self._settings
        replication = settings.host._replace(port=derive_replication_port(settings.host.port))
        return RegisterBrokerHeader(
            settings.name,
            str(settings.host),
            settings.cluster,
            str(replication),
            settings.broker_id,
            settings.is_register_compressed,
            derive_checksum(body),
        )

    def _on_answer(self, server: _NameServer, frame: Frame | None) -> None:
        is_done = frame is not None and frame.code == ResponseCode.SUCCESS
        if is_done and not server.is_registered:
            self._note(Severity.INFO, f"registered at name server {server.address}")
        if frame is not None and not is_done:
            self._note(Severity.ERROR, f"name server {server.address} refuses the broker: {frame.remark}")
        server.is_registered = is_done
        server.has_missed_news |= not is_done

    def end(self, now_ms: int) -> None:
        """Every name server hears that the broker goes."""
        self._is_ending = True
        settings = self._settings
        header = BrokerIdentityHeader(settings.name, str(settings.host), settings.cluster, settings.broker_id)
        for server in self._name_servers:
            if server.connection is not None and server.is_open:
                self._farewells += 1
                self._outward.call(
                    server.connection,
                    RequestCode.UNREGISTER_BROKER,
                    header.encode(),
                    b"",
                    now_ms=now_ms,
                    timeout_ms=FAREWELL_LIMIT_MS,
                    then=self._on_farewell,
                )

    def _on_farewell(self, _frame: Frame | None, _now_ms: int) -> None:
        self._farewells -= 1
