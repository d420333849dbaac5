"""A port on which whoever watches the process reads its metrics, over HTTP.

It serves `GET /metrics` and nothing else, one request a connection, and shares the loop with the
roles: so it holds little, waits little, and has few places.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from refimpl.metric import Metric
from refimpl.real.metric_text import encode_metrics
from spec.override import override

REQUEST_BYTES: Final = 8_192
"""The longest request; a decision, as are the next two."""
REQUEST_SECONDS: Final = 5.0
PLACES: Final = 16

_END: Final = b"\r\n\r\n"
_TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"


class MetricPeer(asyncio.Protocol):
    """One connection: a request, an answer, the end."""

    def __init__(self, read: Callable[[], Iterable[Metric]], peers: "set[MetricPeer]") -> None:
        self._read = read
        self._peers = peers
        self._request = b""
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are none of asyncio's classes, but have all their methods.
        self._transport = transport  # type: ignore[assignment]
        if len(self._peers) >= PLACES:
            transport.close()
            return
        self._peers.add(self)
        self._timer = asyncio.get_running_loop().call_later(REQUEST_SECONDS, transport.close)

    @override
    def data_received(self, data: bytes) -> None:
        self._request += data
        if _END in self._request:
            self._end(derive_response(self._request, self._read))
        elif len(self._request) > REQUEST_BYTES:
            self._end(_response("431 Request Header Fields Too Large", "the request is too long\n"))

    @override
    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the loop's name for it
        self._peers.discard(self)
        if self._timer is not None:
            self._timer.cancel()

    def _end(self, response: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(response)
            self._transport.close()


def derive_response(request: bytes, read: Callable[[], Iterable[Metric]]) -> bytes:
    """The answer to a request."""
    method, _, rest = request.partition(b"\r\n")[0].partition(b" ")
    path = rest.partition(b" ")[0].partition(b"?")[0]
    if method not in {b"GET", b"HEAD"}:
        return _response("405 Method Not Allowed", "only GET is served\n")
    if path != b"/metrics":
        return _response("404 Not Found", "metrics are at /metrics\n")
    response = _response("200 OK", encode_metrics(read()))
    return response if method == b"GET" else response[: response.index(_END) + len(_END)]


def _response(status: str, text: str) -> bytes:
    body = text.encode("utf-8", "backslashreplace")
    head = f"HTTP/1.0 {status}\r\nContent-Type: {_TEXT}\r\nContent-Length: {len(body)}\r\n"
    return head.encode("ascii") + b"Connection: close\r\n\r\n" + body
