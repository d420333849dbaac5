"""STO: what the storage engine owes its queues.

"The broker never loses a message" depends on flush and replication settings. What holds whatever
the settings is that a queue is a function of the log: an offset names one message (STO-1), after
recovery the index covers exactly the valid log (STO-2), and no offset is given out twice (STO-3).
What depends on the settings is whether a message that somebody could read, or was promised, may
disappear: with synchronous durability it may not (STO-4). 4.9.8 breaks that, because its index
runs ahead of the flush (K8).

Events: `append` for the log, `dispatch` for the index, `recover` and `range` after a restart,
`served` and `sent` for what was read and promised.
"""

from collections.abc import Mapping
from typing import ClassVar

from spec.dialects.hole import Hole
from spec.guarantees.fold.log import MASTER, Logs
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.event import ABSENT, Event, Outcome, QueueKey, queue_name
from spec.history.kind import Kind
from spec.override import override


class OneMessagePerOffset(Monitor):
    """STO-1: each offset maps to the one record that carries it, without gaps."""

    rule: ClassVar = Rule(
        "STO-1", "guarantee.sto.one-message-per-offset", frozenset({Kind.APPEND, Kind.DISPATCH})
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._latest: dict[tuple[str, QueueKey], Event] = {}
        """Node and queue to its newest index entry in this incarnation."""
        self._waiting: dict[tuple[str, QueueKey], dict[int, Event]] = {}
        """Node and queue to the appended records that are not in the index yet, by offset."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.APPEND: self.on_append,
            Kind.DISPATCH: self.on_dispatch,
            Kind.UP: self.on_anew,
            Kind.RECOVER: self.on_anew,
            Kind.DELETE: self.on_delete,
        }

    def on_append(self, event: Event) -> None:
        """The record waits to be indexed."""
        self._waiting.setdefault((event.node, event.queue_key), {})[event.offset] = event

    def on_dispatch(self, event: Event) -> None:
        """The entry must continue the queue and point at the record that carries its offset."""
        key = (event.node, event.queue_key)
        before = self._latest.get(key)
        self._latest[key] = event
        append = self._waiting.get(key, {}).pop(event.offset, None)
        if append is not None:
            self.exercised += 1
            if (append.message, append.position) != (event.message, event.position):
                self.report(
                    f"offset {event.offset} is indexed as another record than was appended", append, event
                )
                return
        if before is None:
            return
        self.exercised += 1
        if event.offset != before.offset + 1:
            self.report(f"offset {event.offset} follows {before.offset} in the index", before, event)
        elif event.position <= before.position:
            summary = f"offset {event.offset} is at position {event.position}, not behind {before.position}"
            self.report(summary, before, event)

    def on_anew(self, event: Event) -> None:
        """A new incarnation, or one that cut its log for a new role, may index again what it still holds."""
        for key in [key for key in self._latest if key[0] == event.node]:
            del self._latest[key]
        for key in [key for key in self._waiting if key[0] == event.node]:
            del self._waiting[key]

    def on_delete(self, event: Event) -> None:
        """A deleted topic begins again."""
        if event.status == "topic":
            for key in [key for key in self._latest if key[1][0] == event.topic]:
                del self._latest[key]


class IndexEqualsLog(Monitor):
    """STO-2: after recovery the index covers exactly the valid log."""

    rule: ClassVar = Rule(
        "STO-2", "guarantee.sto.index-equals-log", frozenset({Kind.APPEND, Kind.RECOVER, Kind.RANGE})
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._logs = folds.get(Logs)
        self._recovered: dict[str, Event] = {}
        """Brokers that recovered and have appended nothing since."""
        self._sees_retention = Kind.RETAIN in terms.observes

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.RECOVER: self.on_recover, Kind.APPEND: self.on_append, Kind.RANGE: self.on_range}

    def on_recover(self, event: Event) -> None:
        """From here to the next append, ranges speak of the recovered index."""
        if event.replica in MASTER:
            self._recovered[event.broker] = event

    def on_append(self, event: Event) -> None:
        """The recovered state is history."""
        self._recovered.pop(event.broker, None)

    def on_range(self, event: Event) -> None:
        """The index must end where the log's records of this queue end."""
        recover = self._recovered.get(event.broker)
        expected = self._logs.next_free.get(event.queue_key)
        if recover is None or expected is None or event.replica not in MASTER:
            return
        self.exercised += 1
        if event.next != expected:
            queue = f"{event.topic} {queue_name(event.broker, event.queue)}"
            self.report(
                f"the log of {queue} ends at offset {expected}, its index at {event.next}", recover, event
            )
        first = self._logs.first_kept.get(event.queue_key)
        if first is not None and first < min(event.offset, expected) and self._sees_retention:
            queue = f"{event.topic} {queue_name(event.broker, event.queue)}"
            self.report(
                f"the log of {queue} begins at or before offset {first}, its index at {event.offset}",
                recover,
                event,
            )


class OffsetAssignedOnce(Monitor):
    """STO-3: offsets of a queue rise strictly, over all incarnations and role changes."""

    rule: ClassVar = Rule(
        "STO-3", "guarantee.sto.offset-assigned-once", frozenset({Kind.APPEND, Kind.RECOVER})
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._logs = folds.get(Logs)
        self._latest: dict[QueueKey, Event] = {}

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.APPEND: self.on_append, Kind.RECOVER: self.on_recover, Kind.DELETE: self.on_delete}

    def on_append(self, event: Event) -> None:
        """The offset must be higher than every one that is still taken."""
        if event.replica not in MASTER:
            return
        key = event.queue_key
        before = self._latest.get(key)
        self._latest[key] = event
        if before is None:
            return
        self.exercised += 1
        if event.offset <= before.offset:
            self.report(f"offset {event.offset} is given out after {before.offset}", before, event)

    def on_recover(self, event: Event) -> None:
        """Offsets that the recovery took back are free again; whether it might is STO-4's question."""
        if event.replica not in MASTER:
            return
        for append in self._logs.lost.get(event.broker, ()):
            before = self._latest.get(append.queue_key)
            if before is not None and before.offset >= append.offset:
                if append.offset:
                    self._latest[append.queue_key] = append._replace(offset=append.offset - 1)
                else:
                    del self._latest[append.queue_key]

    def on_delete(self, event: Event) -> None:
        """A deleted topic begins again."""
        if event.status == "topic":
            for key in [key for key in self._latest if key[0] == event.topic]:
                del self._latest[key]


class NothingTakenBack(Monitor):
    """STO-4: what was read or promised survives the faults that the durability setting covers."""

    rule: ClassVar = Rule(
        "STO-4",
        "guarantee.sto.nothing-taken-back",
        frozenset({Kind.APPEND, Kind.RECOVER, Kind.SERVED, Kind.SENT}),
        assumes=frozenset({"A5"}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._logs = folds.get(Logs)
        self._read: dict[QueueKey, Event] = {}
        """Queue to the answer that reached furthest."""
        self._promised: dict[QueueKey, Event] = {}
        """Queue to the acknowledged send with the highest offset."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.SERVED: self.on_served, Kind.SENT: self.on_sent, Kind.RECOVER: self.on_recover}

    def on_served(self, event: Event) -> None:
        """Consumers have seen the queue up to here."""
        if event.status == "found":
            furthest = self._read.get(event.queue_key)
            if furthest is None or furthest.next < event.next:
                self._read[event.queue_key] = event

    def on_sent(self, event: Event) -> None:
        """A producer was promised the message."""
        if event.outcome is Outcome.OK and event.offset != ABSENT:
            highest = self._promised.get(event.queue_key)
            if highest is None or highest.offset < event.offset:
                self._promised[event.queue_key] = event

    def on_recover(self, event: Event) -> None:
        """Nothing that was read or promised may be among what the recovery took back."""
        if event.replica not in MASTER:
            return
        self.exercised += 1
        lowest: dict[QueueKey, Event] = {
            append.queue_key: append for append in self._logs.lost.get(event.broker, ())
        }
        for key, append in lowest.items():
            read, promised = self._read.pop(key, None), self._promised.pop(key, None)
            if read is not None and read.next > append.offset:
                self._breach("could be read", append, read, event)
            if promised is not None and promised.offset >= append.offset:
                self._breach("was acknowledged", append, promised, event)

    def _breach(self, what: str, append: Event, evidence: Event, recover: Event) -> None:
        if self.terms.durability != "sync":
            self.explain("asynchronous durability does not cover a crash")
        elif evidence.kind is Kind.SERVED and Hole.K8 in self.terms.holes:
            self.explain("index ahead of the flush (K8)")
        else:
            self.report(
                f"offset {append.offset} {what} and is gone after recovery", append, evidence, recover
            )
