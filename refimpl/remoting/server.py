"""What every server core does: take requests, call their handlers, answer exactly once.

A handler that refuses by a Rejection, or that fails by a mistake of ours, answers with a system
error; nothing that arrives from the network ends the core. Answers that come later (a held pull, a
send that waits for its flush) are given with `answer`.
"""

import traceback
from collections.abc import Callable, Mapping
from typing import Final

from refimpl.agenda import Agenda
from refimpl.effect import Close, Connect, Effect, Note, Send, Severity, Task
from refimpl.ports import DiskError
from refimpl.remoting.calls import Calls, Continuation, derive_request
from refimpl.remoting.request import Handler, Reply, Request
from spec.rejection import Rejection
from spec.values.host import Host
from spec.wire.connection import is_served_on_fast_port
from spec.wire.frame import Frame
from spec.wire.remoting_header import is_oneway, is_response
from spec.wire.reply import derive_failure_reply, derive_reply, derive_unknown_code_reply

REMARK_LIMIT: Final = 512
"""How much of an error's text travels."""


def describe_mistake(error: Exception) -> str:
    """What went wrong, and in which function of ours."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({place.name}, line {place.lineno})"


class ServerCore:
    """A role that is connected to. The world feeds it, and takes its effects after each call."""

    def __init__(self, now_ms: int) -> None:
        self.effects: list[Effect] = []
        self.agenda = Agenda()
        self.calls = Calls()
        self.peers: dict[int, Host] = {}
        """The connections that are open, with the host at their other end."""
        self._handlers: dict[int, Handler] = {}
        self._confined: set[int] = set()
        self._opened_count = 0
        self.is_silent_on_unknown = False
        """Whether an unknown code is not answered, as by a 4.9 name server."""
        self.agenda.every(now_ms + Calls.FIRST_SWEEP_MS, Calls.SWEEP_MS, self.calls.sweep)

    # What the world feeds

    def on_open(self, connection: int, peer: Host, now_ms: int) -> None:  # noqa: ARG002 - roles may need the time
        """A connection is open: one that somebody opened, or one that was asked for."""
        self.peers[connection] = peer

    def confine(self, connection: int) -> None:
        """The connection, which is about to open, has what the fast port serves.

        Clause: wire.connection.fast-port-no-pull
        """
        self._confined.add(connection)

    def on_close(self, connection: int, now_ms: int) -> None:
        """A connection has ended, or one that was asked for could not be opened."""
        self.peers.pop(connection, None)
        self._confined.discard(connection)
        self.calls.fail_connection(connection, now_ms)

    def on_frame(self, connection: int, frame: Frame, now_ms: int) -> None:
        """The request is handled, or the answer has reached its call."""
        if is_response(frame.flag):
            self.calls.answer(connection, frame, now_ms)
            return
        request = Request(connection, self.peers[connection], frame, now_ms)
        handler = self._handlers.get(frame.code)
        if self._confined and connection in self._confined and not is_served_on_fast_port(frame.code):
            handler = None
        if handler is None:
            unknown = derive_unknown_code_reply(frame, is_silent=self.is_silent_on_unknown)
            if unknown is not None:
                self.effects.append(Send(connection, unknown))
            return
        self.respond(request, lambda: self.handle(handler, request))

    def respond(self, request: Request, action: Callable[[], Reply | None]) -> None:
        """The request is answered with what the action says, if it says something now.

        Clause: wire.reply.handler-failure
        """
        try:
            reply = action()
        except (Rejection, DiskError) as refusal:
            self._fail(request, str(refusal))
        except Exception as error:  # noqa: BLE001 - whatever a peer sent, the others are served on
            what = describe_mistake(error)
            self.note(Severity.ERROR, f"request {request.frame.code} from {request.peer} failed: {what}")
            self._fail(request, what)
        else:
            if reply is not None:
                self.answer(request, reply)

    def handle(self, handler: Handler, request: Request) -> Reply | None:
        """What the handler says; a role may guard all its handlers here."""
        return handler(request)

    def on_time(self, now_ms: int) -> None:
        """Whatever was due has been done; what fails by a mistake of ours is told, and the rest goes on.

        Clause: guarantee.liv.service-comes-round
        """
        while self.agenda.deadline_ms <= now_ms:
            try:
                self.agenda.run_due(now_ms)
            except Exception as error:  # noqa: BLE001 - one service that fails must not stop the others
                self.note(Severity.ERROR, f"something due failed: {describe_mistake(error)}")

    def on_finished(self, task: Task, error: DiskError | None, now_ms: int) -> None:
        """A task that was handed out has ended."""

    def end_turn(self, now_ms: int) -> None:
        """All that happened at once has been fed: what can wait for that is done now."""

    @property
    def deadline_ms(self) -> int:
        """When `on_time` is to be called next."""
        return self.agenda.deadline_ms

    def take_effects(self) -> list[Effect]:
        """What is to be done, in order; it is the caller's now."""
        effects, self.effects = self.effects, []
        return effects

    # What roles use

    def serve(self, handlers: Mapping[int, Handler]) -> None:
        """The codes are served by these handlers."""
        self._handlers.update(handlers)

    def answer(self, request: Request, reply: Reply) -> None:
        """The request has its one answer, unless it wants none.

        Clauses: wire.reply.one-answer, wire.reply.oneway-silent
        """
        if is_oneway(request.frame.flag):
            return
        code, remark, fields, body = reply
        frame = derive_reply(request.frame, code, remark=remark, extension_fields=fields, body=body)
        self.effects.append(Send(request.connection, frame))

    def _fail(self, request: Request, error: str) -> None:
        """The request is answered with the error.

        Clause: wire.reply.handler-failure
        """
        if not is_oneway(request.frame.flag):
            self.effects.append(
                Send(request.connection, derive_failure_reply(request.frame, error[:REMARK_LIMIT]))
            )

    def push(self, connection: int, code: int, fields: dict[str, str] | None, body: bytes = b"") -> None:
        """The peer is told something; it does not answer."""
        frame = derive_request(code, self.calls.next_opaque(), fields, body, is_oneway=True)
        self.effects.append(Send(connection, frame))

    def call(
        self,
        connection: int,
        code: int,
        fields: dict[str, str] | None,
        body: bytes,
        *,
        now_ms: int,
        timeout_ms: int,
        then: Continuation,
    ) -> None:
        """The peer is asked something; `then` hears the answer, or that there is none."""
        opaque = self.calls.next_opaque()
        self.calls.begin(opaque, connection, now_ms, timeout_ms, then)
        frame = derive_request(code, opaque, fields, body, is_oneway=False)
        self.effects.append(Send(connection, frame))

    def connect(self, address: str) -> int:
        """A connection to the address is asked for; its number."""
        self._opened_count += 1
        self.effects.append(Connect(-self._opened_count, address))
        return -self._opened_count

    def close(self, connection: int, reason: str) -> None:
        """The connection is to be closed; the core hears of its end like of any other."""
        self.effects.append(Close(connection, reason))

    def note(self, severity: Severity, text: str) -> None:
        """Whoever runs the process is told."""
        self.effects.append(Note(severity, text))
