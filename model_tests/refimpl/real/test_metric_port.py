"""Metrics: the text that Prometheus reads, and the port where it does."""

import asyncio
from collections.abc import Iterator

import pytest

from refimpl.metric import Metric, MetricKind
from refimpl.real import metric_port
from refimpl.real.metric_port import PLACES, REQUEST_BYTES, MetricPeer, derive_response
from refimpl.real.metric_text import encode_metrics
from refimpl.real.port import Port


def _metrics() -> Iterator[Metric]:
    yield Metric("a_total", "How many.", MetricKind.COUNTER, 3, (("role", "x"),))
    yield Metric("b_bytes", "Line\nbreak and \\.", MetricKind.GAUGE, 0.5)
    yield Metric("a_total", "How many.", MetricKind.COUNTER, 2**60, (("role", 'q"\n\\'), ("code", "7")))


TEXT = """\
# HELP a_total How many.
# TYPE a_total counter
a_total{role="x"} 3
a_total{role="q\\"\\n\\\\",code="7"} 1152921504606846976
# HELP b_bytes Line break and \\\\.
# TYPE b_bytes gauge
b_bytes 0.5
"""


def test_metrics_are_one_block_a_name() -> None:
    assert encode_metrics(_metrics()) == TEXT


@pytest.mark.parametrize(
    ("request_line", "status", "body"),
    [
        (b"GET /metrics HTTP/1.1", b"200 OK", TEXT.encode()),
        (b"GET /metrics?name=a HTTP/1.0", b"200 OK", TEXT.encode()),
        (b"HEAD /metrics HTTP/1.1", b"200 OK", b""),
        (b"GET / HTTP/1.1", b"404 Not Found", b"metrics are at /metrics\n"),
        (b"POST /metrics HTTP/1.1", b"405 Method Not Allowed", b"only GET is served\n"),
        (b"\xff\x00", b"405 Method Not Allowed", b"only GET is served\n"),
    ],
)
def test_one_page_is_served(request_line: bytes, status: bytes, body: bytes) -> None:
    response = derive_response(request_line + b"\r\nHost: x\r\n\r\n", _metrics)
    head, _, content = response.partition(b"\r\n\r\n")
    assert head.split(b"\r\n")[0] == b"HTTP/1.0 " + status
    assert content == body


async def _ask(port: Port, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port.number)
    writer.write(data)
    answer = await reader.read()
    writer.close()
    return answer


def test_a_request_may_come_in_pieces_and_must_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metric_port, "REQUEST_SECONDS", 0.1)

    async def run() -> None:
        peers: set[MetricPeer] = set()
        port = Port("127.0.0.1", 0)
        await port.serve_with(lambda: MetricPeer(_metrics, peers))
        assert (await _ask(port, b"GET /metrics HTTP/1.1\r\n\r\n")).endswith(TEXT.encode())
        assert (await _ask(port, b"x" * (REQUEST_BYTES + 1))).startswith(b"HTTP/1.0 431 ")
        assert await _ask(port, b"GET /metrics") == b""
        assert not peers
        port.close()

    asyncio.run(run())


def test_watchers_have_few_places() -> None:
    async def run() -> None:
        peers: set[MetricPeer] = set()
        port = Port("127.0.0.1", 0)
        await port.serve_with(lambda: MetricPeer(_metrics, peers))
        idle = [await asyncio.open_connection("127.0.0.1", port.number) for _ in range(PLACES)]
        while len(peers) < PLACES:  # noqa: ASYNC110 - nobody tells that all have arrived
            await asyncio.sleep(0.001)
        assert await _ask(port, b"GET /metrics HTTP/1.1\r\n\r\n") == b""
        for _, writer in idle:
            writer.close()
            await writer.wait_closed()
        port.close()

    asyncio.run(run())
