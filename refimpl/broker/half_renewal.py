"""Appending what takes a half message's place: a copy further on, or what tells that it was given up.

One half message at a time: what takes its place must be in the store before the cursor passes it.
A copy is a few bytes longer than what it copies. If only for that the store refuses it, the copy is
made without them; if even that is refused, a notice takes its place and the transaction ends there,
visibly. A store that takes nothing ends the round.
"""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from refimpl.agenda import Agenda
from refimpl.broker.check_history import CheckHistory
from refimpl.broker.check_request import CheckRequest
from refimpl.broker.half_ledger import HalfLedger
from refimpl.broker.half_store import HalfStore, derive_exceeded, derive_half_copy
from refimpl.broker.half_view import HalfView
from refimpl.broker.notice import derive_notice
from refimpl.broker.parts import BrokerParts
from refimpl.broker.passage import Flight
from refimpl.effect import Severity
from refimpl.store.message_store import Appended
from refimpl.store.new_message import NewMessage
from spec.broker.schedule import POLL_MS, Delivery, derive_delivery
from spec.broker.send import PutStatus
from spec.broker.topic import derive_group_topic
from spec.broker.transaction import Step, derive_check_times, derive_deferred_properties
from spec.history.cause import ExceedCause
from spec.history.event import Outcome
from spec.layout.record_head import RecordHead
from spec.values.name import CHECK_EXCEEDED_TOPIC, HALF_TOPIC
from spec.values.property import REAL_TOPIC, TRANSACTION_CHECK_TIMES, encode_properties
from spec.values.units import QueueOffset

Ended: TypeAlias = Callable[[Flight[Step], int | None, int], None]
"""Hears that the half message may be passed when the log is on disk up to a position, or None: not."""


class _Renewal:
    """A half message whose place is being taken."""

    def __init__(self, view: HalfView, flight: Flight[Step], connection: int | None) -> None:
        self.view = view
        self.flight = flight
        self.connection = connection
        """The producer to ask."""
        self.is_question = flight.why is Step.CHECK
        self.check_times = view.check_times
        self.tries: deque[NewMessage] = deque()
        self.expected: QueueOffset | None = None


class HalfRenewal:
    """The writer of the checks; it is at work with one half message at most."""

    def __init__(
        self,
        parts: BrokerParts,
        agenda: Agenda,
        halves: HalfStore,
        ledger: HalfLedger,
        *,
        requests: CheckRequest,
        history: CheckHistory,
    ) -> None:
        self._parts = parts
        self._agenda = agenda
        self._halves = halves
        self._ledger = ledger
        self._requests = requests
        self._history = history
        self._current: _Renewal | None = None
        self.on_end: Ended = _nobody

    @property
    def is_busy(self) -> bool:
        """Whether the store has not said yet what became of the last append."""
        return self._current is not None

    def begin(self, view: HalfView, step: Step, flight: Flight[Step], now_ms: int) -> None:
        """What takes the half message's place is on its way.

        Clauses: broker.transaction.checks-counted, broker.transaction.deferred-keeps-place
        """
        asks = step is Step.CHECK
        connection = self._requests.choose(view.properties) if asks else None
        renewal = _Renewal(view, flight, connection)
        if step is Step.GIVE_UP:
            renewal.tries.append(derive_exceeded(view.half))
        else:
            # A check for which there is nobody is not counted: it is put off.
            counted = step if connection is not None else Step.DEFER
            unsent = self._ledger.unsent(view.family)
            renewal.check_times = derive_check_times(view.check_times - unsent, counted)
            text = _encode_copy(view, counted, renewal.check_times)
            for property_text in dict.fromkeys((text, view.half.property_text)):
                renewal.tries.append(derive_half_copy(view.half, property_text))
        renewal.tries.append(self._make_notice(view, now_ms))
        self._ledger.begin(view.family)
        self._current = renewal
        self._try_next(renewal, now_ms)

    def _make_notice(self, view: HalfView, now_ms: int) -> NewMessage:
        reason = "the store refuses the half message, it will not be checked again"
        real_topic = view.properties.get(REAL_TOPIC, "")
        host = self._parts.settings.host
        return derive_notice(CHECK_EXCEEDED_TOPIC, view.half, real_topic, reason, host=host, now_ms=now_ms)

    def _try_next(self, renewal: _Renewal, now_ms: int) -> None:
        message = renewal.tries.popleft()
        renewal.expected = self._halves.expect_copy() if message.topic == HALF_TOPIC else None
        # A batch is stored as it is, whatever delay a half message of another broker names.
        self._parts.intake.put_batch((message,), now_ms, partial(self._on_stored, renewal))

    def _on_stored(self, renewal: _Renewal, status: PutStatus, appended: Appended, now_ms: int) -> None:
        delivery = derive_delivery(status)
        if delivery is Delivery.STORED:
            self._finish(renewal, appended.records[0], now_ms)
        elif delivery is None:
            self._look(renewal, appended.records[0], now_ms)
        else:
            if renewal.expected is not None:
                self._halves.forget_copy(renewal.expected)
            if delivery is Delivery.REFUSED and renewal.tries:
                self._try_next(renewal, now_ms)
                return
            half = renewal.view.half
            text = f"half message {half.queue_offset} cannot be appended: {appended.detail or status.value}"
            self._history.note(Severity.WARNING, text)
            self._end(renewal, None, now_ms)

    def _look(self, renewal: _Renewal, head: RecordHead, now_ms: int) -> None:
        """When the late flush has ended, the append counts; until then it is looked for."""
        if head.end <= self._parts.store.log.flushed:
            self._finish(renewal, head, now_ms)
        else:
            self._agenda.at(now_ms + POLL_MS, partial(self._look, renewal, head))

    def _finish(self, renewal: _Renewal, head: RecordHead, now_ms: int) -> None:
        """What takes the place of the half message is stored, as durably as the store promises."""
        view = renewal.view
        if head.topic == HALF_TOPIC:
            self._ledger.move(view.family, head.queue_offset)
            self._history.record_requeue(view.half, head.queue_offset, now_ms)
            if renewal.is_question:
                self._ask(renewal, head, now_ms)
        else:
            self._parts.topics.ensure(derive_group_topic(CHECK_EXCEEDED_TOPIC), now_ms)
            self._history.record_exceed(view.half, self._derive_cause(renewal), now_ms)
            self._ledger.forget(view.family)
        self._end(renewal, head.end, now_ms)

    def _derive_cause(self, renewal: _Renewal) -> str:
        if renewal.flight.why is not Step.GIVE_UP:
            return "refused"
        is_asked = renewal.check_times - self._ledger.unsent(renewal.view.family)
        return ExceedCause.CHECKS if is_asked >= self._parts.settings.check_limit else "age"

    def _ask(self, renewal: _Renewal, head: RecordHead, now_ms: int) -> None:
        """A producer is asked, or the check did not happen and does not count."""
        view, connection = renewal.view, renewal.connection
        is_sent = False
        if connection is not None:
            is_counted = head.properties().get(TRANSACTION_CHECK_TIMES) == str(renewal.check_times)
            if not self._requests.is_online(view.properties, connection):
                connection = self._requests.choose(view.properties)
            if is_counted:
                self._ledger.clear_unsent(view.family)
            is_sent = connection is not None and self._send(connection, view, head)
            if is_counted and not is_sent:
                self._ledger.count_unsent(view.family)
        outcome = Outcome.OK if is_sent else Outcome.FAIL
        self._history.record_check(view.half, head.queue_offset, outcome, now_ms)

    def _send(self, connection: int, view: HalfView, head: RecordHead) -> bool:
        """Whether the question is on its way; one that cannot be put into words is told of."""
        try:
            self._requests.ask(connection, view.half, head)
        except Exception as error:  # noqa: BLE001 - one message that cannot be asked about is not the others'
            what = f"{type(error).__name__}: {error}"
            self._history.note(
                Severity.WARNING, f"half message {head.queue_offset} cannot be asked about: {what}"
            )
            return False
        return True

    def _end(self, renewal: _Renewal, end: int | None, now_ms: int) -> None:
        self._current = None
        self.on_end(renewal.flight, end, now_ms)
        self._ledger.end(renewal.view.family, now_ms)


def _encode_copy(view: HalfView, step: Step, check_times: int) -> str:
    """The properties of a copy: a deferred one names the place its producer knows, others have a count."""
    if step is Step.DEFER:
        return encode_properties(derive_deferred_properties(view.properties, view.half.queue_offset))
    return encode_properties({**view.properties, TRANSACTION_CHECK_TIMES: str(check_times)})


def _nobody(flight: Flight[Step], end: int | None, now_ms: int) -> None:
    """Nobody listens yet."""
