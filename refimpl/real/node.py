"""One role in the real world: a core, its connections, its timer and its tasks.

The loop collects what happens; a node hands it to its core in turns. One turn: whole frames of the
connections that have some, what is due by now, the end of the turn; then all effects at once. So a
hundred requests that arrived together share one sync and each peer one write.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Final

from refimpl.effect import Close, Connect, Effect, Finish, Note, Send, Severity
from refimpl.real.alarm import Alarm
from refimpl.real.connection import Connection, derive_refusal
from refimpl.real.event_log import ROOT, tell
from refimpl.real.peer import read_peer, split_address
from refimpl.real.process import Process
from refimpl.real.task_desk import TaskDesk
from refimpl.real.tls import PLAIN, Tls
from refimpl.real.traffic import Traffic
from refimpl.real.turn_order import TurnOrder
from refimpl.remoting.server import ServerCore
from spec.rejection import Rejection
from spec.wire.code import ResponseCode
from spec.wire.frame import Frame, encode_frame
from spec.wire.remoting_header import is_response

_LEVELS: Final = {
    Severity.DEBUG: logging.DEBUG,
    Severity.INFO: logging.INFO,
    Severity.WARNING: logging.WARNING,
    Severity.ERROR: logging.ERROR,
}


class Node:
    """Drives one core; `before_effects` runs once a turn before anything leaves the process."""

    def __init__(
        self,
        name: str,
        core: ServerCore,
        process: Process,
        *,
        tls: Tls = PLAIN,
        before_effects: Callable[[], None] | None = None,
    ) -> None:
        self.core = core
        self.process = process
        self.limits = process.limits
        self.clock = process.clock
        self.tls = tls
        self.traffic = Traffic(name)
        self.connections: dict[int, Connection] = {}
        self._logger = logging.getLogger(f"{ROOT}.{name}")
        self._before_effects = before_effects
        self._order = TurnOrder()
        self._written: dict[Connection, None] = {}
        self._is_turn_due = False
        self._alarm = Alarm(process.loop, self.ask_turn)
        self._tasks = TaskDesk(process, self._logger, self.ask_turn)
        self._dials: set[asyncio.Task[None]] = set()

    # Turns

    def make_ready(self, connection: Connection) -> None:
        """The connection takes part in the next turn."""
        self._order.add(connection)
        self.ask_turn()

    def ask_turn(self) -> None:
        """There will be a turn when everything that has arrived by now has been read."""
        if not self._is_turn_due:
            self._is_turn_due = True
            self.process.loop.call_soon(self.turn)

    def turn(self) -> None:
        """All that arrived has been handled, and what followed from it is under way."""
        self._is_turn_due = False
        self.traffic.turns += 1
        now_ms = self.clock.now_ms()
        self._take_frames(now_ms)
        self._guard(self._feed_core, now_ms)
        if self._before_effects is not None:
            self._before_effects()
        self.carry_out()
        self._alarm.set(self.core.deadline_ms, now_ms)
        if self.process.is_over:
            self.process.relieve()

    def _feed_core(self, now_ms: int) -> None:
        for task, error in self._tasks.take():
            self.core.on_finished(task, error, now_ms)
        if self.core.deadline_ms <= now_ms:
            self.core.on_time(now_ms)
        self.core.end_turn(now_ms)

    def _guard(self, action: Callable[[int], None], now_ms: int) -> None:
        """A mistake in a core is told, and the others are served on."""
        try:
            action(now_ms)
        except Exception:
            self._logger.exception("a turn failed")

    def _take_frames(self, now_ms: int) -> None:
        """Those that were ready had their turn, or are the first of the next one."""
        left, until = self.limits.frames_per_turn, monotonic() + self.limits.turn_ms / 1000
        for connection in self._order.take():
            if connection.number not in self.connections:
                continue
            if left <= 0 or monotonic() >= until:
                self.make_ready(connection)
                continue
            taken, has_more = self._take_from(
                connection, min(left, self.limits.frames_per_connection), now_ms
            )
            left -= taken
            if self._end_turn_of(connection, has_more=has_more):
                self._order.add_again(connection)
                self.ask_turn()

    def _end_turn_of(self, connection: Connection, *, has_more: bool) -> bool:
        """Whether it goes on in the next turn; one that waits is made ready by what it waits for."""
        connection.end_turn(has_more=has_more)
        if connection.is_closing or connection.is_waiting:
            return False
        if connection.is_ended and not has_more:
            self._end(connection)
        return has_more

    def _end(self, connection: Connection) -> None:
        """The peer has sent all it had: whatever has an answer has it."""
        try:
            connection.reader.finish()
        except Rejection as rejection:
            self.refuse(connection, "cut", derive_refusal(rejection))
            return
        connection.close("the peer closed")
        self._written[connection] = None

    def _take_from(self, connection: Connection, limit: int, now_ms: int) -> tuple[int, bool]:
        """How many frames were handled, and whether there may be more."""
        until = monotonic() + self.limits.connection_ms / 1000
        for taken in range(limit):
            try:
                frame = None if connection.is_closing else connection.take()
            except Rejection as rejection:
                self.refuse(connection, rejection.clause, derive_refusal(rejection))
                return taken, False
            if frame is None:
                return taken, False
            self._handle(connection, frame, now_ms)
            if monotonic() >= until:
                return taken + 1, True
        return limit, True

    def _handle(self, connection: Connection, frame: Frame, now_ms: int) -> None:
        self.traffic.frames_in += 1
        if not is_response(frame.flag):
            self.traffic.count_request(frame.code)
        try:
            self.core.on_frame(connection.number, frame, now_ms)
        except Exception:
            self._logger.exception("frame %d of %s failed", frame.code, connection.peer)
            self.refuse(connection, "failed", f"its frame with code {frame.code} could not be handled")

    # Effects

    def carry_out(self) -> None:
        """The effects of the core are under way; peers have what was sent to them."""
        for effect in self.core.take_effects():
            if type(effect) is Send:
                self._send(effect.connection, effect.frame)
            else:
                self._carry_out_rare(effect)
        written, self._written = self._written, {}
        for connection in written:
            connection.write()

    def _carry_out_rare(self, effect: Effect) -> None:
        match effect:
            case Send(connection, frame):
                self._send(connection, frame)
            case Close(connection, reason):
                self.close(connection, reason)
            case Connect(connection, address):
                dial = self.process.loop.create_task(self._dial(connection, address))
                self._dials.add(dial)
                dial.add_done_callback(self._dials.discard)
            case Finish(task):
                self._tasks.begin(task)
            case Note(severity, text):
                tell(self._logger, _LEVELS[severity], text)

    def _send(self, number: int, frame: Frame) -> None:
        connection = self.connections.get(number)
        if connection is None or connection.is_shut:
            return
        self.traffic.frames_out += 1
        connection.add(self._encode(frame), is_answer=is_response(frame.flag))
        self._written[connection] = None

    def _encode(self, frame: Frame) -> bytes:
        """The frame's bytes; in place of one that cannot travel, an error for whoever waits for it."""
        try:
            return encode_frame(frame, frame_limit=self.limits.frame_bytes)
        except Rejection as rejection:
            tell(self._logger, logging.ERROR, "a frame cannot be sent", code=frame.code, reason=rejection)
            failure = Frame(
                ResponseCode.SYSTEM_ERROR,
                frame.language,
                frame.version,
                frame.opaque,
                frame.flag,
                f"the answer cannot be sent: {rejection.reason}",
                serialization=frame.serialization,
            )
            return encode_frame(failure)

    def close(self, number: int, reason: str) -> None:
        """The connection ends behind what was sent before."""
        connection = self.connections.get(number)
        if connection is not None and not connection.is_closing:
            tell(self._logger, logging.INFO, "connection closed", peer=connection.peer, reason=reason)
            connection.close(reason)
            connection.is_shut = True
            self._written[connection] = None
            self.ask_turn()

    # Connections

    def admit(self, connection: Connection) -> None:
        """A connection that was made is open, or turned away."""
        transport = connection.transport
        peer = read_peer(transport)
        connection.peer = str(peer)
        now_ms = self.clock.now_ms()
        connection.began_ms = connection.last_read_ms = connection.last_write_ms = now_ms
        transport.set_write_buffer_limits(self.limits.write_high_bytes, self.limits.write_low_bytes)
        if connection.number < 0:
            self._admit_own(connection)
        elif peer is None:
            transport.abort()
        elif self.process.enter(connection):
            self.open(connection)
        else:
            reason = f"{self.limits.connections} connections are open, expected at most that many"
            self._tell_refusal(connection, "full", reason)
            connection.abort()

    def _admit_own(self, connection: Connection) -> None:
        self.connections[connection.number] = connection
        if self.tls.outward is None:
            self.open(connection)
        else:
            connection.start_tls()

    def open(self, connection: Connection) -> None:
        """The core knows the connection."""
        peer = read_peer(connection.transport)
        if peer is None:
            connection.abort()
            return
        self.traffic.opened += 1
        connection.is_open = True
        self.connections[connection.number] = connection
        if connection.is_fast:
            self.core.confine(connection.number)
        self.core.on_open(connection.number, peer, self.clock.now_ms())
        self.ask_turn()

    def drop(self, connection: Connection, error: Exception | None) -> None:
        """The connection is gone, and the core knows."""
        self._order.forget(connection)
        self._written.pop(connection, None)
        self.process.leave(connection)
        self.connections.pop(connection.number, None)
        self.traffic.closed += connection.is_open
        if connection.is_open or connection.number < 0:
            self._guard(partial(self.core.on_close, connection.number), self.clock.now_ms())
            self.ask_turn()
        reason = connection.close_reason or error or "the peer closed"
        tell(self._logger, logging.DEBUG, "connection ended", peer=connection.peer, reason=reason)

    def refuse(self, connection: Connection, kind: str, reason: str) -> None:
        """The connection is closed because of its peer, and whoever runs the process is told."""
        if connection.is_closing:
            return
        self._tell_refusal(connection, kind, reason)
        connection.close(reason)
        self._written[connection] = None
        self.ask_turn()

    def _tell_refusal(self, connection: Connection, kind: str, reason: str) -> None:
        self.traffic.count_refusal(kind)
        self.process.flood_log.tell(
            self.clock.now_ms(),
            logging.WARNING,
            "connection refused",
            role=self.traffic.part,
            peer=connection.peer,
            reason=reason,
        )

    async def _dial(self, number: int, address: str) -> None:
        """The connection is open, or the core hears of its end."""
        loop = self.process.loop
        try:
            host, port = split_address(address)
            made = loop.create_connection(lambda: Connection(self, number), host, port)
            await asyncio.wait_for(made, self.limits.connect_ms / 1000)
        except (OSError, ValueError, TimeoutError) as error:
            reason = str(error) or "no answer in time"
            tell(self._logger, logging.INFO, "cannot connect", address=address, reason=reason)
            self._guard(partial(self.core.on_close, number), self.clock.now_ms())
            self.ask_turn()

    # The end

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is under way that would end by itself."""
        return self._tasks.is_empty and self._order.is_empty and not self._is_turn_due

    def close_all(self, reason: str) -> None:
        """Every connection is closed behind what was sent."""
        for dial in tuple(self._dials):
            dial.cancel()
        for number in tuple(self.connections):
            self.close(number, reason)

    def end(self) -> None:
        """There is no timer, and no connection that a peer kept open."""
        self._alarm.stop()
        for connection in tuple(self.connections.values()):
            connection.abort()
