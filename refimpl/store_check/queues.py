"""All consume queues of a store while its log is read."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from refimpl.ports import Entry
from refimpl.store_check.queue import QueueCheck
from refimpl.store_check.queue_units import QueueUnits
from refimpl.store_check.record_look import find_property, make_marker
from refimpl.store_check.shape import arrange_pieces
from refimpl.store_check.situation import Situation
from spec.broker.schedule import DELAY_LEVELS
from spec.layout.consume_queue import UNIT_SIZE
from spec.layout.directory import QUEUE_FOLDER
from spec.layout.record_head import RecordHead
from spec.recovery.state import QueueName
from spec.values.java_text import java_hash
from spec.values.message import derive_tag_code
from spec.values.name import SCHEDULE_TOPIC
from spec.values.property import TAGS, decode_properties
from spec.values.system_flag import TransactionType
from spec.values.units import QueueId

_TAGS_MARKER: Final = make_marker(TAGS)

HALF_BIT: Final = int(TransactionType.PREPARED & TransactionType.ROLLBACK)
"""Set in prepared and rolled-back messages, and in no others: these have no unit."""


class QueueRange(NamedTuple):
    """The offsets that a queue has: from the first up to, not with, the last."""

    min_offset: int
    max_offset: int


def derive_code(look: RecordHead) -> int:
    """The tag code that follows from a record.

    Clauses: store.queue.tag-code, store.queue.schedule-tag-is-due-time
    """
    if look.topic == SCHEDULE_TOPIC:
        properties = decode_properties(look.property_text)
        return derive_tag_code(look.topic, properties, look.stored_at_ms, DELAY_LEVELS)
    tag = find_property(look.property_text, _TAGS_MARKER)
    return java_hash(tag) if tag else 0


class QueueTable:
    """The queues by name: those that have files, and those that only the log knows."""

    def __init__(
        self, situation: Situation, found: Mapping[QueueName, tuple[Entry, ...]], units_per_file: int
    ) -> None:
        """Hold the files against their names and sizes; no record was seen yet."""
        self._situation = situation
        self._units_per_file = units_per_file
        self._queues: dict[tuple[str, int], QueueCheck] = {}
        for name, entries in found.items():
            self._queues[name] = self._make(*name, entries)

    def _make(self, topic: str, queue_id: int, entries: tuple[Entry, ...]) -> QueueCheck:
        folder = f"{QUEUE_FOLDER}/{topic}/{queue_id}"
        size = self._units_per_file * UNIT_SIZE
        pieces = arrange_pieces(folder, entries, size, self._situation.findings)
        units = QueueUnits(self._situation.source, folder, pieces, self._units_per_file)
        return QueueCheck(self._situation, topic, units)

    def see(self, look: RecordHead, path: str) -> None:
        """The record was held against its unit, if records of its kind have one."""
        if look.system_flag & HALF_BIT:
            return
        key = (look.topic, look.queue_id)
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = self._make(*key, ())
        queue.see(look, derive_code(look), path)

    def finish(self, log_end: int) -> dict[QueueName, QueueRange]:
        """The offsets of every queue; all units were looked at."""
        return {
            QueueName(topic, QueueId(queue_id)): QueueRange(*queue.finish(log_end))
            for (topic, queue_id), queue in sorted(self._queues.items())
        }

    def report_no_log(self) -> None:
        """Queues without a log are known.

        Clause: recovery.state.no-log-no-queues
        """
        reason = "there are queues and no log: recovery removes them"
        clause = "recovery.state.no-log-no-queues"
        self._situation.add(self._situation.healed, QUEUE_FOLDER, 0, clause, reason)
