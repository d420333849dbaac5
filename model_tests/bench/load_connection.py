"""A connection that always has the same number of requests in flight: an answer makes room for the next."""

import asyncio
from typing import Final

from model_tests.bench.load_reply import LoadError, ReplyBuffer
from model_tests.bench.load_work import Work
from spec.override import override


class LoadConnection(asyncio.BufferedProtocol):
    """Closed loop over one socket; the first failure of any connection is kept for all of them."""

    def __init__(self, work: Work, in_flight: int, failure: asyncio.Future[None]) -> None:
        self.messages = 0
        self._work: Final = work
        self._in_flight: Final = in_flight
        self._failure: Final = failure
        self._buffer: Final = ReplyBuffer()
        self._is_ending = False
        self._transport: asyncio.Transport | None = None

    def start(self, transport: asyncio.Transport) -> None:
        """The first requests are on their way."""
        self._transport = transport
        self._ask(self._in_flight)

    @override
    def get_buffer(self, _sizehint: int) -> memoryview:
        return self._buffer.room()

    @override
    def buffer_updated(self, nbytes: int) -> None:
        try:
            self._take(nbytes)
        except Exception as error:  # noqa: BLE001  # whatever it was, the run must end with it
            self._fail(error)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        if not self._is_ending:
            self._fail(exc or LoadError("the peer closed a connection"))

    @property
    def waiting(self) -> int:
        """Requests without an answer."""
        return self._work.waiting

    def end(self) -> None:
        """No further request is sent."""
        self._is_ending = True

    def close(self) -> None:
        """The socket is closed."""
        if self._transport is not None:
            self._transport.close()

    def _take(self, arrived: int) -> None:
        buffer, settle = self._buffer, self._work.settle
        replies = buffer.take(arrived)
        for reply in replies:
            self.messages += settle(reply, buffer.memory)
        buffer.keep_rest(replies)
        if not self._is_ending:
            self._ask(len(replies))

    def _ask(self, count: int) -> None:
        """So many more requests are on their way, in one write."""
        if count and self._transport is not None:
            issue = self._work.issue
            self._transport.write(b"".join([issue() for _ in range(count)]))

    def _fail(self, error: Exception) -> None:
        self._is_ending = True
        if not self._failure.done():
            self._failure.set_exception(error)
