"""WIR: what encoding and numbering must preserve.

Two sides that encode differently lose messages without any fault. What is encoded decodes to an
equal value (WIR-1). A response belongs to the request whose number it carries, on each hop: a
proxy that forwards its callers' numbers on a shared connection mixes their answers (WIR-2).

Events: `codec` where somebody compared, `request` and `response` at each end of a hop.
"""

from collections.abc import Mapping
from typing import ClassVar

from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.event import Event, Outcome
from spec.history.kind import Kind
from spec.override import override


class RoundTrip(Monitor):
    """WIR-1: decoding what was encoded gives an equal value."""

    rule: ClassVar = Rule("WIR-1", "guarantee.wir.round-trip", frozenset({Kind.CODEC}))

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.CODEC: self.on_codec}

    def on_codec(self, event: Event) -> None:
        """The comparison must have come out equal."""
        self.exercised += 1
        if event.outcome is Outcome.FAIL:
            self.report(f"{event.cause} decoded to something else than was encoded", event)


class ResponseMatched(Monitor):
    """WIR-2: a response is taken for exactly the request that caused it."""

    rule: ClassVar = Rule("WIR-2", "guarantee.wir.response-matched", frozenset({Kind.REQUEST, Kind.RESPONSE}))

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._open: dict[tuple[str, str, int], Event] = {}
        """Node, hop and number to the newest request under it."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.REQUEST: self.on_request, Kind.RESPONSE: self.on_response}

    def on_request(self, event: Event) -> None:
        """The number stands for this request from now on."""
        self._open[event.node, event.address, event.request] = event

    def on_response(self, event: Event) -> None:
        """The answer under this number must have been made for the request under this number."""
        request = self._open.pop((event.node, event.address, event.request), None)
        if request is None:
            return
        self.exercised += 1
        if request.message != event.message:
            summary = f"answer {event.request} on {event.address} was made for {event.message}"
            self.report(f"{summary}, not for {request.message}", request, event)
