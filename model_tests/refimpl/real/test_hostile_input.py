"""Whatever comes over a socket: one clear line, one closed connection, and nobody else notices."""

import random
import re
import time
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from model_tests.refimpl.real.little_server import (
    BREAK,
    ECHO,
    GROW,
    HOLD,
    SLOW,
    LittleServer,
    run_server,
)
from refimpl.real.limit import Limits
from spec.wire.frame import FRAME_LIMIT

MIB: Final = 1 << 20
BEGUN: Final = (MIB).to_bytes(4, "big") + b"\0\0\0\x02{}"
"""A frame of a MiB, of which only the header is there."""


def _refusals(server: LittleServer) -> list[tuple[str, str]]:
    """Peer and reason of the refusals in the log, in their order."""
    pattern = re.compile(r'^WARNING connection: connection refused role=little peer=(\S+) reason="(.*)"$')
    return [(found[1], found[2]) for line in server.log if (found := pattern.match(line))]


def _read_resident_mib() -> float:
    found = re.search(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text("ascii"))
    assert found
    return int(found[1]) / 1024


def _has_come(server: LittleServer, count: int) -> bool:
    return server.node.traffic.bytes_in == count


@pytest.mark.parametrize(
    ("data", "position", "reason"),
    [
        (
            (FRAME_LIMIT - 3).to_bytes(4, "big"),
            0,
            f"frame of {FRAME_LIMIT + 1} bytes, expected at most {FRAME_LIMIT} [wire.frame.limit]",
        ),
        (
            b"\x7f\xff\xff\xff",
            0,
            "first byte 0x7f, expected 0x00: no legal frame is that long [wire.frame.first-byte]",
        ),
        (
            b"\0\0\0\x10\0\0\0\x20",
            5,
            "header of 32 bytes in a frame that has 12 left for it [wire.frame.header-within]",
        ),
        (b"\0\0\0\x03", 0, "length 3, expected at least 4 [wire.frame.length]"),
        (b"\0\0\0\x10\x07", 4, "header type 7, expected 0 (JSON) or 1 (ROCKETMQ) [wire.frame.type]"),
        (
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            0,
            (
                "this is HTTP/2, so probably a gRPC client: it belongs at the proxy's gRPC port, not here"
                " [wire.frame.first-byte]"
            ),
        ),
        (
            b"GET / HTTP/1.1\r\n\r\n",
            0,
            "this is HTTP: the port speaks the remoting protocol [wire.frame.first-byte]",
        ),
        (
            b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
            0,
            (
                "first byte 0x16 is a TLS hello: this side expects plain frames, turn TLS off or terminate it"
                " [wire.frame.first-byte]"
            ),
        ),
        (
            b"\0\0\0\x08\0\0\0\x04{]}}",
            9,
            "header JSON: Expecting property name enclosed in double quotes [wire.json-header.syntax]",
        ),
    ],
    ids=["limit", "huge", "header", "short", "type", "http2", "http", "tls", "json"],
)
def test_what_is_no_frame_closes_its_connection_and_the_log_says_why(
    data: bytes, position: int, reason: str
) -> None:
    with run_server() as server, server.connect() as good, server.connect() as bad:
        assert good.ask(ECHO, b"before") == b"before"
        first = bad.frame(ECHO, b"whole")
        bad.send(first + data)
        answers = bad.read(2)
        assert good.ask(ECHO, b"after") == b"after"
        assert [answer.body for answer in answers] == [b"whole"]
        assert _refusals(server) == [(bad.name, f"byte {len(first) + position}: {reason}")]


def test_a_frame_that_does_not_become_whole_in_time_closes_its_connection() -> None:
    with run_server(Limits(frame_ms=150, sweep_ms=20)) as server, server.connect() as good:
        with server.connect() as slow:
            for byte in BEGUN[:10]:
                slow.send(bytes([byte]))
                assert good.ask(ECHO, b"still") == b"still"
                time.sleep(0.005)
            assert slow.read_end() == b""
            ((peer, reason),) = _refusals(server)
            assert (peer, reason) == (slow.name, "a frame is not whole after 150 ms, 10 bytes of it came")
        assert good.ask(ECHO, b"after") == b"after"


def test_a_peer_that_sends_whole_frames_may_always_have_begun_another() -> None:
    with run_server(Limits(frame_ms=150, sweep_ms=20)) as server, server.connect() as client:
        for _ in range(8):
            frame = client.frame(ECHO, b"x")
            client.send(frame[:5])
            time.sleep(0.04)
            client.send(frame[5:])
            assert [answer.body for answer in client.read()] == [b"x"]
        assert _refusals(server) == []


def test_a_silent_connection_is_closed_and_one_that_talks_is_not() -> None:
    with (
        run_server(Limits(idle_ms=200, sweep_ms=20)) as server,
        server.connect() as silent,
        server.connect() as talking,
    ):
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            assert talking.ask(ECHO, b"here") == b"here"
            time.sleep(0.02)
        assert silent.read_end() == b""
        assert talking.ask(ECHO, b"here") == b"here"
        (line,) = [line for line in server.log if silent.name in line]
        reason = "nothing was read or written for 200 ms"
        assert line == f'INFO little: connection closed peer={silent.name} reason="{reason}"'


def test_a_flood_of_connections_that_say_nothing_takes_no_place_from_those_that_speak() -> None:
    with run_server(Limits(connections=20)) as server, ExitStack() as stack:
        good = [stack.enter_context(server.connect()) for _ in range(5)]
        for client in good:
            assert client.ask(ECHO, b"early") == b"early"
        flood = [stack.enter_context(server.connect()) for _ in range(60)]
        late = stack.enter_context(server.connect())
        assert late.ask(ECHO, b"late") == b"late"
        for client in good:
            assert client.ask(ECHO, b"still") == b"still"
        # The oldest give way, one for each that comes.
        for client in flood[: 60 + 1 - 15]:
            assert client.read_end() == b""
        assert len(server.node.connections) == 20
        assert _refusals(server)[0] == (
            flood[0].name,
            "all places are taken, and it never sent a whole frame",
        )
        assert len(_refusals(server)) == 10, "ten lines in ten seconds, the rest is counted"


def test_a_connection_too_many_is_turned_away() -> None:
    with run_server(Limits(connections=3)) as server, ExitStack() as stack:
        good = [stack.enter_context(server.connect()) for _ in range(3)]
        for client in good:
            assert client.ask(ECHO, b"early") == b"early"
        with server.connect() as late:
            assert late.read_end() == b""
            assert _refusals(server) == [(late.name, "3 connections are open, expected at most that many")]
        good.pop().socket.close()
        server.wait(lambda: len(server.node.connections) == 2)
        with server.connect() as again:
            assert again.ask(ECHO, b"now") == b"now"


def test_a_peer_that_does_not_read_is_cut_off_and_others_are_served() -> None:
    limits = Limits(write_limit_bytes=4 * MIB, write_high_bytes=MIB, frames_per_connection=64)
    with run_server(limits) as server, server.connect() as good, server.connect() as deaf:
        before = _read_resident_mib()
        deaf.send(b"".join(deaf.frame(GROW, b"1000000") for _ in range(2_000)))
        server.wait(lambda: bool(_refusals(server)))
        assert good.ask(ECHO, b"after") == b"after"
        ((peer, reason),) = _refusals(server)
        assert peer == deaf.name
        assert re.fullmatch(r"it does not read: \d+ bytes wait for it, expected at most 4194304", reason)
        # One turn's answers are the most that is ever waiting: 64 of a million bytes.
        assert _read_resident_mib() - before < 200


def test_a_peer_that_reads_slowly_gets_everything_and_is_asked_to_wait() -> None:
    limits = Limits(write_limit_bytes=16 * MIB, write_high_bytes=MIB, frames_per_connection=4)
    with run_server(limits) as server, server.connect() as slow, server.connect() as good:
        slow.send(b"".join(slow.frame(GROW, b"1000000") for _ in range(60)))
        # The system takes a few answers; the others wait until it can take more.
        server.wait(lambda: server.node.traffic.frames_in >= 1)
        time.sleep(0.1)
        assert good.ask(ECHO, b"x") == b"x"
        assert server.node.traffic.frames_in < 60
        answers = slow.read(60)
        assert [len(answer.body) for answer in answers] == [1_000_000] * 60
        assert _refusals(server) == []


def test_unfinished_frames_of_all_connections_together_are_bounded() -> None:
    with run_server(Limits(held_bytes=2 * MIB)) as server, ExitStack() as stack:
        good = stack.enter_context(server.connect())
        assert good.ask(ECHO, b"early") == b"early"
        bytes_before = server.node.traffic.bytes_in
        clients = [stack.enter_context(server.connect()) for _ in range(8)]
        for number, client in enumerate(clients, 1):
            client.send(BEGUN + bytes(500_000))
            come = number * (len(BEGUN) + 500_000) + bytes_before
            server.wait(partial(_has_come, server, come))
        # Eight half frames do not fit: the oldest ones had to go, and the newest are there.
        for client in clients[:4]:
            assert client.read_end() == b""
        clients[-1].send(bytes(MIB - 500_000 - 6))
        assert len(clients[-1].read()) == 1
        # While that one became whole, one more had to go.
        assert clients[4].read_end() == b""
        assert good.ask(ECHO, b"after") == b"after"
        assert [peer for peer, _ in _refusals(server)] == [client.name for client in clients[:5]]
        assert _refusals(server)[0][1].endswith(
            "bytes of unfinished frames are held, and this one is the oldest"
        )
        assert server.node.process.held_bytes <= 2 * MIB


def test_a_flood_of_requests_on_one_connection_does_not_delay_another() -> None:
    with (
        run_server(Limits(frames_per_connection=16)) as server,
        server.connect() as flood,
        server.connect() as good,
    ):
        frames = b"".join(flood.frame(ECHO, b"flood", is_oneway=True) for _ in range(20_000))
        assert good.ask(ECHO, b"early") == b"early"
        flood.send(frames)
        assert good.ask(ECHO, b"meanwhile") == b"meanwhile"
        server.wait(lambda: len(server.core.fed) == 20_002)
        at = next(place for place, fed in enumerate(server.core.fed) if fed[2] == b"meanwhile")
        assert at < 20_000, "it was handled before the flood was over"
        steps = [after - before for before, after in pairwise(server.core.turns)]
        assert max(steps) <= 16 + 1


def test_requests_that_take_long_do_not_add_up_before_another_has_its_turn() -> None:
    with run_server() as server, ExitStack() as stack:
        good = stack.enter_context(server.connect())
        floods = [stack.enter_context(server.connect()) for _ in range(3)]
        assert good.ask(ECHO) == b""
        for flood in floods:
            flood.send(b"".join(flood.frame(SLOW, b"20") for _ in range(15)))
        server.wait(lambda: len(server.core.fed) > 1)
        for _ in range(3):
            before = len(server.core.fed)
            assert good.ask(ECHO, b"meanwhile") == b"meanwhile"
            # At most: the round under way, and one more in which it comes last.
            assert len(server.core.fed) - before <= 2 * len(floods) + 1
        server.wait(lambda: len(server.core.fed) == 1 + 3 + 45)


def test_a_turn_that_is_full_begins_the_next_one_with_those_it_left_out() -> None:
    with run_server(Limits(frames_per_connection=8, frames_per_turn=8)) as server, ExitStack() as stack:
        floods = [stack.enter_context(server.connect()) for _ in range(4)]
        server.call(lambda _: time.sleep(0.1))
        for flood in floods:
            flood.send(b"".join(flood.frame(ECHO) for _ in range(200)))
        server.wait(lambda: len(server.core.fed) == 800)
        seen = [number for number, _, _ in server.core.fed]
        for number in set(seen):
            places = [place for place, other in enumerate(seen) if other == number]
            assert max(after - before for before, after in pairwise(places)) <= 4 * 8


def test_unanswered_requests_of_one_connection_are_bounded() -> None:
    with (
        run_server(Limits(requests_in_hand=100)) as server,
        server.connect() as flood,
        server.connect() as good,
    ):
        flood.send(b"".join(flood.frame(HOLD) for _ in range(5_000)))
        server.wait(lambda: server.node.traffic.frames_in >= 100)
        assert good.ask(ECHO, b"meanwhile") == b"meanwhile"
        time.sleep(0.05)
        assert server.node.traffic.frames_in == 100 + 1


def test_a_mistake_of_the_core_ends_one_connection_only() -> None:
    with run_server() as server, server.connect() as good, server.connect() as bad:
        bad.send(bad.frame(BREAK))
        assert bad.read_end() == b""
        assert good.ask(ECHO, b"after") == b"after"
        assert _refusals(server) == [(bad.name, f"its frame with code {int(BREAK)} could not be handled")]
        assert any("a mistake of ours" in line for line in server.log)


def test_random_bytes_harm_nobody() -> None:
    entropy = random.Random(7)
    with run_server() as server, server.connect() as good:
        for number in range(200):
            with server.connect() as bad:
                noise = entropy.randbytes(entropy.randint(1, 400))
                head = entropy.choice([b"", b"\0", b"\0\0\0", b"\0\0\0\x30\0\0\0", bad.frame(ECHO)[:-3]])
                bad.send(head + noise)
            if number % 20 == 0:
                assert good.ask(ECHO, b"still") == b"still"
        server.wait(lambda: len(server.node.connections) == 1)
        assert good.ask(ECHO, b"after") == b"after"
        assert server.node.process.held_bytes == 0
        assert not any("turn failed" in line for line in server.log)


def test_a_frame_that_is_cut_off_by_the_end_of_its_connection_is_told() -> None:
    with run_server() as server, server.connect() as client:
        frame = client.frame(ECHO, b"half")
        client.send(client.frame(ECHO, b"whole") + frame[:-1])
        client.socket.shutdown(1)
        assert [answer.body for answer in client.read(2)] == [b"whole"]
        server.wait(lambda: bool(_refusals(server)))
        ((peer, reason),) = _refusals(server)
        assert peer == client.name
        assert reason.endswith(
            f"the bytes end after {len(frame) - 1}, expected a frame of {len(frame)} [wire.frame.whole]"
        )
