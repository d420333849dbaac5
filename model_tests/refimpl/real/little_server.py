"""A small core in the real world, on a thread of its own, and a client that speaks frames or noise."""

import asyncio
import logging
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Self

import uvloop

from refimpl.agenda import Action
from refimpl.effect import Finish, Task
from refimpl.ports import DiskError
from refimpl.real.event_log import ROOT, TextLine
from refimpl.real.limit import Limits
from refimpl.real.node import Node
from refimpl.real.port import Port
from refimpl.real.process import Process
from refimpl.real.service import Service
from refimpl.real.tls import PLAIN, Tls
from refimpl.remoting.request import Reply, Request
from refimpl.remoting.server import ServerCore
from spec.override import override
from spec.values.host import Host
from spec.wire.code import RequestCode
from spec.wire.frame import Frame, FrameReader, encode_frame
from spec.wire.remoting_header import ONEWAY_BIT

ECHO: Final = RequestCode.SEND_MESSAGE
"""Answered with the same body."""
PULL: Final = RequestCode.PULL_MESSAGE
"""Answered with the same body, and not served on a fast port."""
HOLD: Final = RequestCode.QUERY_MESSAGE
"""Never answered."""
GROW: Final = RequestCode.VIEW_MESSAGE_BY_ID
"""Answered with as many bytes as the body says."""
BYE: Final = RequestCode.HEART_BEAT
"""Answered, and then the connection is closed."""
SYNC: Final = RequestCode.LOCK_BATCH_MQ
"""Answered when a task has ended."""
BREAK: Final = RequestCode.UNLOCK_BATCH_MQ
"""Makes the core fail outside of its handlers."""
SLOW: Final = RequestCode.GET_MAX_OFFSET
"""Answered after so many milliseconds as the body says, in which nothing else happens."""

WAIT_SECONDS: Final = 5.0


class SleepTask:
    """Takes a moment in another thread; fails if it was told an error."""

    def __init__(self, request: Request, error: Exception | None = None) -> None:
        self.request = request
        self.error = error
        self.thread = 0

    def finish(self) -> None:
        self.thread = threading.get_ident()
        if self.error is not None:
            raise self.error


class LittleCore(ServerCore):
    """Remembers what it was fed."""

    def __init__(self, now_ms: int) -> None:
        super().__init__(now_ms)
        self.fed: list[tuple[int, int, bytes]] = []
        """Connection, code and body of every frame, in order."""
        self.opened: list[tuple[int, Host]] = []
        self.closed: list[int] = []
        self.turns: list[int] = []
        """How many frames had been fed at the end of each turn."""
        self.finished: list[tuple[Task, DiskError | None]] = []
        self.task_error: Exception | None = None
        self.serve(
            {
                ECHO: lambda request: Reply(body=request.frame.body),
                PULL: lambda request: Reply(body=request.frame.body),
                HOLD: lambda _: None,
                GROW: lambda request: Reply(body=bytes(int(request.frame.body))),
                SLOW: _on_slow,
                BYE: self._on_bye,
                SYNC: self._on_sync,
            }
        )

    @override
    def on_open(self, connection: int, peer: Host, now_ms: int) -> None:
        super().on_open(connection, peer, now_ms)
        self.opened.append((connection, peer))

    @override
    def on_close(self, connection: int, now_ms: int) -> None:
        super().on_close(connection, now_ms)
        self.closed.append(connection)

    @override
    def on_frame(self, connection: int, frame: Frame, now_ms: int) -> None:
        self.fed.append((connection, frame.code, frame.body))
        if frame.code == BREAK:
            raise RuntimeError("a mistake of ours")
        super().on_frame(connection, frame, now_ms)

    @override
    def on_finished(self, task: Task, error: DiskError | None, now_ms: int) -> None:  # noqa: ARG002
        self.finished.append((task, error))
        assert isinstance(task, SleepTask)
        self.answer(task.request, Reply(body=b"" if error is None else str(error).encode()))

    @override
    def end_turn(self, now_ms: int) -> None:  # noqa: ARG002
        self.turns.append(len(self.fed))

    def _on_bye(self, request: Request) -> Reply:
        # The answer stands before the end of the connection.
        self.answer(request, Reply())
        self.close(request.connection, "it said goodbye")
        return Reply(body=b"never sent")

    def _on_sync(self, request: Request) -> None:
        self.effects.append(Finish(SleepTask(request, self.task_error)))


def _on_slow(request: Request) -> Reply:
    time.sleep(int(request.frame.body) / 1000)
    return Reply()


class _Lines(logging.Handler):
    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self._lines = lines
        self.setFormatter(TextLine())

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(self.format(record).partition(" ")[2])


class LittleServer:
    """The running server, seen from the test's thread."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, node: Node, core: LittleCore, ports: Sequence[Port]
    ) -> None:
        self._loop = loop
        self.node = node
        self.core = core
        self.port = ports[0].number
        self.fast_port = ports[1].number
        self.log: list[str] = []
        """The lines of the log, without their time."""

    def connect(self, *, is_fast: bool = False) -> "LittleClient":
        """A new connection to it."""
        return LittleClient(self.fast_port if is_fast else self.port)

    def call(self, action: Callable[[LittleCore], object]) -> None:
        """The action has run on the loop, and a turn follows."""
        done = threading.Event()

        def run() -> None:
            action(self.core)
            self.node.ask_turn()
            done.set()

        self._loop.call_soon_threadsafe(run)
        assert done.wait(WAIT_SECONDS)

    def at(self, time_ms: int, action: Action) -> None:
        """The core has something to do at a time."""
        self.call(lambda core: core.agenda.at(time_ms, action))

    def wait(self, is_done: Callable[[], bool]) -> None:
        """It is done; a wait that takes too long is a failure."""
        until = time.monotonic() + WAIT_SECONDS
        while not is_done():
            assert time.monotonic() < until, (self.log, self.core.fed[-3:])
            time.sleep(0.002)


class LittleClient:
    """A socket that speaks frames, or whatever it is told to."""

    def __init__(self, port: int) -> None:
        self.socket: socket.socket = socket.create_connection(("127.0.0.1", port), WAIT_SECONDS)
        self.reader = FrameReader()
        self._opaque = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    @property
    def name(self) -> str:
        """The client's own address, as the server's log has it."""
        host, port = self.socket.getsockname()
        return f"{host}:{port}"

    def start_tls(self, context: ssl.SSLContext) -> None:
        """Hands are shaken."""
        self.socket = context.wrap_socket(self.socket)

    def frame(self, code: int, body: bytes = b"", *, is_oneway: bool = False) -> bytes:
        """The bytes of a request, with a new opaque."""
        self._opaque += 1
        flag = ONEWAY_BIT if is_oneway else 0
        return encode_frame(Frame(code, opaque=self._opaque, flag=flag, body=body))

    def send(self, data: bytes) -> None:
        """The bytes are on their way; a peer that has hung up is no failure."""
        try:
            self.socket.sendall(data)
        except OSError:
            return

    def read(self, count: int = 1) -> list[Frame]:
        """The next frames, at least so many unless the server closed."""
        frames = list(self.reader.frames())
        while len(frames) < count and (data := self._receive()):
            frames += self.reader.feed(data)
        return frames

    def ask(self, code: int, body: bytes = b"") -> bytes:
        """The body of the answer."""
        self.send(self.frame(code, body))
        (answer,) = self.read()
        assert answer.opaque == self._opaque
        return answer.body

    def read_end(self) -> bytes:
        """What was sent before the server closed; a wait that takes too long is a failure."""
        data = b""
        while part := self._receive():
            data += part
        return data

    def _receive(self) -> bytes:
        try:
            return self.socket.recv(1 << 16)
        except ConnectionError:
            return b""


@contextmanager
def run_server(
    limits: Limits | None = None, tls: Tls = PLAIN, *, is_uvloop: bool = True
) -> Iterator[LittleServer]:
    """A server that serves until the end of the block."""
    lines: list[str] = []
    handler = _Lines(lines)
    logger = logging.getLogger(ROOT)
    level, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    stage = _Stage(limits or Limits(), tls)
    factory = uvloop.new_event_loop if is_uvloop else None
    thread = threading.Thread(target=_run, args=(stage, factory))
    thread.start()
    try:
        assert stage.is_ready.wait(WAIT_SECONDS)
        server = stage.started[0]
        server.log = lines
        yield server
    finally:
        stage.is_over.set()
        thread.join(WAIT_SECONDS)
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate
        assert not thread.is_alive()


class _Stage:
    """What the test's thread and the server's tell each other."""

    def __init__(self, limits: Limits, tls: Tls) -> None:
        self.limits = limits
        self.tls = tls
        self.started: list[LittleServer] = []
        self.is_ready = threading.Event()
        self.is_over = threading.Event()


def _run(stage: _Stage, factory: Callable[[], asyncio.AbstractEventLoop] | None) -> None:
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(_serve(stage))


async def _serve(stage: _Stage) -> None:
    process = Process(stage.limits)
    service = Service(process, tls=stage.tls)
    core = LittleCore(process.clock.now_ms())
    node = service.add("little", core)
    ports = [Port("127.0.0.1", 0), Port("127.0.0.1", 0)]
    await service.serve(node, ports[0])
    await service.serve(node, ports[1], is_fast=True)
    stage.started.append(LittleServer(process.loop, node, core, ports))
    stage.is_ready.set()
    # It is another thread that says when it is over.
    while not stage.is_over.is_set():  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    await service.close(node)
    service.end()
