"""What a store does, written down as a history that the guarantees judge."""

from collections import Counter
from typing import Final

from model_tests.simulation.ledger import Entry
from refimpl.store.message_store import MessageStore
from spec.guarantees.judge import Judge
from spec.guarantees.store import IndexEqualsLog, NothingTakenBack, OffsetAssignedOnce, OneMessagePerOffset
from spec.guarantees.verdict import Judgement
from spec.history.declaration import Declaration, encode_declaration
from spec.history.event import Event, Outcome
from spec.history.kind import Kind

BROKER: Final = "broker-a"
MONITORS: Final = (OneMessagePerOffset, IndexEqualsLog, OffsetAssignedOnce, NothingTakenBack)
OBSERVED: Final = frozenset(
    [Kind.APPEND, Kind.DISPATCH, Kind.RECOVER, Kind.RANGE, Kind.RETAIN, Kind.SENT, Kind.SERVED]
)


class StoreHistory:
    """The history of one store, judged as it is written."""

    def __init__(self, *, is_sync: bool) -> None:
        declaration = Declaration(OBSERVED, durability="sync" if is_sync else "async")
        self._numbers = 0
        self._judge = Judge(self._event(Kind.BEGIN, detail=encode_declaration(declaration)), MONITORS)

    def _event(self, kind: Kind, entry: Entry | None = None, /, **columns: object) -> Event:
        if entry is not None:
            columns = {
                "topic": entry.record.topic,
                "broker": BROKER,
                "queue": int(entry.record.queue_id),
                "offset": int(entry.record.queue_offset),
                "message": entry.identity,
                "position": entry.position,
            } | columns
        self._numbers += 1
        return Event("store", self._numbers, self._numbers, BROKER, kind, **columns)  # type: ignore[arg-type]  # by name

    def _step(self, event: Event) -> None:
        self._judge.step(event)
        assert not self._judge.violated, [j.witnesses for j in self._judge.finish() if j.violations]

    def append(self, entry: Entry) -> None:
        if entry.has_unit:
            self._step(self._event(Kind.APPEND, entry))

    def dispatch(self, entry: Entry) -> None:
        if entry.has_unit:
            self._step(self._event(Kind.DISPATCH, entry))

    def sent(self, entry: Entry) -> None:
        if entry.has_unit:
            self._step(self._event(Kind.SENT, entry, client="producer", outcome=Outcome.OK))

    def serve(self, entry: Entry, next_offset: int) -> None:
        who = {"group": "G", "client": "C", "request": self._numbers}
        self._step(self._event(Kind.SERVED, entry, next=next_offset, status="found", **who))

    def recover(self, store: MessageStore, *, with_ranges: bool = True) -> None:
        status = "normal" if store.recovered.is_clean_stop else "abnormal"
        end = int(store.recovered.log_end.position)
        self._step(self._event(Kind.RECOVER, broker=BROKER, position=end, status=status))
        for queue in store.queues if with_ranges else ():
            topic, number = queue.name
            place = {"topic": topic, "broker": BROKER, "queue": int(number)}
            bounds = {"offset": int(queue.min_offset), "next": int(queue.max_offset)}
            self._step(self._event(Kind.RANGE, **place, **bounds))

    def retain(self, store: MessageStore) -> None:
        for queue in store.queues:
            topic, number = queue.name
            place = {"topic": topic, "broker": BROKER, "queue": int(number)}
            self._step(self._event(Kind.RETAIN, **place, offset=int(queue.min_offset)))

    def finish(self) -> list[Judgement]:
        """What the four rules say in the end."""
        return self._judge.finish()


def count_exercised(judgements: list[Judgement]) -> Counter[str]:
    """How often each rule came to bear."""
    return Counter({judgement.rule: judgement.exercised for judgement in judgements})
