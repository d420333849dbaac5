"""The transaction checks: Apache's TransactionalMessageCheckService, round by round.

A round reads the clock once and walks the half topic from its cursor until it meets what is too
young. It goes on in batches, so that a long one holds up nobody. What it rests on, the operation
records stored before it began, must be readable before it looks at the first half message.

A half message that fails in a way that nobody foresaw is left behind: the cursor stays in front of
it, the round goes on behind it, and the next round tries it again (Apache 4.9.8 stops there for
good, hole K10). The cursors are committed only as far as the log is on disk.
"""

from enum import Enum
from typing import Final

from refimpl.agenda import Agenda
from refimpl.broker.check_history import CheckHistory
from refimpl.broker.check_request import CheckRequest
from refimpl.broker.half_ledger import Decided, HalfLedger
from refimpl.broker.half_renewal import HalfRenewal
from refimpl.broker.half_store import HALF_QUEUE, HalfStore
from refimpl.broker.half_view import HalfView, derive_view
from refimpl.broker.operation_records import OperationRecords
from refimpl.broker.parts import BrokerParts
from refimpl.broker.passage import Flight, Passage
from refimpl.effect import Severity
from refimpl.ports import DiskError
from refimpl.store.consume_queue import ConsumeQueue
from spec.broker.offset_table import Carrier
from spec.broker.schedule import POLL_MS, correct_cursor
from spec.broker.topic import derive_group_topic
from spec.broker.transaction import CheckLimits, Round, Step, advance_half_cursor, decide_check
from spec.layout.stored_message import StoredMessage
from spec.recovery.queue import is_filler
from spec.values.name import HALF_TOPIC, OPERATION_TOPIC, SYSTEM_GROUP_PREFIX
from spec.values.system_flag import TransactionType
from spec.values.units import CommitLogPosition, QueueOffset

CHECK_GROUP: Final = SYSTEM_GROUP_PREFIX + "TRANS"
"""The group under whose name the cursors of both topics are kept."""

BATCH: Final = 32
"""Half messages, or reads of operation records, in one go; then everybody else has a turn."""

TURN_MS: Final = 1
"""Pause between two batches: what is planned for the present moment would run in the same turn."""

SAVE_MS: Final = 1_000
"""Pause before a cursor is committed that was ahead of the log's flush."""


class _Walk(Enum):
    """How a round goes on after a half message."""

    ON = "with the next one"
    WAIT = "when the store has answered"
    LATER = "after a moment"
    END = "not at all"


class TransactionCheck:
    """The checks of one broker."""

    def __init__(
        self,
        parts: BrokerParts,
        agenda: Agenda,
        halves: HalfStore,
        ledger: HalfLedger,
        requests: CheckRequest,
    ) -> None:
        self._parts = parts
        self._agenda = agenda
        self._halves = halves
        self._ledger = ledger
        self._history = CheckHistory(parts.recorder, parts.note)
        self._renewal = HalfRenewal(parts, agenda, halves, ledger, requests=requests, history=self._history)
        self._renewal.on_end = self._on_renewed
        self._passage: Passage[Step] = Passage(parts.store.log, QueueOffset(0), _advance)
        self._records: OperationRecords | None = None
        self._round: Round | None = None
        self._is_read = False
        """Whether the round has looked at the operation records."""
        self._must_read = CommitLogPosition(0)
        """The end of the log when the round began."""
        self._end = QueueOffset(0)
        """The end of the half topic when the round began: a copy made now has a round of its own."""
        self._is_walking = False
        self._is_saving = False

    def start(self, now_ms: int) -> None:
        """Rounds begin one period from now; a replica has none."""
        settings = self._parts.settings
        if settings.broker_id == 0:
            self._agenda.every(now_ms + settings.check_period_ms, settings.check_period_ms, self._begin)

    @property
    def _limits(self) -> CheckLimits:
        settings = self._parts.settings
        return CheckLimits(settings.immunity_ms, settings.check_limit, settings.half_age_limit_ms)

    # A round

    def _begin(self, now_ms: int) -> None:
        """A round begins, unless the last one is still under way."""
        if self._round is not None:
            return
        self._parts.topics.ensure(derive_group_topic(HALF_TOPIC), now_ms)
        self._load()
        self._history.record_round(now_ms)
        self._must_read, self._end = self._parts.store.log.end, self._halves.end
        self._round, self._is_read = Round(now_ms, now_ms), False
        self._go_on(now_ms)

    def _load(self) -> None:
        """The cursors are those that were committed, and stand in their queues."""
        queue = self._halves.queue
        if self._records is None:
            self._passage.jump(self._find(HALF_TOPIC, queue))
            operations = self._parts.store.queue(OPERATION_TOPIC, HALF_QUEUE)
            self._records = OperationRecords(self._parts.store, self._find(OPERATION_TOPIC, operations))
        self._passage.rewind(0)
        cursor = correct_cursor(self._passage.cursor, queue.min_offset, queue.max_offset)
        if cursor != self._passage.cursor:
            self._passage.jump(cursor)

    def _find(self, topic: str, queue: ConsumeQueue) -> QueueOffset:
        offset = self._parts.offsets.find(CHECK_GROUP, topic, HALF_QUEUE)
        return correct_cursor(0 if offset is None else offset, queue.min_offset, queue.max_offset)

    def _go_on(self, now_ms: int) -> None:
        """A batch of the round is done, and the next one is planned."""
        if self._round is None or self._is_walking:
            return
        self._is_walking = True
        try:
            walk = self._walk(now_ms)
        except Exception as error:  # noqa: BLE001 - the next round comes, whatever became of this one
            self._history.note(Severity.ERROR, f"the round ends: {type(error).__name__}: {error}")
            walk = _Walk.END
        self._is_walking = False
        match walk:
            case _Walk.ON:
                self._agenda.at(now_ms + TURN_MS, self._go_on)
            case _Walk.LATER:
                self._agenda.at(now_ms + POLL_MS, self._go_on)
            case _Walk.END:
                self._round = None
            case _Walk.WAIT:
                pass
        self.persist(now_ms)

    def _walk(self, now_ms: int) -> _Walk:
        if self._renewal.is_busy:
            return _Walk.WAIT
        if self._parts.store.reput_position < self._must_read:
            return _Walk.LATER
        for _ in range(BATCH):
            walk = self._step(now_ms)
            if walk is not _Walk.ON:
                return walk
        return _Walk.ON

    def _step(self, now_ms: int) -> _Walk:
        """The next half message is dealt with, or more is read."""
        queue, offset = self._halves.queue, self._passage.next_offset
        unit = queue.read_unit(offset) if offset < self._end else None
        if unit is None or self._round is None:
            return _Walk.END
        if not self._is_read:
            self._read_records(self._round)
            self._is_read = True
        half = None
        if not is_filler(unit):
            half = self._parts.store.query.by_position(unit.position, unit.size)
        if half is None:
            self._history.note(Severity.WARNING, f"half message {offset} cannot be read: passed")
            self._pass(Step.SKIP, 0)
            return _Walk.ON
        try:
            return self._treat(half, self._round, now_ms)
        except DiskError:
            raise
        except Exception as error:  # noqa: BLE001 - one message stops the others no more than it is passed
            what = f"{type(error).__name__}: {error}"
            self._history.note(Severity.ERROR, f"half message {offset} is left for the next round: {what}")
            if self._passage.next_offset == offset:
                self._passage.depart(Step.SKIP)
            return _Walk.ON

    def _read_records(self, current: Round) -> None:
        records = self._records
        newest_ms = None if records is None else records.read(self._halves.end)
        self._round = current._replace(newest_operation_born_ms=newest_ms)

    # A half message

    def _treat(self, half: StoredMessage, current: Round, now_ms: int) -> _Walk:
        """What the rules say is done.

        Clauses: broker.transaction.immunity, broker.transaction.limits, broker.transaction.check-needed
        """
        limits = self._limits
        view = derive_view(half, limits.immunity_ms)
        if self._ledger.is_busy(view.family):
            return _Walk.LATER
        decided = self._find_decision(view)
        if decided is None and self._has_newer(view):
            self._pass(Step.SKIP, self._parts.store.log.end)
            return _Walk.ON
        state = view.state(self._ledger.unsent(view.family), is_decided=decided is not None)
        step = decide_check(state, current, limits)
        match step:
            case Step.SKIP:
                self._skip(view, decided, now_ms)
            case Step.STOP:
                return _Walk.END
            case Step.READ_ON:
                self._read_records(current)
            case Step.GIVE_UP | Step.DEFER | Step.CHECK:
                self._renewal.begin(view, step, self._passage.depart(step), now_ms)
                if self._renewal.is_busy:
                    return _Walk.WAIT
        return _Walk.END if self._round is None else _Walk.ON

    def _find_decision(self, view: HalfView) -> Decided | None:
        """How the half message was decided, as this life of the broker or an operation record has it."""
        decided, records = self._ledger.decided(view.family), self._records
        if decided is not None or records is None:
            return decided
        kind = records.find(view.half.queue_offset, view.told_offset, view.family)
        return None if kind is None else Decided(kind, is_recorded=False)

    def _skip(self, view: HalfView, decided: Decided | None, now_ms: int) -> None:
        """The half message is decided: the cursor passes it."""
        if decided is not None and not decided.is_recorded:
            self._history.record_resolved(view.half, TransactionType(decided.kind), now_ms)
        if decided is not None and self._has_newer(view):
            self._ledger.decide(view.family, decided._replace(is_recorded=True))
        else:
            self._ledger.forget(view.family)
        # What the decision rests on stands somewhere in the log.
        self._pass(Step.SKIP, self._parts.store.log.end)

    def _has_newer(self, view: HalfView) -> bool:
        """Whether a newer copy of the half message stands further on."""
        return self._ledger.newest(view.family, view.half.queue_offset) > view.half.queue_offset

    def _pass(self, step: Step, end: int) -> None:
        self._passage.land(self._passage.depart(step), end)

    def _on_renewed(self, flight: Flight[Step], end: int | None, now_ms: int) -> None:
        """The half message may be passed, or the store took nothing and the round ends."""
        if end is None:
            self._passage.rewind(flight.offset)
            self._round = None
        else:
            self._passage.land(flight, end)
        if not self._is_walking:
            self._agenda.at(now_ms, self._go_on)

    # The cursors

    def persist(self, now_ms: int) -> None:
        """The offsets of the group are those from which the checks may go on after a crash.

        Clauses: broker.transaction.cursor-passes-nothing-open, broker.transaction.operation-cursor
        """
        if self._records is None:
            return
        self._history.record_cursor(self._passage.cursor, now_ms)
        safe = self._passage.safe
        self._records.advance(safe)
        self._commit(HALF_TOPIC, safe, now_ms)
        self._commit(OPERATION_TOPIC, self._records.cursor, now_ms)
        if safe != self._passage.cursor and not self._is_saving:
            self._is_saving = True
            self._parts.store.want_log_flush()
            self._agenda.at(now_ms + SAVE_MS, self._save)

    def _save(self, now_ms: int) -> None:
        self._is_saving = False
        self.persist(now_ms)

    def _commit(self, topic: str, offset: QueueOffset, now_ms: int) -> None:
        offsets = self._parts.offsets
        if offsets.find(CHECK_GROUP, topic, HALF_QUEUE) != offset:
            offsets.commit(
                CHECK_GROUP,
                topic,
                HALF_QUEUE,
                offset,
                carrier=Carrier.UPDATE,
                client=CHECK_GROUP,
                now_ms=now_ms,
            )


def _advance(cursor: QueueOffset, step: Step) -> QueueOffset:
    return advance_half_cursor(cursor, step, is_stored=True)
