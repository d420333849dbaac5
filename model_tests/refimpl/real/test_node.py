"""A core in the real world: what arrives reaches it, what it asks for happens, in order."""

import time
from functools import partial
from ipaddress import ip_address

import pytest

from model_tests.refimpl.real.little_server import (
    BYE,
    ECHO,
    GROW,
    HOLD,
    PULL,
    SYNC,
    LittleCore,
    LittleServer,
    run_server,
)
from refimpl.effect import Send, Severity
from refimpl.ports import DiskError, DiskReason
from refimpl.real.limit import Limits
from spec.wire.code import ResponseCode
from spec.wire.frame import FRAME_LIMIT, Frame


@pytest.mark.parametrize("is_uvloop", [True, False])
def test_requests_are_answered_in_their_order(*, is_uvloop: bool) -> None:
    with run_server(is_uvloop=is_uvloop) as server, server.connect() as client:
        bodies = [b"%d" % number for number in range(500)]
        client.send(b"".join(client.frame(ECHO, body) for body in bodies))
        answers = client.read(500)
        assert [answer.body for answer in answers] == bodies
        assert [answer.opaque for answer in answers] == list(range(1, 501))
        assert [body for _, _, body in server.core.fed] == bodies


def test_a_request_may_arrive_byte_by_byte() -> None:
    with run_server() as server, server.connect() as client:
        for byte in client.frame(ECHO, b"slow"):
            client.send(bytes([byte]))
        assert [answer.body for answer in client.read()] == [b"slow"]
        assert len(server.core.fed) == 1


def test_a_frame_of_the_largest_size_arrives() -> None:
    with run_server() as server, server.connect() as client:
        body = bytes(FRAME_LIMIT - len(client.frame(HOLD)))
        client.send(client.frame(HOLD, body))
        assert client.ask(ECHO, b"after") == b"after"
        assert server.core.fed[0] == (1, HOLD, body)


def test_an_answer_that_is_too_large_to_travel_becomes_an_error() -> None:
    with run_server() as server, server.connect() as client:
        client.send(client.frame(GROW, b"%d" % FRAME_LIMIT))
        (answer,) = client.read()
        assert (answer.code, answer.body, answer.opaque) == (ResponseCode.SYSTEM_ERROR, b"", 1)
        assert answer.remark is not None
        assert answer.remark.startswith("the answer cannot be sent: frame of ")
        assert client.ask(ECHO, b"after") == b"after"
        assert any("a frame cannot be sent" in line for line in server.log)


def test_what_arrives_at_once_is_one_turn() -> None:
    with run_server(Limits(frames_per_connection=1_000)) as server, server.connect() as client:
        client.send(b"".join(client.frame(ECHO) for _ in range(100)))
        client.read(100)
        ends = [count for count in server.core.turns if count]
        assert ends[0] == 100


def test_a_core_knows_its_connections_from_their_first_moment_to_their_last() -> None:
    with run_server() as server:
        with server.connect() as client:
            client.ask(ECHO)
            host, port = client.socket.getsockname()
            ((number, peer),) = server.core.opened
            assert (number, peer.address, peer.port) == (1, ip_address(host).packed, port)
            assert server.core.closed == []
        server.wait(lambda: server.core.closed == [1])


def test_what_was_asked_before_the_end_of_a_connection_is_answered() -> None:
    with run_server() as server, server.connect() as client:
        client.send(b"".join(client.frame(ECHO, b"%d" % number) for number in range(300)))
        client.socket.shutdown(1)
        assert len(client.read(301)) == 300
        server.wait(lambda: server.core.closed == [1])
        assert not any("refused" in line for line in server.log)


def test_a_connection_is_closed_behind_what_was_sent_before() -> None:
    with run_server() as server, server.connect() as client:
        client.send(client.frame(BYE) + client.frame(ECHO, b"too late"))
        answers = client.read(2)
        assert [answer.body for answer in answers] == [b""]
        server.wait(lambda: server.core.closed == [1])
        assert f'INFO little: connection closed peer={client.name} reason="it said goodbye"' in server.log


def test_what_is_sent_to_a_closed_connection_is_dropped() -> None:
    with run_server() as server:
        with server.connect() as client:
            client.ask(ECHO)
        server.wait(lambda: server.core.closed == [1])
        server.call(lambda core: core.effects.append(Send(1, Frame(1))))
        with server.connect() as client:
            assert client.ask(ECHO, b"next") == b"next"


def test_a_task_ends_in_another_thread_and_the_core_hears_of_it() -> None:
    with run_server() as server, server.connect() as client:
        assert client.ask(SYNC) == b""
        server.core.task_error = DiskError(DiskReason.FULL, "commitlog/0")
        assert client.ask(SYNC) == b"commitlog/0: no space is left"
        server.core.task_error = RuntimeError("a mistake of ours")
        assert client.ask(SYNC) == b"SleepTask: the disk failed (a mistake of ours)"
        tasks = [task for task, _ in server.core.finished]
        assert len({task.thread for task in tasks if hasattr(task, "thread")} - {0}) >= 1
        assert any("a task failed" in line for line in server.log)


def test_a_core_is_woken_when_it_wants_to_be() -> None:
    with run_server() as server:
        woken: list[tuple[int, int]] = []
        now_ms = time.time_ns() // 1_000_000
        for delay_ms in (60, 30, 90):
            server.at(now_ms + delay_ms, lambda at_ms, due=now_ms + delay_ms: woken.append((due, at_ms)))  # type: ignore[misc]
        server.wait(lambda: len(woken) == 3)
        assert [due - now_ms for due, _ in woken] == [30, 60, 90]
        for due_ms, at_ms in woken:
            assert 0 <= at_ms - due_ms < 50


def test_a_core_that_waits_costs_no_turns() -> None:
    with run_server() as server, server.connect() as client:
        client.ask(ECHO)
        time.sleep(0.05)
        before = server.node.traffic.turns
        time.sleep(0.2)
        assert server.node.traffic.turns - before <= 1


def test_a_turn_that_fails_is_told_and_others_follow() -> None:
    with run_server() as server, server.connect() as client:

        def fail(_: int) -> None:
            raise RuntimeError("a mistake of ours")

        server.at(0, fail)
        server.wait(lambda: any("a mistake of ours" in line for line in server.log))
        assert client.ask(ECHO, b"after") == b"after"


def test_notes_of_a_core_are_lines_of_the_log() -> None:
    with run_server() as server:
        server.call(lambda core: core.note(Severity.WARNING, "the disk is nearly full\nand more"))
        server.wait(lambda: "WARNING little: the disk is nearly full\\nand more" in server.log)


def test_a_fast_port_serves_everything_but_pulls() -> None:
    with run_server() as server, server.connect() as client, server.connect(is_fast=True) as fast:
        assert client.ask(PULL, b"found") == b"found"
        assert fast.ask(ECHO, b"stored") == b"stored"
        fast.send(fast.frame(PULL))
        (answer,) = fast.read()
        assert (answer.code, answer.remark) == (
            ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
            " request type 11 not supported",
        )


def _connect(core: LittleCore, address: str) -> None:
    core.connect(address)


def test_a_core_opens_a_connection_and_speaks_over_it() -> None:
    with run_server() as server, run_server() as other:
        server.call(partial(_connect, address=f"127.0.0.1:{other.port}"))
        server.wait(lambda: bool(server.core.opened))
        ((number, peer),) = server.core.opened
        assert (number, peer.port) == (-1, other.port)
        answers: list[Frame | None] = []

        def ask(core: LittleCore) -> None:
            core.call(
                -1,
                ECHO,
                None,
                b"hello",
                now_ms=0,
                timeout_ms=3_000,
                then=lambda frame, _: answers.append(frame),
            )

        server.call(ask)
        server.wait(lambda: bool(answers))
        assert answers[0] is not None
        assert answers[0].body == b"hello"
        other.call(lambda core: core.close(1, "enough"))
        server.wait(lambda: server.core.closed == [-1])


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nobody.invalid:9876", "no address", "127.0.0.1:99999"])
def test_a_connection_that_cannot_be_opened_has_ended(address: str) -> None:
    with run_server(Limits(connect_ms=1_000)) as server:
        server.call(partial(_connect, address=address))
        server.wait(lambda: server.core.closed == [-1])
        assert server.core.opened == []
        assert any(line.startswith("INFO little: cannot connect address=") for line in server.log)


def test_an_attempt_to_connect_is_given_up_in_time() -> None:
    with run_server(Limits(connect_ms=100)) as server:
        # An address of the documentation: nobody answers, if there is a way there at all.
        server.call(partial(_connect, address="192.0.2.1:9876"))
        server.wait(lambda: server.core.closed == [-1])


def test_counters_tell_what_went_over_the_connections() -> None:
    with run_server() as server, server.connect() as client:
        frame = client.frame(ECHO, b"x")
        client.send(frame + client.frame(999, b"x", is_oneway=True))
        client.read()
        client.ask(ECHO)
        traffic = server.node.traffic
        assert (traffic.opened, traffic.closed, traffic.frames_in, traffic.frames_out) == (1, 0, 3, 2)
        assert traffic.requests == {ECHO: 2, -1: 1}
        figures = {
            (metric.name, metric.labels): metric.value
            for metric in traffic.metrics()
            if metric.name in {"mqspec_connections", "mqspec_requests_total"}
        }
        assert figures == {
            ("mqspec_connections", (("role", "little"),)): 1,
            ("mqspec_requests_total", (("role", "little"), ("request", "unknown"))): 1,
            ("mqspec_requests_total", (("role", "little"), ("request", "send_message"))): 2,
        }


def test_a_server_that_stops_closes_its_connections_behind_their_answers() -> None:
    with run_server() as server:
        client = server.connect()
        client.ask(ECHO)
        client.send(client.frame(ECHO, b"last"))
        server.wait(lambda: _count(server) == 2)
    with client:
        assert [answer.body for answer in client.read(2)] == [b"last"]
    assert server.core.closed == [1]


def _count(server: LittleServer) -> int:
    return server.node.traffic.frames_in
