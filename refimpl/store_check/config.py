"""The tables: whether they can be read, and whether their offsets are those of real queues.

A broker takes any offset that a client commits, so an offset beyond its queue is no damage of the
store; but whoever consumes from there will be sent somewhere else, and somebody should know.
"""

from collections.abc import Mapping
from typing import Final, TypeVar

from refimpl.store_check.finding import Severity
from refimpl.store_check.queues import QueueRange
from refimpl.store_check.shape import Listing
from refimpl.store_check.situation import Situation
from spec.layout.config.config_file import (
    CONSUMER_FILTERS,
    CONSUMER_OFFSETS,
    DELAY_OFFSETS,
    SUBSCRIPTION_GROUPS,
    TOPICS,
    ConfigFile,
)
from spec.layout.config.consumer_offset import decode_offset_key
from spec.layout.directory import CONFIG_FOLDER, QUEUE_FOLDER
from spec.layout.safe_write import LoadedFrom, Role
from spec.recovery.state import QueueName
from spec.rejection import Rejection
from spec.values.name import SCHEDULE_TOPIC
from spec.values.units import QueueId
from spec.wire.body.record import JsonRecord
from spec.wire.body.topic import TopicConfigTable

CONFIG_LIMIT: Final = 64 * 1024 * 1024
"""The longest table that is read; a decision."""

_EMPTY: Final = QueueRange(0, 0)

TableT = TypeVar("TableT", bound=JsonRecord)


class ConfigCheck:
    """The tables of a store, against the queues that it has."""

    def __init__(
        self, situation: Situation, listing: Listing, ranges: Mapping[QueueName, QueueRange]
    ) -> None:
        """Nothing was read yet."""
        self._situation = situation
        self._sizes = {entry.name: entry.size for entry in listing.config if not entry.is_folder}
        self._folders = {entry.name for entry in listing.config if entry.is_folder}
        self._has_folder = any(entry.name == CONFIG_FOLDER and entry.is_folder for entry in listing.root)
        self._ranges = ranges

    def run(self) -> None:
        """All tables were read and compared."""
        if not self._has_folder:
            reason = "there is no such folder: topics, groups and offsets are unknown"
            self._situation.add(Severity.WARNING, CONFIG_FOLDER, 0, "store.directory.names", reason)
            return
        self._note_temporary_files()
        topics = self._load(TOPICS)
        self._load(SUBSCRIPTION_GROUPS)
        self._load(CONSUMER_FILTERS)
        if topics is not None:
            self._check_topics(topics)
        offsets = self._load(CONSUMER_OFFSETS)
        if offsets is not None:
            for key, by_queue in offsets.offset_table.items():
                self._check_offsets(key, by_queue, topics)
        delays = self._load(DELAY_OFFSETS)
        if delays is not None:
            self._check_delays(delays.offset_table)

    def _note_temporary_files(self) -> None:
        for name in self._sizes:
            if name.endswith(Role.TEMPORARY.value):
                reason = "left over from a write that did not finish"
                path = f"{CONFIG_FOLDER}/{name}"
                self._situation.add(Severity.NOTE, path, 0, "store.config.safe-write", reason)

    def _read(self, name: str) -> bytes | None:
        if name not in self._sizes:
            return None
        return self._situation.source.read(f"{CONFIG_FOLDER}/{name}", 0, CONFIG_LIMIT)

    def _load(self, file: ConfigFile[TableT]) -> TableT | None:
        """The table that counts; it is known if that is the saved copy, or if there is none.

        Clauses: store.config.load-falls-back, store.config.unreadable-is-not-absent
        """
        main, backup = self._read(file.name), self._read(file.name + Role.BACKUP.value)
        loaded = file.load(main, backup)
        path = f"{CONFIG_FOLDER}/{file.name}"
        if file.name in self._folders:
            reason = "a folder stands where the table should be"
            self._situation.add(Severity.ERROR, path, 0, "store.config.unreadable-is-not-absent", reason)
        refusal = loaded.refusals[0] if loaded.refusals else None
        reason = refusal.reason if refusal else "the file is missing"
        at = refusal.position if refusal else 0
        if loaded.source is LoadedFrom.BACKUP:
            reason = f"{reason}; the saved copy counts"
            self._situation.add(Severity.WARNING, path, at, "store.config.load-falls-back", reason)
        elif loaded.source is LoadedFrom.NOTHING_READABLE:
            reason = f"{reason}; no saved copy can be read either"
            self._situation.add(Severity.ERROR, path, at, "store.config.unreadable-is-not-absent", reason)
        return loaded.value

    def _check_topics(self, topics: TopicConfigTable) -> None:
        """Every queue that has messages is one of a topic that is known."""
        for name in self._ranges:
            config = topics.topic_config_table.get(name.topic)
            path = f"{QUEUE_FOLDER}/{name.topic}/{name.queue_id}"
            clause = "store.directory.queue-folders"
            if config is None:
                reason = f"{TOPICS.name} does not know the topic of this queue"
                self._situation.add(Severity.NOTE, path, 0, clause, reason)
            elif name.queue_id >= max(config.read_queue_count, config.write_queue_count):
                reason = f"{TOPICS.name} gives the topic fewer queues than this one"
                self._situation.add(Severity.NOTE, path, 0, clause, reason)

    def _check_offsets(
        self, key: str, by_queue: Mapping[QueueId, int], topics: TopicConfigTable | None
    ) -> None:
        """The committed offsets of one group lie within their queues."""
        path = f"{CONFIG_FOLDER}/{CONSUMER_OFFSETS.name}"
        try:
            topic = decode_offset_key(key).topic
        except Rejection as refusal:
            self._situation.add(Severity.WARNING, path, 0, refusal.clause, refusal.reason)
            return
        is_known = topics is None or topic in topics.topic_config_table
        if not is_known and not any(name.topic == topic for name in self._ranges):
            reason = f"{key}: there is no such topic"
            self._situation.add(Severity.NOTE, path, 0, "broker.offset.key", reason)
            return
        for queue_id, offset in by_queue.items():
            span = self._ranges.get(QueueName(topic, queue_id), _EMPTY)
            reason = (
                f"{key} queue {queue_id} is at {offset}, the queue has {span.min_offset} to {span.max_offset}"
            )
            if offset > span.max_offset or offset < 0:
                self._situation.add(Severity.WARNING, path, 0, "guarantee.off.safety", reason)
            elif offset < span.min_offset:
                self._situation.add(Severity.NOTE, path, 0, "recovery.queue.min-offset", reason)

    def _check_delays(self, offsets: Mapping[int, int]) -> None:
        """The cursors of the delay levels lie within their queues.

        Clauses: broker.schedule.queue-of-level, broker.schedule.cursor-repaired-on-load
        """
        path = f"{CONFIG_FOLDER}/{DELAY_OFFSETS.name}"
        for level, offset in offsets.items():
            span = self._ranges.get(QueueName(SCHEDULE_TOPIC, QueueId(level - 1)), _EMPTY)
            if not span.min_offset <= offset <= span.max_offset:
                reason = f"level {level} is at {offset}, its queue has {span.min_offset} to {span.max_offset}"
                clause = "broker.schedule.cursor-repaired-on-load"
                self._situation.add(Severity.WARNING, path, 0, clause, reason)
