"""What every core does with requests, whatever its role."""

import pytest

from refimpl.effect import Close, Connect, Effect, Note, Send, Severity
from refimpl.ports import DiskError, DiskReason
from refimpl.remoting.request import OK, Reply, Request
from refimpl.remoting.server import ServerCore
from spec.rejection import Rejection
from spec.values.host import host_of
from spec.wire.frame import Frame
from spec.wire.language import Language
from spec.wire.remoting_header import Serialization

PEER = host_of("127.0.0.1", 5000)


class Core(ServerCore):
    def __init__(self) -> None:
        super().__init__(0)
        self.later: list[Request] = []
        self.serve({1: lambda _: OK, 2: self._wait, 3: self._refuse, 4: self._break, 5: self._disk})
        self.on_open(7, PEER, 0)

    def _wait(self, request: Request) -> None:
        self.later.append(request)

    def _refuse(self, request: Request) -> Reply:
        raise Rejection("some.clause", 3, f"no, {request.peer}")

    def _break(self, request: Request) -> Reply:
        raise KeyError(request.frame.code)

    def _disk(self, request: Request) -> Reply:
        raise DiskError(DiskReason.FULL, f"file-{request.frame.code}")


def ask(
    core: Core, code: int, flag: int = 0, serialization: Serialization = Serialization.JSON
) -> list[Effect]:
    core.on_frame(7, Frame(code, Language.JAVA, 399, 42, flag, serialization=serialization), 5)
    return core.take_effects()


def answered(effects: list[Effect]) -> tuple[int, str | None]:
    (effect,) = (effect for effect in effects if isinstance(effect, Send))
    assert (effect.connection, effect.frame.opaque, effect.frame.flag) == (7, 42, 1)
    return effect.frame.code, effect.frame.remark


@pytest.mark.clause("wire.reply.one-answer", "wire.reply.unknown-code", "wire.reply.handler-failure")
def test_every_request_has_one_answer() -> None:
    core = Core()
    assert answered(ask(core, 1)) == (0, None)
    assert answered(ask(core, 99)) == (3, " request type 99 not supported")
    assert answered(ask(core, 3)) == (1, "at 3: no, 127.0.0.1:5000 [some.clause]")
    assert answered(ask(core, 5)) == (1, "file-5: no space is left")


def test_a_mistake_in_a_handler_is_answered_and_told_and_ends_nothing() -> None:
    core = Core()
    effects = ask(core, 4)
    code, remark = answered(effects)
    assert code == 1
    assert (remark or "").startswith("KeyError: 4 (_break, line ")
    (note,) = (effect for effect in effects if isinstance(effect, Note))
    assert (note.severity, note.text.startswith("request 4 from 127.0.0.1:5000 failed: KeyError")) == (
        Severity.ERROR,
        True,
    )
    assert answered(ask(core, 1)) == (0, None)


@pytest.mark.clause("wire.reply.oneway-silent")
@pytest.mark.parametrize("code", [1, 2, 3, 4, 5, 99])
def test_a_oneway_request_is_never_answered(code: int) -> None:
    effects = ask(Core(), code, flag=2)
    assert [effect for effect in effects if isinstance(effect, Send)] == []


def test_an_answer_may_come_later() -> None:
    core = Core()
    assert ask(core, 2) == []
    core.answer(core.later[0], Reply(0, "now", {"a": "b"}, b"c"))
    (sent,) = core.take_effects()
    assert isinstance(sent, Send)
    assert (sent.frame.remark, sent.frame.extension_fields, sent.frame.body) == ("now", {"a": "b"}, b"c")


@pytest.mark.clause("wire.reply.format")
def test_an_answer_has_the_format_of_its_request() -> None:
    (sent,) = ask(Core(), 1, serialization=Serialization.ROCKETMQ)
    assert isinstance(sent, Send)
    assert sent.frame.serialization is Serialization.ROCKETMQ


def test_a_name_server_of_old_keeps_silent_on_what_it_does_not_know() -> None:
    core = Core()
    core.is_silent_on_unknown = True
    assert ask(core, 99) == []


@pytest.mark.clause(
    "wire.header.reply-match", "wire.connection.call-expiry", "wire.connection.close-fails-calls"
)
def test_a_call_of_the_core_hears_its_answer_or_that_there_is_none() -> None:
    core = Core()
    heard: list[tuple[str, int | None, int]] = []

    def call(name: str, timeout_ms: int = 1_000) -> int:
        def then(frame: Frame | None, now_ms: int) -> None:
            heard.append((name, None if frame is None else frame.code, now_ms))

        core.call(7, 221, {"a": "b"}, b"", now_ms=0, timeout_ms=timeout_ms, then=then)
        (sent,) = core.take_effects()
        assert isinstance(sent, Send)
        return sent.frame.opaque

    answered_opaque, lost = call("answered"), call("expired")
    core.on_frame(7, Frame(0, opaque=answered_opaque, flag=1), 9)
    core.on_open(8, PEER, 9)
    core.on_frame(8, Frame(0, opaque=lost, flag=1), 9)  # somebody else's answer
    core.on_time(3_000)
    call("closed", timeout_ms=60_000)
    core.on_close(7, 4_000)
    core.on_frame(8, Frame(0, opaque=lost, flag=1), 4_001)
    assert heard == [("answered", 0, 9), ("expired", None, 3_000), ("closed", None, 4_000)]


def test_connections_that_are_asked_for_have_negative_numbers() -> None:
    core = Core()
    assert [core.connect("127.0.0.1:1"), core.connect("127.0.0.1:2")] == [-1, -2]
    core.close(7, "enough")
    assert core.take_effects() == [Connect(-1, "127.0.0.1:1"), Connect(-2, "127.0.0.1:2"), Close(7, "enough")]


@pytest.mark.clause("guarantee.liv.service-comes-round")
def test_a_service_that_fails_is_told_and_the_others_go_on() -> None:
    core = Core()
    ran: list[int] = []

    def fail(now_ms: int) -> None:
        raise ValueError(f"at {now_ms}")

    core.agenda.at(5, fail)
    core.agenda.at(6, ran.append)
    core.on_time(6)
    (note,) = core.take_effects()
    assert isinstance(note, Note)
    assert note.text.startswith("something due failed: ValueError: at 6 (fail, line ")
    assert ran == [6]
