"""The one way into the store: every message that a broker keeps comes through here.

An append that has to wait for its flush is settled in a later turn; whoever asked for it is told
then, once. What was appended and what became readable is recorded, each message under the name
that it had when it was stored.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from refimpl.broker.recorder import Recorder
from refimpl.message_identity import derive_identity
from refimpl.store.message_store import Appended, MessageStore
from refimpl.store.new_message import NewMessage
from spec.broker.send import STORED, PutStatus
from spec.history.event import ABSENT, Event
from spec.history.kind import Kind
from spec.layout.record_head import RecordHead
from spec.values.host import Host
from spec.values.message import derive_tag_code
from spec.values.message_id import MessageId, encode_message_id
from spec.values.name import SCHEDULE_TOPIC
from spec.values.property import TAGS

Stored: TypeAlias = Callable[[PutStatus, Appended, int], None]
"""Hears what became of an append, and when."""


class Provenance(NamedTuple):
    """What the history tells of a record beside its head."""

    store_host: Host
    reconsume_times: int


def derive_append(base: Event, head: RecordHead, provenance: Provenance, delays_ms: tuple[int, ...]) -> Event:
    """The `append` of a record; `base` says by whom and when."""
    properties = head.properties()
    offset_id = encode_message_id(MessageId(provenance.store_host, head.position))
    identity = derive_identity(properties, provenance.reconsume_times, offset_id)
    is_delayed = head.topic == SCHEDULE_TOPIC
    return base._replace(
        topic=head.topic,
        queue=head.queue_id,
        offset=head.queue_offset,
        position=head.position,
        message=identity.message,
        origin=identity.origin,
        attempt=provenance.reconsume_times,
        due_ms=derive_tag_code(head.topic, properties, head.stored_at_ms, delays_ms)
        if is_delayed
        else ABSENT,
        tag=properties.get(TAGS, ""),
    )


class _Waiting(NamedTuple):
    appended: Appended
    then: Stored


class Intake:
    """The store's door for messages."""

    def __init__(self, store: MessageStore, recorder: Recorder) -> None:
        self._store = store
        self._recorder = recorder
        self._waiting: dict[int, _Waiting] = {}
        self._names: dict[int, Event] = {}
        """The `append` of each message that is not readable yet, by log position."""

    @property
    def waiting_count(self) -> int:
        """How many appends wait for their flush."""
        return len(self._waiting)

    def put(self, message: NewMessage, now_ms: int, then: Stored) -> None:
        """The message is in the log, or `then` hears why not; a delayed one waits in the schedule topic."""
        self._take((message,), self._store.append(message, now_ms), now_ms, then)

    def put_batch(self, messages: Sequence[NewMessage], now_ms: int, then: Stored) -> None:
        """All messages of a batch are in the log, one behind the other, or none is."""
        self._take(messages, self._store.append_batch(messages, now_ms), now_ms, then)

    def _take(self, messages: Sequence[NewMessage], appended: Appended, now_ms: int, then: Stored) -> None:
        if self._recorder.is_on:
            for message, head in zip(messages, appended.records, strict=False):
                self._record_append(message, head, now_ms)
        if appended.ticket is None:
            then(appended.status, appended, now_ms)
        else:
            self._waiting[appended.ticket] = _Waiting(appended, then)

    def settle(self, now_ms: int) -> None:
        """Whoever waited for a flush that has ended, or for too long, has been told."""
        if not self._waiting:
            return
        for ticket, status in self._store.settle(now_ms):
            waiting = self._waiting.pop(ticket)
            waiting.then(status, waiting.appended, now_ms)

    def _record_append(self, message: NewMessage, head: RecordHead, now_ms: int) -> None:
        appended = derive_append(
            self._recorder.event(Kind.APPEND, now_ms),
            head,
            Provenance(message.store_host, message.reconsume_times),
            self._store.settings.delays_ms,
        )
        self._recorder.add(appended)
        self._names[head.position] = appended

    def record_dispatch(self, head: RecordHead, now_ms: int) -> None:
        """The history says that the message can be read."""
        appended = self._names.pop(head.position, None)
        if appended is not None:
            self._recorder.add(appended._replace(kind=Kind.DISPATCH, time_ms=now_ms))


def is_stored(status: PutStatus) -> bool:
    """Whether the message is in the log.

    Clause: broker.send.late-is-stored
    """
    return status in STORED
