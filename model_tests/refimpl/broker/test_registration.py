"""How a broker gets into the routes of name servers, and out of them."""

from dataclasses import replace

import pytest

from model_tests.dialogue import Dialogue
from model_tests.refimpl.broker.broker_world import NODE, SMALL_STORE, BrokerWorld, Client
from refimpl.agenda import Agenda
from refimpl.broker.registration import Outward, Registration
from refimpl.broker.settings import BrokerSettings
from refimpl.nameserver.name_server import NameServer
from refimpl.nameserver.settings import NameServerSettings
from refimpl.remoting.calls import Continuation
from spec.broker.topic import READ, TopicConfig
from spec.nameserver.route import QueueData
from spec.values.host import Host, host_of
from spec.values.message import Message
from spec.wire.body.registration import RegisterBrokerBody
from spec.wire.code import RequestCode
from spec.wire.frame import Frame

FIRST, SECOND = host_of("127.0.0.1", 9876), host_of("127.0.0.1", 9877)
NAMED = BrokerSettings(store=SMALL_STORE, name_servers=(str(FIRST), str(SECOND)))

NAMED_ONCE = BrokerSettings(store=SMALL_STORE, name_servers=(str(FIRST),))


class RegisteredWorld(BrokerWorld):
    """A broker and the name servers that it is configured with, as far as they run."""

    def start_name_server(self, host: Host) -> None:
        node = f"name-server-{host.port}"
        disk = self.world.disks.get(node) or self.world.add_disk(node)
        settings = NameServerSettings(node=node)

        def make(now_ms: int) -> NameServer:
            return NameServer(settings, disk, now_ms)

        if node in self.world.machines:
            self.world.restart(node, make)
        else:
            self.world.start(node, host, make)

    def route(self, host: Host, topic: str) -> tuple[QueueData, ...] | None:
        """The queues of a topic as a name server tells them."""
        asked: Dialogue = Client(self.world.connect(host))
        route = asked.route(topic)
        return None if route is None else route.queue_datas


def started(settings: BrokerSettings = NAMED) -> RegisteredWorld:
    world = RegisteredWorld(settings)
    world.start_name_server(FIRST)
    world.start_name_server(SECOND)
    world.run_for(3_000)
    assert world.broker.is_registered
    return world


@pytest.mark.clause("nameserver.registration.period")
def test_a_broker_is_in_the_routes_of_every_name_server_soon_after_its_start() -> None:
    world = started()
    for host in (FIRST, SECOND):
        assert world.route(host, "BenchmarkTest") == (QueueData(NODE, 1024, 1024, 6),)


def test_a_topic_that_a_send_creates_is_in_every_route_at_once() -> None:
    world = started()
    world.connect().send(Message("New", b""), 0)
    world.run_for(50)
    for host in (FIRST, SECOND):
        assert world.route(host, "New") == (QueueData(NODE, 4, 4, 6),)


def test_a_name_server_that_comes_back_learns_what_it_missed() -> None:
    world = started()
    world.world.crash("name-server-9876")
    world.broker.parts.topics.put(TopicConfig("Missed", 2, 2), 1)
    world.run_for(3_000)
    assert world.route(SECOND, "Missed") == (QueueData(NODE, 2, 2, 6),)
    world.start_name_server(FIRST)
    world.run_for(3_000)
    assert world.route(FIRST, "Missed") == (QueueData(NODE, 2, 2, 6),)
    assert world.route(FIRST, "BenchmarkTest") == (QueueData(NODE, 1024, 1024, 6),)


def test_a_broker_without_any_name_server_serves_and_keeps_trying() -> None:
    world = RegisteredWorld(NAMED)
    world.connect().send(Message("T", b""), 0)
    world.run_for(30_000)
    was_registered = world.broker.is_registered
    told = [told.note.text for told in world.world.notes if "cannot be reached" in told.note.text]
    assert sorted(told) == [f"name server {host} cannot be reached, trying on" for host in (FIRST, SECOND)]
    world.start_name_server(SECOND)
    world.run_for(3_000)
    assert (was_registered, world.broker.is_registered) == (False, True)
    assert world.route(SECOND, "T") == (QueueData(NODE, 4, 4, 6),)


@pytest.mark.clause("nameserver.route.broker-permission")
def test_a_broker_that_is_closed_for_writing_says_so_for_all_its_topics() -> None:
    world = started(replace(NAMED, permission=READ))
    assert world.route(FIRST, "BenchmarkTest") == (QueueData(NODE, 1024, 1024, READ),)


def test_a_broker_that_stops_is_in_no_route_any_more() -> None:
    world = started()
    world.broker.stop(world.world.now_ms)
    world.run_for(1_000)
    assert world.broker.is_stopped
    for host in (FIRST, SECOND):
        assert world.route(host, "BenchmarkTest") is None


def test_a_compressed_registration_leads_to_the_same_routes() -> None:
    world = started(replace(NAMED, is_register_compressed=True))
    assert world.route(FIRST, "BenchmarkTest") == (QueueData(NODE, 1024, 1024, 6),)


def test_a_name_server_that_missed_news_is_told_everything_under_a_new_version() -> None:
    # It took the later news and knows their version, so under that version it would not look again.
    world = BrokerWorld()
    told: list[tuple[RegisterBrokerBody, Continuation]] = []

    def call(
        connection: int,
        code: int,
        fields: dict[str, str] | None,
        body: bytes,
        *,
        now_ms: int,
        timeout_ms: int,
        then: Continuation,
    ) -> None:
        assert (connection, code, timeout_ms) == (-1, RequestCode.REGISTER_BROKER, 6_000)
        assert fields is not None
        assert now_ms in (1, 30_001)
        told.append((RegisterBrokerBody.decode(body), then))

    agenda, parts = Agenda(), replace(world.broker.parts, settings=NAMED_ONCE)
    registration = Registration(parts, Outward(agenda, lambda _: -1, call), lambda _: ())
    registration.start(1)
    registration.on_open(-1, 1)
    told[0][1](Frame(0), 1)
    for name in ("Lost", "Taken"):
        parts.topics.put(TopicConfig(name), 1)
        registration.end_turn(1)
    told[1][1](None, 1)
    told[2][1](Frame(0), 1)
    agenda.run_due(30_001)
    tables = [body.topic_config_serialize_wrapper for body, _ in told]
    assert [sorted(table.topic_config_table) for table in tables[1:3]] == [["Lost"], ["Taken"]]
    assert {"Lost", "Taken", "BenchmarkTest"} <= set(tables[3].topic_config_table)
    assert tables[2].data_version.counter < tables[3].data_version.counter
