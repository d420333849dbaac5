"""A machine of the simulated world: it feeds one core and carries out what the core asks for.

A core hears of everything that arrives in one moment before its turn ends, as a real one hears of
everything that one look at its sockets brought. A crash takes the core with its connections, its
tasks and its alarm; what other machines already sent to it is lost, what it sent itself arrives.
"""

from collections.abc import Callable
from random import Random
from typing import Final, NamedTuple

from refimpl.agenda import NEVER
from refimpl.effect import Close, Connect, Finish, Note, Send, Task
from refimpl.ports import DiskError
from refimpl.remoting.server import ServerCore
from refimpl.simulated.delivery import Delivery, DeliveryKind
from refimpl.simulated.link import LinkEnd
from refimpl.simulated.network import Network
from refimpl.simulated.scheduler import Scheduler
from spec.rejection import Rejection
from spec.values.host import Host
from spec.wire.frame import FrameReader, encode_frame

TASK_MS: Final = range(1, 20)
"""How long a task takes: a sync of a disk that is neither idle nor full."""

CoreFactory = Callable[[int], ServerCore]
"""Makes a core, as a program does that is started at this time."""


class Told(NamedTuple):
    """A note, and who left it when."""

    time_ms: int
    node: str
    note: Note


class Surroundings(NamedTuple):
    """What machines of one world share."""

    scheduler: Scheduler
    network: Network
    random: Random
    watch: Callable[[Delivery], None]
    tell: Callable[[Told], None]


class _Line(NamedTuple):
    """A connection as the machine holds it."""

    end: LinkEnd
    reader: FrameReader


class Machine:
    """One node under its name; between a crash and the next start it has no core."""

    def __init__(self, name: str, host: Host, world: Surroundings) -> None:
        self.name = name
        self.host = host
        self.core: ServerCore | None = None
        self._world = world
        self._lines: dict[int, _Line] = {}
        self._alarm_ms = NEVER
        self._is_turn_due = False

    def start(self, factory: CoreFactory) -> None:
        """A new core runs, and whoever connects reaches it."""
        if self.core is not None:
            raise ValueError(f"{self.name} runs already; crash it first")
        self._watch(DeliveryKind.START)
        self.core = factory(self._world.scheduler.now_ms)
        self._alarm_ms, self._is_turn_due = NEVER, False
        self._world.network.listen(self.host, self)
        self._fed(self.core)

    def crash(self) -> None:
        """The core is gone; whoever was connected will notice."""
        self._watch(DeliveryKind.CRASH)
        self.core = None
        self._world.network.stop_listening(self.host)
        for line in self._lines.values():
            self._world.network.reset(line.end)
        self._lines.clear()

    # What the network brings

    def on_open(self, end: LinkEnd, peer: Host) -> None:
        """The core knows the connection."""
        core, now_ms = self._running(), self._world.scheduler.now_ms
        self._lines.setdefault(end.connection, _Line(end, FrameReader()))
        core.on_open(end.connection, peer, now_ms)
        self._fed(core)

    def on_data(self, end: LinkEnd, data: bytes) -> None:
        """The core has handled the frames that are whole now; who sends anything else is cut off."""
        core, now_ms = self._running(), self._world.scheduler.now_ms
        try:
            for frame in self._lines[end.connection].reader.feed(data):
                core.on_frame(end.connection, frame, now_ms)
        except Rejection as rejection:
            core.close(end.connection, str(rejection))
        self._fed(core)

    def on_close(self, end: LinkEnd) -> None:
        """The core knows that the connection is gone."""
        core, now_ms = self._running(), self._world.scheduler.now_ms
        del self._lines[end.connection]
        core.on_close(end.connection, now_ms)
        self._fed(core)

    def _running(self) -> ServerCore:
        if self.core is None:
            raise ValueError(f"{self.name} does not run, and was told something")
        return self.core

    # The core's turn

    def _fed(self, core: ServerCore) -> None:
        """The core's turn ends when everything of this moment has arrived."""
        if not self._is_turn_due:
            self._is_turn_due = True
            self._world.scheduler.after(0, lambda now_ms: self._end_turn(core, now_ms))

    def _end_turn(self, core: ServerCore, now_ms: int) -> None:
        if core is not self.core:
            return
        self._is_turn_due = False
        core.end_turn(now_ms)
        for effect in core.take_effects():
            match effect:
                case Send(connection, frame):
                    self._send(connection, encode_frame(frame))
                case Close(connection, _):
                    self._close(connection)
                case Connect(connection, address):
                    end = self._world.network.connect(self, connection, self.host.address, address)
                    self._lines[connection] = _Line(end, FrameReader())
                case Finish(task):
                    delay_ms = self._world.random.choice(TASK_MS)
                    self._finish_after(delay_ms, core, task)
                case Note():
                    self._world.tell(Told(now_ms, self.name, effect))
        self._set_alarm(core)

    def _send(self, connection: int, data: bytes) -> None:
        line = self._lines.get(connection)
        if line is not None:
            self._world.network.send(line.end, data)

    def _close(self, connection: int) -> None:
        line = self._lines.get(connection)
        if line is not None:
            self._world.network.close(line.end)

    def _set_alarm(self, core: ServerCore) -> None:
        """The core is woken at its deadline; an alarm for a later time rings in vain."""
        time_ms = core.deadline_ms
        if time_ms < self._alarm_ms:
            self._alarm_ms = time_ms
            self._world.scheduler.at(time_ms, lambda now_ms: self._wake(core, time_ms, now_ms))

    def _wake(self, core: ServerCore, alarm_ms: int, now_ms: int) -> None:
        if core is not self.core or alarm_ms != self._alarm_ms:
            return
        self._alarm_ms = NEVER
        self._watch(DeliveryKind.WAKE)
        core.on_time(now_ms)
        self._fed(core)

    def _finish_after(self, delay_ms: int, core: ServerCore, task: Task) -> None:
        """The core hears how the task ended, if it is there to hear it."""

        def finish(now_ms: int) -> None:
            if core is not self.core:
                return
            error: DiskError | None = None
            try:
                task.finish()
            except DiskError as failure:
                error = failure
            self._watch(DeliveryKind.FINISHED, str(error or "").encode())
            core.on_finished(task, error, now_ms)
            self._fed(core)

        self._world.scheduler.after(delay_ms, finish)

    def _watch(self, kind: DeliveryKind, content: bytes = b"") -> None:
        self._world.watch(Delivery(self._world.scheduler.now_ms, self.name, kind, content=content))
