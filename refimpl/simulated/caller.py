"""A scripted client: it sends what it is told to, and keeps what comes back.

A call lets the world go on until its answer is there; everything else happens meanwhile.
"""

from itertools import count
from typing import Final

from refimpl.remoting.calls import derive_request
from refimpl.simulated.link import LinkEnd
from refimpl.simulated.network import Network
from refimpl.simulated.scheduler import Scheduler
from spec.values.host import Host, host_of
from spec.wire.frame import Frame, FrameReader, encode_frame
from spec.wire.header.codec import CustomHeader
from spec.wire.header.table import REQUEST_HEADERS
from spec.wire.remoting_header import is_response

HERE: Final = host_of("127.0.0.1", 0)
CALL_LIMIT_MS: Final = 60_000
"""How long a call waits for its answer: longer than a pull is held."""


class CallerError(Exception):
    """What the script expects of the other side did not happen."""


class Caller:
    """One connection to one node, with all that came over it."""

    def __init__(self, name: str, scheduler: Scheduler, network: Network, address: str) -> None:
        self.name = name
        self.is_open = False
        self.is_closed = False
        self.replies: dict[int, Frame] = {}
        """The answers so far, by the opaques of their requests."""
        self.pushes: list[Frame] = []
        """The requests of the other side, in the order of their arrival."""
        self._scheduler = scheduler
        self._network = network
        self._reader = FrameReader()
        self._opaques = count(1)
        self._end = network.connect(self, 0, HERE.address, address)
        scheduler.run_while(lambda: not (self.is_open or self.is_closed), scheduler.now_ms + CALL_LIMIT_MS)

    def request(self, code: int, header: CustomHeader | None = None, body: bytes = b"") -> int:
        """The request is on its way; its opaque."""
        opaque = next(self._opaques)
        fields = None if header is None else REQUEST_HEADERS[code].encode(header)
        self.send(derive_request(code, opaque, fields, body, is_oneway=False))
        return opaque

    def call(self, code: int, header: CustomHeader | None = None, body: bytes = b"") -> Frame:
        """The answer to the request, whatever it says."""
        return self.await_reply(self.request(code, header, body))

    def await_reply(self, opaque: int, limit_ms: int = CALL_LIMIT_MS) -> Frame:
        """The answer to what was sent under this opaque; it must come within the limit."""
        limit_ms += self._scheduler.now_ms
        self._scheduler.run_while(lambda: opaque not in self.replies and not self.is_closed, limit_ms)
        if opaque not in self.replies:
            raise CallerError(f"no answer to {opaque}: the connection {self._describe()}")
        return self.replies[opaque]

    def send(self, frame: Frame) -> None:
        """The frame is on its way."""
        self.send_bytes(encode_frame(frame))

    def send_bytes(self, data: bytes) -> None:
        """The bytes are on their way, whatever they are."""
        self._network.send(self._end, data)

    def close(self) -> None:
        """The connection is closed."""
        self._network.close(self._end)

    # What the network brings

    def on_open(self, end: LinkEnd, peer: Host) -> None:  # noqa: ARG002 - there is only this one
        """The script can go on."""
        self.is_open = True

    def on_data(self, end: LinkEnd, data: bytes) -> None:  # noqa: ARG002 - there is only this one
        """Answers and pushes are kept; nothing is answered twice."""
        for frame in self._reader.feed(data):
            if not is_response(frame.flag):
                self.pushes.append(frame)
            elif frame.opaque in self.replies:
                raise CallerError(f"request {frame.opaque} was answered twice")
            else:
                self.replies[frame.opaque] = frame

    def on_close(self, end: LinkEnd) -> None:  # noqa: ARG002 - there is only this one
        """Nothing more will come."""
        self.is_open, self.is_closed = False, True

    def _describe(self) -> str:
        return "was closed" if self.is_closed else "is open"
