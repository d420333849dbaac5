"""What happened to the processes and links of a run, as far as it excuses somebody.

A process that was seen to start has no past outside the run. One that was paused may do one step
that it had decided on before the pause. A request that was lost explains why something is late.
"""

from collections.abc import Mapping

from spec.guarantees.monitor import Fold, Folds, Handler, Terms
from spec.history.cause import FaultCause
from spec.history.event import Event
from spec.history.kind import Kind
from spec.override import override


class Environment(Fold):
    """Starts and pauses of processes, and the latest trouble with requests."""

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self.up: dict[str, Event] = {}
        """Node to its latest start."""
        self.paused: dict[str, Event] = {}
        """Node to the latest beginning or end of a pause."""
        self.acting: set[tuple[str, str]] = set()
        """Node and cause of every fault that has not been healed."""
        self._trouble = -1

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.UP: self.on_up,
            Kind.FAULT: self.on_fault,
            Kind.HEAL: self.on_heal,
            Kind.RPC: self.on_rpc,
        }

    def on_up(self, event: Event) -> None:
        """The process has begun; a pause ended with the one before it."""
        self.up[event.node] = event
        self.acting.discard((event.node, FaultCause.PAUSE))

    def on_fault(self, event: Event) -> None:
        """Something disturbs the run until it is healed."""
        self._trouble = event.sequence
        self.acting.add((event.node, event.cause))
        if event.cause == FaultCause.PAUSE:
            self.paused[event.node] = event

    def on_heal(self, event: Event) -> None:
        """The disturbance is over."""
        self._trouble = event.sequence
        self.acting.discard((event.node, event.cause))
        if event.cause == FaultCause.PAUSE:
            self.paused[event.node] = event

    def on_rpc(self, event: Event) -> None:
        """A request failed."""
        self._trouble = event.sequence

    def is_smooth_since(self, sequence: int) -> bool:
        """Whether no request failed after that event and no fault was or is acting."""
        return not self.acting and self._trouble <= sequence
