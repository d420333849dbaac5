"""A counter of messages and bytes, and what it had come to lately."""

from spec.broker.statistic import Figures, Sample, Span, derive_figures, note_sample

Samples = dict[Span, tuple[Sample, ...]]


class Tally:
    """What was counted since the broker started; adding is all that a message pays for."""

    __slots__ = ("byte_count", "bytes_lately", "calls", "message_count", "messages_lately")

    def __init__(self) -> None:
        """Nothing yet."""
        self.message_count = 0
        self.byte_count = 0
        self.calls = 0
        self.messages_lately: Samples = dict.fromkeys(Span, ())
        self.bytes_lately: Samples = dict.fromkeys(Span, ())

    def sample(self, span: Span, now_ms: int) -> None:
        """The counter is noted for the span."""
        messages = Sample(now_ms, self.message_count, self.calls)
        self.messages_lately[span] = note_sample(self.messages_lately[span], messages, span)
        size = Sample(now_ms, self.byte_count, self.calls)
        self.bytes_lately[span] = note_sample(self.bytes_lately[span], size, span)

    def messages(self, span: Span) -> Figures:
        """The messages of the span."""
        return derive_figures(self.messages_lately[span])

    def bytes(self, span: Span) -> Figures:
        """The bytes of the span."""
        return derive_figures(self.bytes_lately[span])

    @property
    def is_idle(self) -> bool:
        """Whether nothing was counted for a whole day."""
        day = self.messages_lately[Span.DAY]
        return len(day) > Span.DAY.periods and day[0].calls == self.calls
