"""A core that does one thing of each kind, to see that its world carries it out."""

from typing import Final

from refimpl.effect import Finish, Severity, Task
from refimpl.ports import Disk, DiskError, sync_file
from refimpl.remoting.request import Reply, Request
from refimpl.remoting.server import ServerCore
from refimpl.simulated.disk import SimulatedDisk
from refimpl.simulated.world import World
from spec.override import override
from spec.values.host import Host, host_of
from spec.wire.frame import Frame
from spec.wire.remoting_header import is_response

HOST: Final = host_of("10.0.0.1", 10911)
OTHER: Final = host_of("10.0.0.2", 10911)

ECHO: Final = 901
"""Answered at once, with the request's body."""
LATER: Final = 902
"""Answered after 500 ms."""
WRITE: Final = 903
"""The body is written; answered when it is durable, or with the disk's error."""
RELAY: Final = 904
"""Asked of the other node, whose answer is the answer."""
LOSE: Final = 905
"""Not answered: the connection is closed."""
PUSH: Final = 906
"""The sender is told something before the answer."""
TWICE: Final = 907
"""Answered once too often."""

FILE: Final = "content"


class LittleCore(ServerCore):
    """Remembers when its turns ended, and how many frames had come in each."""

    def __init__(self, disk: Disk, now_ms: int) -> None:
        super().__init__(now_ms)
        if not disk.has(FILE):
            sync_file(disk.create(FILE, 8))
            disk.sync_folder("")
        self._file = disk.open(FILE)
        self.turns: list[tuple[int, int]] = []
        self.ends: list[int] = []
        self._frame_count = 0
        self._tasks: dict[Task, Request] = {}
        self._relay = 0
        self.serve(
            {
                ECHO: lambda request: Reply(body=request.frame.body),
                LATER: self._answer_later,
                WRITE: self._write,
                RELAY: self._pass_on,
                LOSE: self._lose,
                PUSH: self._push,
                TWICE: self._answer_twice,
            }
        )

    @override
    def on_frame(self, connection: int, frame: Frame, now_ms: int) -> None:
        self._frame_count += not is_response(frame.flag)
        super().on_frame(connection, frame, now_ms)

    @override
    def on_close(self, connection: int, now_ms: int) -> None:
        self.ends.append(connection)
        super().on_close(connection, now_ms)

    @override
    def end_turn(self, now_ms: int) -> None:
        self.turns.append((now_ms, self._frame_count))
        self._frame_count = 0

    @override
    def on_finished(self, task: Task, error: DiskError | None, now_ms: int) -> None:  # noqa: ARG002
        self.answer(self._tasks.pop(task), Reply(remark=None if error is None else str(error)))

    def _answer_later(self, request: Request) -> None:
        self.agenda.at(request.now_ms + 500, lambda _: self.answer(request, Reply()))

    def _write(self, request: Request) -> None:
        self._file.write(0, request.frame.body)
        task = self._file.start_sync()
        self._tasks[task] = request
        self.effects.append(Finish(task))

    def _pass_on(self, request: Request) -> None:
        self._relay = self.connect(str(OTHER))
        self._waiting = request

    @override
    def on_open(self, connection: int, peer: Host, now_ms: int) -> None:
        super().on_open(connection, peer, now_ms)
        if connection == self._relay:
            body = self._waiting.frame.body
            self.call(connection, ECHO, None, body, now_ms=now_ms, timeout_ms=1_000, then=self._relayed)

    def _relayed(self, frame: Frame | None, now_ms: int) -> None:
        body = b"nobody" if frame is None else frame.body
        self.answer(self._waiting, Reply(remark=str(now_ms), body=body))

    def _lose(self, request: Request) -> None:
        self.note(Severity.WARNING, "lost")
        self.close(request.connection, "lost")

    def _push(self, request: Request) -> Reply:
        self.push(request.connection, PUSH, {"key": "value"})
        return Reply()

    def _answer_twice(self, request: Request) -> Reply:
        self.answer(request, Reply())
        return Reply()


def start_little(world: World, node: str = "one", host: Host = HOST) -> LittleCore:
    """The core of a new node with a disk of its own."""
    disk = world.add_disk(node)
    core = world.start(node, host, lambda now_ms: LittleCore(disk, now_ms)).core
    assert isinstance(core, LittleCore)
    return core


def read_content(disk: SimulatedDisk) -> bytes:
    """What is in the core's file."""
    return disk.open(FILE).read(0, 8)
