"""One send at a time over a blocking socket: how long each took, from the request to its answer."""

import gc
import socket
import time
from typing import Final, NamedTuple

from model_tests.bench.load_reply import LoadError, ReplyBuffer
from model_tests.bench.load_work import SendWork, send_singly

ANSWER_LIMIT_SECONDS: Final = 30.0


class Latencies(NamedTuple):
    """How long the sends of one run took."""

    messages: int
    """All that were sent, those to warm up included."""
    watched: int
    median_ms: float
    p99_ms: float
    highest_ms: float


def _send_once(connection: socket.socket, work: SendWork, buffer: ReplyBuffer) -> float:
    """Seconds from the request to the end of its answer."""
    request = work.issue()
    started = time.perf_counter()
    connection.sendall(request)
    while work.waiting:
        arrived = connection.recv_into(buffer.room())
        if arrived == 0:
            raise LoadError("the peer closed the connection instead of answering")
        replies = buffer.take(arrived)
        for reply in replies:
            work.settle(reply, buffer.memory)
        buffer.keep_rest(replies)
    return time.perf_counter() - started


def _send_during(
    seconds: float, connection: socket.socket, work: SendWork, buffer: ReplyBuffer
) -> list[float]:
    """How long each send took, as many as the time allowed."""
    taken: list[float] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        taken.append(_send_once(connection, work, buffer))
    return taken


def derive_latencies(messages: int, seconds: list[float]) -> Latencies:
    """The median, the 99th percentile (99 of 100 are no longer) and the longest."""
    ordered = sorted(seconds)
    p99 = ordered[-(-len(ordered) * 99 // 100) - 1]
    median = ordered[len(ordered) // 2]
    return Latencies(messages, len(ordered), median * 1000, p99 * 1000, ordered[-1] * 1000)


def run_latency(topic: str, queue_count: int, warm_up: float, window: float, port: int) -> Latencies:
    """Sends went to the broker one after the other, for so many seconds each."""
    gc.disable()
    work, buffer = send_singly(topic, range(queue_count), 0), ReplyBuffer()
    with socket.create_connection(("127.0.0.1", port), ANSWER_LIMIT_SECONDS) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        warming = _send_during(warm_up, connection, work, buffer)
        watched = _send_during(window, connection, work, buffer)
    return derive_latencies(len(warming) + len(watched), watched)
