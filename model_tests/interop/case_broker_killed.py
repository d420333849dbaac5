"""The reference broker is killed again and again in mid-traffic, and what it had acknowledged is kept.

SIGKILL takes a process its memory, and leaves the page cache: whatever `write` had accepted is there for
the next incarnation, so asynchronous flush has to keep as much as synchronous flush here. All
incarnations go on with one history, which is judged as a whole.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from model_tests.interop.child import find_broker_port
from model_tests.interop.native_broker import QUEUES, create_topic
from model_tests.interop.native_driver import Client, Driver
from model_tests.interop.native_event import Refused
from model_tests.interop.native_group import wait_consumed
from model_tests.interop.native_place import seen, seen_of, told, told_of
from model_tests.interop.native_program import ClientProgram
from model_tests.interop.target import Target, check_history, start_reference, write_config
from spec.layout.stored_message import StoredMessage

pytest_plugins = ["model_tests.interop.native_fixture"]

KILLS = 10
SENDS_IN_A_LIFE = 40
PAUSE_MS = 3


class Killable:
    """A broker that can be killed, and comes back on the same store, history and ports."""

    def __init__(self, folder: Path, arguments: Sequence[str]) -> None:
        self._folder = folder
        self._arguments = arguments
        self._port = find_broker_port()
        self.target = self._start()

    def _start(self) -> Target:
        return start_reference(self._folder, self._port, self._arguments)

    def come_back(self) -> None:
        """The broker was killed, and another incarnation serves."""
        self.target.child.kill()
        self.target = self._start()

    def read_queues(self, topic: str) -> list[tuple[StoredMessage, ...]]:
        """The messages in each queue of the topic."""
        with self.target.connect() as wire:
            return [wire.pull_all(topic, queue_id) for queue_id in range(QUEUES)]


@pytest.fixture(params=["SYNC_FLUSH", "ASYNC_FLUSH"])
def broker(request: pytest.FixtureRequest, pytestconfig: pytest.Config, folder: Path) -> Iterator[Killable]:
    """The reference, flushing in each of the two ways."""
    if pytestconfig.getoption("--target") != "reference":
        pytest.skip("inconclusive: only the reference is killed and judged by its history")
    killable = Killable(folder, write_config(folder, {"flushDiskType": request.param}))
    yield killable
    killable.target.child.kill()


@pytest.fixture
def node(node_program: ClientProgram, broker: Killable, folder: Path) -> Iterator[Client]:
    """The JavaScript client: of all clients it finds a broker again soonest."""
    client = Client(node_program, broker.target.name_server, folder)
    yield client
    client.end_all()


def wait_sent(stream: Driver, count: int) -> None:
    """So many more messages were acknowledged."""
    wanted = len(stream.sent) + count
    stream.wait_until(lambda: len(stream.sent) >= wanted)


def test_nothing_acknowledged_is_lost_though_the_broker_is_killed_again_and_again(
    node: Client, broker: Killable
) -> None:
    topic = "Killed"
    create_topic(broker.target, topic)
    member = node.join("killed", topic)
    stream = node.stream(topic, "kept", PAUSE_MS)
    for life in range(KILLS):
        wait_sent(stream, SENDS_IN_A_LIFE + life)
        broker.come_back()
    wait_sent(stream, SENDS_IN_A_LIFE)
    stream.stop()
    acknowledged = {sent.body for sent in stream.sent}
    wait_consumed([member], acknowledged)
    member.stop()
    queues = broker.read_queues(topic)
    stored = [message for queue in queues for message in queue]
    # Dense, and everything that was told is where it was told to be.
    assert [[message.queue_offset for message in queue] for queue in queues] == [
        list(range(len(queue))) for queue in queues
    ]
    assert set(map(told, stream.sent)) - {told_of(message, node.program) for message in stored} == set()
    # The client tries each message once, so none stands twice; what it was refused may stand all the same.
    bodies = [message.body.decode() for message in stored]
    assert len(set(bodies)) == len(bodies)
    assert set(bodies) <= acknowledged | {refused.body for refused in stream.events(Refused)}
    assert set(map(seen, member.received)) <= {seen_of(message, node.program) for message in stored}
    assert broker.target.child.stop() == 0, broker.target.child.tail()
    assert broker.target.history is not None
    check_history(broker.target.history)
