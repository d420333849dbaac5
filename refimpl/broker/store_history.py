"""What the history learns of a store as a whole: how it came back, what was removed."""

from collections.abc import Iterator

from refimpl.broker.intake import Provenance, derive_append
from refimpl.broker.recorder import Recorder
from refimpl.history_log import LogMark
from refimpl.store.message_store import MessageStore
from refimpl.store.retention import Removed
from spec.history.kind import Kind
from spec.layout.commit_log_file import derive_next_file_start
from spec.layout.record_head import derive_record_head
from spec.layout.stored_message import StoredMessage


def record_recovery(store: MessageStore, recorder: Recorder, now_ms: int) -> None:
    """The history says where the log ends and what each queue covers.

    A broker that was killed may have stored messages that it had no time to record. They are in the
    log, so they are recorded now, before the history learns where it ends.
    """
    if not recorder.is_on:
        return
    for record in _iter_unrecorded(store, recorder.log_mark):
        provenance = Provenance(record.store_host, record.reconsume_times)
        appended = recorder.event(Kind.APPEND, now_ms)
        recorder.add(
            derive_append(appended, derive_record_head(record), provenance, store.settings.delays_ms)
        )
    status = "normal" if store.recovered.is_clean_stop else "abnormal"
    recover = recorder.event(Kind.RECOVER, now_ms)
    recorder.add(recover._replace(position=store.log.end, status=status))
    for queue in store.queues:
        if queue.max_offset > 0:
            event = recorder.event(Kind.RANGE, now_ms)._replace(
                topic=queue.name.topic,
                queue=queue.name.queue_id,
                offset=queue.min_offset,
                next=queue.max_offset,
            )
            recorder.add(event)


def _iter_unrecorded(store: MessageStore, mark: LogMark | None) -> Iterator[StoredMessage]:
    """The records that an earlier life stored and did not record; none if there was no earlier life."""
    position = store.log.end if mark is None else mark.position
    while position < store.log.end:
        record = store.query.by_position(position)
        if record is None:
            # A blank: the next record begins the next file.
            position = derive_next_file_start(position, store.settings.log_file_size)
        else:
            if mark != (position, True):
                yield record
            position = record.end


def record_retention(removed: Removed, recorder: Recorder, now_ms: int) -> None:
    """The history says where each queue begins now."""
    if not recorder.is_on:
        return
    for name, offset in removed.moved:
        event = recorder.event(Kind.RETAIN, now_ms)
        recorder.add(event._replace(topic=name.topic, queue=name.queue_id, offset=offset))
