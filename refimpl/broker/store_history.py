"""What the history learns of a store as a whole: how it came back, what was removed."""

from refimpl.broker.recorder import Recorder
from refimpl.store.message_store import MessageStore
from refimpl.store.retention import Removed
from spec.history.kind import Kind


def record_recovery(store: MessageStore, recorder: Recorder, now_ms: int) -> None:
    """The history says where the log ends and what each queue covers."""
    if not recorder.is_on:
        return
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


def record_retention(removed: Removed, recorder: Recorder, now_ms: int) -> None:
    """The history says where each queue begins now."""
    if not recorder.is_on:
        return
    for name, offset in removed.moved:
        event = recorder.event(Kind.RETAIN, now_ms)
        recorder.add(event._replace(topic=name.topic, queue=name.queue_id, offset=offset))
