"""What a killed process left: a store that opens, and has all that was acknowledged.

The inspection works on a copy. The next writer finds the folder as the kill left it, so its own
recovery is met by kills as well.
"""

import shutil
from pathlib import Path
from typing import NamedTuple

from model_tests.kill_loop.ledger import Ledger
from model_tests.kill_loop.load import derive_digest, settings_for
from model_tests.kill_loop.report import Acknowledged
from model_tests.kill_loop.writer import now_ms
from refimpl.real.disk import RealDisk
from refimpl.store.message_store import MessageStore, open_store
from spec.broker.pull_outcome import PullStatus
from spec.layout.directory import ABORT_FILE
from spec.layout.record_head import decode_record_head
from spec.layout.record_walk import decode_records
from spec.store.flush import FlushMode


class Inspected(NamedTuple):
    """What was found in one folder."""

    lost: tuple[str, ...]
    """Acknowledged messages that are not there, or not as they were."""
    wrong: tuple[str, ...]
    """Everything else that must not be."""
    read_count: int
    """How many messages were read."""


def inspect_folder(folder: Path, scratch: Path, ledger: Ledger) -> Inspected:
    """The verdict on a folder that nobody has open; the ledger forgets what retention has removed."""
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(folder, scratch)
    was_clean = not (folder / ABORT_FILE).exists()
    store = open_store(RealDisk(scratch), settings_for(FlushMode.ASYNC), now_ms=now_ms())
    lost = [reason for report in ledger.held.values() if (reason := find_loss(store, report, ledger.retired))]
    wrong, read_count = find_disorder(store)
    wrong += find_insanity(store, was_clean=was_clean)
    bounds = derive_bounds(store)
    if (error := store.close(now_ms())) is not None:
        wrong.append(f"the store did not close: {error}")
    wrong += _open_again(scratch, bounds)
    ledger.forget_before(store.log.min_position)
    shutil.rmtree(scratch)
    return Inspected(tuple(lost), tuple(wrong), read_count)


def find_loss(store: MessageStore, report: Acknowledged, retired: int) -> str | None:
    """Why an acknowledged message counts as lost; None if it is there as it was."""
    what = f"{report.topic}/{report.queue_id} offset {report.queue_offset}"
    if report.position < store.log.min_position:
        is_allowed = store.log.min_position <= retired
        return None if is_allowed else f"{what}: its log file is gone and nobody removed it"
    data = store.log.read(report.position, report.size)
    if data is None or derive_digest(data) != report.digest:
        return f"{what}: the record at {report.position} is not the one that was acknowledged"
    unit = store.queue(report.topic, report.queue_id).read_unit(report.queue_offset)
    if unit is None or (unit.position, unit.size) != (report.position, report.size):
        return f"{what}: its unit is {unit}"
    # The index knows times to the second.
    stored_at_ms = decode_record_head(memoryview(data)).stored_at_ms
    found = store.query.by_key(report.topic, report.key, begin_ms=stored_at_ms - 1_000, end_ms=stored_at_ms)
    if report.position not in [message.position for message in found.messages]:
        return f"{what}: it is not found by its key {report.key}"
    return None


def find_disorder(store: MessageStore) -> tuple[list[str], int]:
    """Queues whose messages do not follow one another, read as a consumer reads; and how many were read."""
    wrong: list[str] = []
    count = 0
    for queue in store.queues:
        offsets: list[int] = []
        offset = queue.min_offset
        while offset < queue.max_offset:
            found = store.read(queue.name, offset, 32)
            if found.status is not PullStatus.FOUND:
                wrong.append(f"{queue.name}: offset {offset} gives {found.status}")
                break
            records = decode_records(found.body)
            wrong += [
                f"{queue.name}: offset {record.queue_offset} leads to {record.topic}/{record.queue_id}"
                for record in records
                if (record.topic, record.queue_id) != queue.name
            ]
            offsets += [record.queue_offset for record in records]
            offset = found.next_offset
        count += len(offsets)
        if offsets != list(range(queue.min_offset, queue.max_offset)):
            wrong.append(f"{queue.name}: {queue.min_offset} to {queue.max_offset} gives {offsets}")
    return wrong, count


def find_insanity(store: MessageStore, *, was_clean: bool) -> list[str]:
    """What recovery says of itself and cannot be."""
    recovered = store.recovered
    end = recovered.log_end.position
    claims = {
        "a clean stop": recovered.is_clean_stop == was_clean,
        "where the log begins": recovered.log_min == store.log.min_position,
        "where reading began": recovered.log_min <= recovered.walk_start <= end,
        "where the log ends": end == store.log.end == store.log.flushed == store.reput_position,
        "how many records were read": recovered.records >= 0 and (recovered.records > 0 or end == 0),
        "a damaged checkpoint": recovered.damaged_checkpoint is None,
    }
    return [f"recovery is wrong about {claim}: {recovered}" for claim, holds in claims.items() if not holds]


def derive_bounds(store: MessageStore) -> dict[tuple[str, int], tuple[int, int]]:
    """First offset and end of every queue."""
    return {queue.name: (queue.min_offset, queue.max_offset) for queue in store.queues}


def _open_again(folder: Path, bounds: dict[tuple[str, int], tuple[int, int]]) -> list[str]:
    """What is different after a clean stop."""
    store = open_store(RealDisk(folder), settings_for(FlushMode.ASYNC), now_ms=now_ms())
    wrong = [] if store.recovered.is_clean_stop else ["a clean stop was not noticed"]
    if derive_bounds(store) != bounds:
        wrong.append(f"a clean stop moved {bounds} to {derive_bounds(store)}")
    store.close(now_ms())
    return wrong
