"""What went over the connections of one role, counted."""

from collections.abc import Iterator

from refimpl.metric import Metric, MetricKind
from spec.wire.code import RequestCode

_NAMES = {int(code): code.name.lower() for code in RequestCode}


class Traffic:
    """Counters of one role; they only rise."""

    __slots__ = (
        "bytes_in",
        "bytes_out",
        "closed",
        "frames_in",
        "frames_out",
        "opened",
        "part",
        "refusals",
        "requests",
        "turns",
    )

    def __init__(self, part: str) -> None:
        self.part = part
        self.opened = 0
        self.closed = 0
        self.frames_in = 0
        self.frames_out = 0
        self.bytes_in = 0
        self.bytes_out = 0
        self.turns = 0
        self.requests: dict[int, int] = {}
        """By code; a code without a name is counted under -1, or a peer could make the table large."""
        self.refusals: dict[str, int] = {}
        """Connections that were closed because of their peer, by the reason."""

    def count_request(self, code: int) -> None:
        """One more request of the code."""
        known = code if code in _NAMES else -1
        self.requests[known] = self.requests.get(known, 0) + 1

    def count_refusal(self, reason: str) -> None:
        """One more connection was closed for the reason."""
        self.refusals[reason] = self.refusals.get(reason, 0) + 1

    def metrics(self) -> Iterator[Metric]:
        """All of it."""
        role = (("role", self.part),)
        open_count = self.opened - self.closed
        yield Metric("mqspec_connections", "Open connections.", MetricKind.GAUGE, open_count, role)
        for name, text, value in (
            ("connections_opened", "Connections that were opened.", self.opened),
            ("turns", "Rounds of reading, handling and answering.", self.turns),
        ):
            yield Metric(f"mqspec_{name}_total", text, MetricKind.COUNTER, value, role)
        for name, text, into, out in (
            ("frames", "Frames, by direction.", self.frames_in, self.frames_out),
            ("bytes", "Bytes on the wire, by direction.", self.bytes_in, self.bytes_out),
        ):
            for direction, value in (("in", into), ("out", out)):
                labels = (*role, ("direction", direction))
                yield Metric(f"mqspec_{name}_total", text, MetricKind.COUNTER, value, labels)
        for code in sorted(self.requests):
            labels = (*role, ("request", _NAMES.get(code, "unknown")))
            text = "Requests, by their code."
            yield Metric("mqspec_requests_total", text, MetricKind.COUNTER, self.requests[code], labels)
        for reason in sorted(self.refusals):
            labels = (*role, ("reason", reason))
            text = "Connections closed because of what the peer did."
            yield Metric("mqspec_refusals_total", text, MetricKind.COUNTER, self.refusals[reason], labels)
