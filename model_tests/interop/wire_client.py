"""A blocking client on one socket: one request, then its answer."""

import socket
import time
from itertools import count
from types import TracebackType
from typing import Final, Self

from model_tests.dialogue import Dialogue
from spec.override import override
from spec.wire.code import RequestCode
from spec.wire.frame import Frame, FrameReader, encode_frame
from spec.wire.header.codec import CustomHeader
from spec.wire.header.table import REQUEST_HEADERS
from spec.wire.language import Language
from spec.wire.remoting_header import is_reply_to
from spec.wire.version import Version

ANSWER_LIMIT_SECONDS: Final = 30.0
RECEIVE_BYTES: Final = 1 << 16
POLL_SECONDS: Final = 0.05


class WireClient(Dialogue):
    """A connection to one name server or broker."""

    def __init__(self, port: int, address: str = "127.0.0.1") -> None:
        self._socket = socket.create_connection((address, port), ANSWER_LIMIT_SECONDS)
        self._reader = FrameReader()
        self._opaques = count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    @override
    def ask(self, code: RequestCode, header: CustomHeader | None = None, body: bytes = b"") -> Frame:
        """The answer, whatever it says; pushes by the server that arrive before it are passed over."""
        opaque = next(self._opaques)
        fields = REQUEST_HEADERS[code].encode(header) if header is not None else None
        request = Frame(code, Language.PYTHON, Version.V4_9_3, opaque, extension_fields=fields, body=body)
        self._socket.sendall(encode_frame(request))
        until = time.monotonic() + ANSWER_LIMIT_SECONDS
        while time.monotonic() < until:
            data = self._socket.recv(RECEIVE_BYTES)
            if not data:
                raise ConnectionError(f"the peer closed the connection instead of answering {code.name}")
            for frame in self._reader.feed(data):
                if is_reply_to(frame.flag, frame.opaque, opaque):
                    return frame
        raise TimeoutError(f"no answer to {code.name}")

    def wait_dispatched(self) -> None:
        """Everything in the log can be read: no byte of it waits to be dispatched."""
        until = time.monotonic() + ANSWER_LIMIT_SECONDS
        while self.runtime_info()["dispatchBehindBytes"] != "0":
            assert time.monotonic() < until, "the broker does not dispatch what it stored"
            time.sleep(POLL_SECONDS)
