"""What a broker owes when it starts: delayed messages that are due and not delivered by its cursors.

A start therefore serves more than recovery found, and a case must know how much more.
"""

import time
from pathlib import Path

from model_tests.interop.served import Queues
from model_tests.interop.store_folder import read_delay_offset
from model_tests.interop.wire_client import ANSWER_LIMIT_SECONDS, POLL_SECONDS, WireClient
from spec.broker.schedule import DELAY_LEVELS, is_due
from spec.layout.stored_message import StoredMessage
from spec.recovery.state import QueueName, RecoveredStore
from spec.values import property as known
from spec.values.name import SCHEDULE_TOPIC
from spec.values.units import QueueId


def derive_owed(store: Path, recovered: RecoveredStore, now_ms: int) -> dict[QueueName, int]:
    """How many messages each level of the schedule topic delivers at once, by its queue."""
    owed: dict[QueueName, int] = {}
    for level, delay_ms in enumerate(DELAY_LEVELS, 1):
        name = QueueName(SCHEDULE_TOPIC, QueueId(level - 1))
        queue = recovered.queues.get(name)
        if queue is None:
            continue
        waiting = queue.content.units[read_delay_offset(store, level) - queue.content.first_offset :]
        count = sum(is_due(unit.tag_code, now_ms, delay_ms) for unit in waiting)
        if count:
            owed[name] = count
    return owed


def wait_delivered(client: WireClient, owed: dict[QueueName, int], cursors: dict[int, int]) -> None:
    """The cursor of each level has passed what was owed."""
    wanted = {name.queue_id + 1: cursors[name.queue_id + 1] + count for name, count in owed.items()}
    until = time.monotonic() + ANSWER_LIMIT_SECONDS
    while any(client.delay_offsets().offset_table.get(level, 0) < end for level, end in wanted.items()):
        assert time.monotonic() < until, f"not delivered: {wanted}, {client.delay_offsets().offset_table}"
        time.sleep(POLL_SECONDS)


def derive_delivered(scheduled: StoredMessage) -> tuple[QueueName, bytes]:
    """Where a delayed message goes when it is due, and its body."""
    properties = scheduled.properties()
    name = QueueName(properties[known.REAL_TOPIC], QueueId(int(properties[known.REAL_QUEUE_ID])))
    return name, scheduled.body


def split_delivered(queues: Queues, log_end: int) -> tuple[Queues, list[StoredMessage]]:
    """The queues without what was stored behind a place in the log, and what that is."""
    before: Queues = {}
    behind: list[StoredMessage] = []
    for name, queue in queues.items():
        kept = tuple(message for message in queue.messages if message.position < log_end)
        behind += queue.messages[len(kept) :]
        if kept:
            last = kept[-1].queue_offset + 1
            before[name] = queue._replace(max_offset=type(queue.max_offset)(last), messages=kept)
    return before, sorted(behind, key=lambda message: message.position)
