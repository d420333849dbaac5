"""Pulls that wait for a message: Apache's PullRequestHoldService.

A pull that found nothing is held by its queue. An arrival in the queue, or the sweep every five
seconds, takes it up again; taken up, it runs once more and is answered whatever it finds. What
its connection can no longer hear is forgotten with the connection.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from refimpl.broker.recorder import Recorder
from refimpl.broker.settings import BrokerSettings
from refimpl.remoting.request import Request
from refimpl.store.message_store import MessageStore
from spec.broker.filter import is_match
from spec.broker.long_poll import HeldPull, Verdict, decide_on_arrival, decide_on_sweep, derive_hold_limit_ms
from spec.history.cause import WakeCause
from spec.history.kind import Kind
from spec.layout.record_head import RecordHead
from spec.recovery.state import QueueName
from spec.values.java_text import java_hash
from spec.values.message import NO_TAG
from spec.values.property import TAGS
from spec.values.subscription import Subscription
from spec.values.units import QueueId, TagCode
from spec.wire.header.pull import PullMessageHeader

SWEEP: Final = "sweep"
"""Why a pull is taken up again when nothing told of an arrival."""


class Pull(NamedTuple):
    """A pull in hand: what was asked, by whom, and under which number the history knows it."""

    request: Request
    header: PullMessageHeader
    client: str
    number: int


Rerun: TypeAlias = Callable[[Pull, int], None]
"""Runs a pull once more, now; it is answered by that."""


class _Held(NamedTuple):
    pull: Pull
    terms: HeldPull
    subscription: Subscription


class HoldService:
    """The held pulls, by queue and by connection."""

    def __init__(
        self, settings: BrokerSettings, store: MessageStore, recorder: Recorder, rerun: Rerun
    ) -> None:
        self._settings = settings
        self._store = store
        self._recorder = recorder
        self._rerun = rerun
        self._queues: dict[tuple[str, int], dict[int, _Held]] = {}
        """Topic and queue to the pulls held there, by number."""
        self._of_connection: dict[int, dict[int, tuple[str, int]]] = {}
        """Connection to the queues of its held pulls, by number."""
        self.count = 0
        """How many pulls are held."""

    def is_full(self) -> bool:
        """Whether no more pulls can be held."""
        return self.count >= self._settings.held_pull_limit

    def hold(self, pull: Pull, subscription: Subscription, now_ms: int) -> None:
        """The pull waits.

        Clause: broker.hold.limit
        """
        header = pull.header
        limit_ms = derive_hold_limit_ms(
            header.suspend_timeout_millis, is_long_polling=self._settings.is_long_polling
        )
        queue = header.topic, int(header.queue_id)
        held = _Held(pull, HeldPull(header.queue_offset, now_ms, limit_ms), subscription)
        self._queues.setdefault(queue, {})[pull.number] = held
        self._of_connection.setdefault(pull.request.connection, {})[pull.number] = queue
        self.count += 1
        self._record(Kind.HOLD, pull, now_ms, "")

    def on_arrivals(self, arrived: list[RecordHead], now_ms: int) -> None:
        """Held pulls that an arrival may concern have been answered.

        Clause: broker.hold.arrival-answers
        """
        if not self._queues:
            return
        by_queue: dict[tuple[str, int], list[RecordHead]] = {}
        for head in arrived:
            queue = head.topic, int(head.queue_id)
            if queue in self._queues:
                by_queue.setdefault(queue, []).append(head)
        for queue, heads in by_queue.items():
            for held in list(self._queues.get(queue, {}).values()):
                if self._is_woken(held, heads, now_ms):
                    self._wake(held, WakeCause.ARRIVAL, now_ms)

    def _is_woken(self, held: _Held, heads: list[RecordHead], now_ms: int) -> bool:
        """Whether one of the messages answers the pull; the newest comes first, as it decides for most."""
        return any(
            decide_on_arrival(
                held.terms,
                head.queue_offset + 1,
                now_ms,
                is_match=is_match(held.subscription, _derive_code(head, held.subscription)),
            )
            is Verdict.ANSWER
            for head in reversed(heads)
        )

    def sweep(self, now_ms: int) -> None:
        """Pulls that missed an arrival, or whose time is over, have been answered.

        Clauses: broker.hold.sweep-matches-anything, broker.hold.timeout-answers
        """
        for (topic, queue_id), held_here in list(self._queues.items()):
            queue = self._store.queues.find(QueueName(topic, QueueId(queue_id)))
            end = 0 if queue is None else queue.max_offset
            for held in list(held_here.values()):
                if decide_on_sweep(held.terms, end, now_ms) is Verdict.ANSWER:
                    self._wake(held, SWEEP, now_ms)

    def _wake(self, held: _Held, cause: str, now_ms: int) -> None:
        pull = held.pull
        # A pull that was answered in this very turn is not there any more.
        if self._forget(pull.request.connection, pull.number):
            self._record(Kind.WAKE, pull, now_ms, cause)
            self._rerun(pull, now_ms)

    def drop_connection(self, connection: int) -> None:
        """Nothing is held for the connection."""
        for number in list(self._of_connection.get(connection, ())):
            self._forget(connection, number)

    def _forget(self, connection: int, number: int) -> bool:
        numbers = self._of_connection.get(connection, {})
        queue = numbers.pop(number, None)
        if queue is None:
            return False
        self.count -= 1
        if not numbers:
            del self._of_connection[connection]
        held_here = self._queues[queue]
        del held_here[number]
        if not held_here:
            del self._queues[queue]
        return True

    def pulls(self) -> Iterator[Pull]:
        """Every held pull."""
        for held_here in self._queues.values():
            for held in held_here.values():
                yield held.pull

    def _record(self, kind: Kind, pull: Pull, now_ms: int, cause: str) -> None:
        if self._recorder.is_on:
            header = pull.header
            event = self._recorder.event(kind, now_ms)._replace(
                group=header.consumer_group,
                topic=header.topic,
                queue=header.queue_id,
                client=pull.client,
                offset=header.queue_offset,
                request=pull.number,
                cause=cause,
            )
            self._recorder.add(event)


def _derive_code(head: RecordHead, subscription: Subscription) -> TagCode:
    """The code of the message's tag; nobody reads the properties for a pull that wants every tag."""
    if not subscription.codes:
        return NO_TAG
    tag = head.properties().get(TAGS)
    return TagCode(java_hash(tag)) if tag else NO_TAG
