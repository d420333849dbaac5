"""One delay level: its queue, its cursor, and when it looks at its head again.

A level sleeps until its head is due; an empty one sleeps until something arrives. What is due goes
to its real topic a batch at a time, so that many messages that are due at once do not hold up
everybody else. In synchronous mode several are under way together, and the cursor follows in order.
"""

from functools import partial
from typing import Final, TypeAlias

from refimpl.agenda import NEVER, Agenda
from refimpl.broker.notice import derive_notice
from refimpl.broker.parts import BrokerParts
from refimpl.broker.passage import Flight, Passage
from refimpl.broker.schedule_delivery import derive_delivered
from refimpl.broker.schedule_history import Due, ScheduleHistory
from refimpl.effect import Severity
from refimpl.ports import DiskError, DiskReason
from refimpl.store.consume_queue import ConsumeQueue
from refimpl.store.message_store import Appended
from refimpl.store.new_message import NewMessage
from spec.broker.schedule import (
    ERROR_PAUSE_MS,
    POLL_MS,
    Cursor,
    Delivery,
    Next,
    advance_cursor,
    correct_cursor,
    derive_delivery,
    derive_notice_topic,
    derive_schedule_queue,
    is_due,
)
from spec.broker.send import PutStatus
from spec.broker.topic import derive_group_topic
from spec.history.event import Outcome
from spec.layout.consume_queue import Unit, iter_units
from spec.recovery.queue import is_filler
from spec.rejection import Rejection
from spec.values.name import HALF_TOPIC, SCHEDULE_REFUSED_TOPIC, SCHEDULE_TOPIC
from spec.values.property import REAL_TOPIC
from spec.values.units import QueueOffset

BATCH: Final = 32
"""Messages that one look delivers at most; then everybody else has a turn."""

WINDOW: Final = 256
"""Deliveries of one level that may wait for their flush."""

TURN_MS: Final = 1
"""Pause between two batches: what is planned for the present moment would run in the same turn."""

_Flight: TypeAlias = Flight[Delivery]


class ScheduleLevel:
    """One level of the schedule service."""

    def __init__(self, parts: BrokerParts, agenda: Agenda, level: int) -> None:
        self.level = level
        self._parts = parts
        self._agenda = agenda
        self._delay_ms = parts.settings.store.delays_ms[level - 1]
        self._history = ScheduleHistory(level, parts.recorder, parts.note)
        self.passage: Passage[Delivery] = Passage(parts.store.log, QueueOffset(0), _advance)
        self._refused = Cursor(QueueOffset(-1))
        """The message that the store refused last, and how often."""
        self._late: list[tuple[_Flight, Due, Appended]] = []
        """Deliveries that stand in the log, but whose flush did not end in time."""
        self._planned_ms = NEVER

    @property
    def queue(self) -> ConsumeQueue:
        """Where the messages of the level wait."""
        return self._parts.store.queue(SCHEDULE_TOPIC, derive_schedule_queue(self.level))

    def load(self, offset: int, now_ms: int) -> None:
        """The cursor stands where it was saved, or at the nearest place that its queue has.

        Clause: broker.schedule.cursor-repaired-on-load
        """
        queue = self.queue
        self.passage.jump(correct_cursor(offset, queue.min_offset, queue.max_offset))
        self._history.record_cursor("loaded", self.passage.cursor, now_ms)

    def record_flushed(self, offset: QueueOffset, now_ms: int) -> None:
        """The history says that this value of the cursor is on disk."""
        self._history.record_cursor("flushed", offset, now_ms)

    # When

    def plan(self, time_ms: int) -> None:
        """The level looks at its head at this time, or earlier."""
        if time_ms < self._planned_ms:
            self._planned_ms = time_ms
            self._agenda.at(time_ms, self._run)

    def on_arrival(self, now_ms: int) -> None:
        """Something arrived in the queue: a level that had nothing to wait for looks at it."""
        if self._planned_ms == NEVER:
            self.plan(now_ms)

    def _run(self, now_ms: int) -> None:
        """What is due is on its way, up to a batch, and the next look is planned."""
        if now_ms < self._planned_ms:
            # An earlier look took the place of this one.
            return
        # While the level is at work, nothing that it does plans another look.
        pause_ms: int | None = int(ERROR_PAUSE_MS)
        try:
            pause_ms = self._deliver_due(now_ms)
        except Exception as error:  # noqa: BLE001 - a level goes on, whatever happened to one message
            what = f"{type(error).__name__}: {error}; next try in {ERROR_PAUSE_MS // 1000} s"
            self._history.note(Severity.ERROR, f"offset {self.passage.next_offset}: {what}")
        self._planned_ms = NEVER
        self._history.record_cursor("moved", self.passage.cursor, now_ms)
        if pause_ms is not None:
            self.plan(now_ms + pause_ms)

    # What

    def _deliver_due(self, now_ms: int) -> int | None:
        """A batch is on its way; how long the level may sleep, None until something happens.

        Clauses: broker.schedule.not-before-due, broker.schedule.impossible-due-counts
        """
        self._land_late(now_ms)
        queue, passage = self.queue, self.passage
        self._repair(queue)
        room = min(BATCH, WINDOW - passage.count, queue.max_offset - passage.next_offset)
        if room <= 0:
            return POLL_MS if self._late else None
        if self._parts.store.why_not_writable() is not None:
            return POLL_MS
        units = queue.read_units(passage.next_offset, room)
        if not units:
            raise DiskError(DiskReason.MISSING, queue.sequence.folder, f"offset {passage.next_offset}")
        for unit in iter_units(units):
            if not is_due(unit.tag_code, now_ms, self._delay_ms):
                return unit.tag_code - now_ms
            before = passage.next_offset
            self._deliver(unit, now_ms)
            if passage.next_offset == before:
                return POLL_MS
        return TURN_MS

    def _repair(self, queue: ConsumeQueue) -> None:
        """Where retention or a deletion has moved the queue, the cursor is in it."""
        cursor = correct_cursor(self.passage.cursor, queue.min_offset, queue.max_offset)
        if cursor != self.passage.cursor:
            text = f"the cursor is moved from {self.passage.cursor} to {cursor}, into its queue"
            self._history.note(Severity.WARNING, text)
            self._late.clear()
            self.passage.jump(cursor)

    def _deliver(self, unit: Unit, now_ms: int) -> None:
        """The message is on its way, or passed by, or refused; only then it is not under way.

        Clause: broker.schedule.cursor-never-passes-undelivered
        """
        is_message = not is_filler(unit)
        stored = self._parts.store.query.by_position(unit.position, unit.size) if is_message else None
        if stored is None:
            self._pass_unreadable(unit, now_ms)
            return
        due = Due(stored, unit.tag_code)
        try:
            message = derive_delivered(stored)
        except Rejection as refusal:
            self._on_refused(due, Delivery.REFUSED, str(refusal), now_ms)
            return
        if message.topic == HALF_TOPIC:
            flight = self.passage.depart(Delivery.HALF)
            self._history.note(Severity.WARNING, f"offset {flight.offset} is a half message: discarded")
            self._history.record_divert(flight.offset, due, now_ms)
            self._land(flight, 0, now_ms)
            return
        self._put(message, self.passage.depart(Delivery.STORED), due, now_ms)

    def _pass_unreadable(self, unit: Unit, now_ms: int) -> None:
        flight = self.passage.depart(Delivery.UNREADABLE)
        text = f"offset {flight.offset}: nothing can be read at position {unit.position} of the log"
        self._history.note(Severity.WARNING, text)
        self._history.record_gone(flight.offset, now_ms)
        self._land(flight, 0, now_ms)

    def _put(self, message: NewMessage, flight: _Flight, due: Due, now_ms: int) -> None:
        try:
            # A batch is stored as it is; a single message would be delayed once more.
            self._parts.intake.put_batch((message,), now_ms, partial(self._on_stored, flight, due))
        except BaseException:
            self.passage.rewind(flight.offset)
            raise

    def _on_stored(
        self, flight: _Flight, due: Due, status: PutStatus, appended: Appended, now_ms: int
    ) -> None:
        delivery = derive_delivery(status)
        if delivery is Delivery.STORED:
            self._on_delivered(flight, due, appended, now_ms)
        elif delivery is None:
            self._late.append((flight, due, appended))
            self.plan(now_ms + POLL_MS)
        else:
            self.passage.rewind(flight.offset)
            reason = appended.detail or status.value
            if flight.why is Delivery.DIVERTED:
                self._history.note(Severity.ERROR, f"offset {flight.offset}: its notice is refused: {reason}")
            else:
                self._on_refused(due, delivery, reason, now_ms)

    def _on_delivered(self, flight: _Flight, due: Due, appended: Appended, now_ms: int) -> None:
        if flight.why is Delivery.DIVERTED:
            self._history.record_divert(flight.offset, due, now_ms)
        else:
            self._history.record_delivery(flight.offset, due, now_ms, Outcome.OK)
        self._land(flight, appended.records[-1].end, now_ms)

    def _land(self, flight: _Flight, end: int, now_ms: int) -> None:
        """The message is dealt with; if that was in a turn of its own, the level goes on."""
        self.passage.land(flight, end)
        self.plan(now_ms)

    def _land_late(self, now_ms: int) -> None:
        """Deliveries whose flush was late and has ended now count, and are not made again."""
        flushed = self._parts.store.log.flushed
        late, self._late = self._late, []
        for flight, due, appended in late:
            if appended.records[-1].end <= flushed:
                self._on_delivered(flight, due, appended, now_ms)
            else:
                self._late.append((flight, due, appended))

    def _on_refused(self, due: Due, delivery: Delivery, reason: str, now_ms: int) -> None:
        """The message stays where it is; one that was refused too often is diverted.

        Clause: broker.schedule.refused-is-diverted
        """
        self._history.record_delivery(self.passage.next_offset, due, now_ms, Outcome.FAIL)
        if self._refused.offset != self.passage.next_offset:
            self._refused = Cursor(self.passage.next_offset)
        self._refused, step = advance_cursor(self._refused, delivery)
        if step is Next.DIVERT:
            self._divert(due, reason, now_ms)

    def _divert(self, due: Due, reason: str, now_ms: int) -> None:
        """A notice takes the place of the message where people look for it.

        Clauses: broker.schedule.refused-is-diverted, broker.schedule.notice-is-found
        """
        parts = self._parts
        real_topic = due.stored.properties().get(REAL_TOPIC, "")
        for topic in dict.fromkeys((derive_notice_topic(real_topic), SCHEDULE_REFUSED_TOPIC)):
            flight = self.passage.depart(Delivery.DIVERTED)
            notice = derive_notice(
                topic, due.stored, real_topic, reason, host=parts.settings.host, now_ms=now_ms
            )
            self._put(notice, flight, due, now_ms)
            if self.passage.next_offset > flight.offset:
                parts.topics.ensure(derive_group_topic(topic), now_ms)
                text = f"offset {flight.offset} cannot be stored, a notice stands in {topic}: {reason}"
                self._history.note(Severity.WARNING, text)
                return


def _advance(cursor: QueueOffset, delivery: Delivery) -> QueueOffset:
    return advance_cursor(Cursor(cursor), delivery)[0].offset
