"""The schedule service: Apache's ScheduleMessageService, one cursor a level.

Cursors are saved every ten seconds and at the end, and only as far as the log is on disk: what a
crash takes is delivered again, never left out. A replica delivers nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from refimpl.agenda import Agenda
from refimpl.broker.config_table import load_table
from refimpl.broker.parts import BrokerParts
from refimpl.broker.schedule_level import ScheduleLevel
from refimpl.effect import Severity
from refimpl.ports import DiskError
from spec.layout.config.config_file import DELAY_OFFSETS
from spec.layout.record_head import RecordHead
from spec.values.name import SCHEDULE_TOPIC
from spec.values.units import QueueOffset
from spec.wire.body.offset import DelayOffsetTable

START_DELAY_MS: Final = 1_000
"""Apache's `FIRST_DELAY_TIME`."""

SYNC_MS: Final = 1_000
"""How long the log has to be on disk before the cursors that rest on it are saved."""

FIRST_SAVE_MS: Final = START_DELAY_MS + SYNC_MS
"""When cursors are saved first: soon, so that a broker which dies again and again does not deliver the
same messages in each of its lives. Apache waits ten seconds."""

_FIRST: Final = QueueOffset(0)


class ScheduleService:
    """All levels of one broker."""

    def __init__(self, parts: BrokerParts, agenda: Agenda) -> None:
        self._parts = parts
        self._agenda = agenda
        count = len(parts.settings.store.delays_ms)
        self._levels = {level: ScheduleLevel(parts, agenda, level) for level in range(1, count + 1)}
        self._saved: Mapping[int, QueueOffset] = {}
        """The table as it is on disk."""
        self._is_started = False
        self._latest_ms = 0

    def start(self, now_ms: int) -> None:
        """The cursors are those of the file, and in a second the levels go to work."""
        self._latest_ms = now_ms
        settings = self._parts.settings
        loaded = load_table(self._parts.store.config, DELAY_OFFSETS, self._parts.note)
        self._saved = loaded.offset_table if loaded is not None else {}
        if settings.broker_id != 0:
            return
        for number, level in self._levels.items():
            level.load(self._saved.get(number, _FIRST), now_ms)
        self._agenda.at(now_ms + START_DELAY_MS, self._begin)
        self._agenda.every(now_ms + FIRST_SAVE_MS, settings.cursor_flush_ms, self._on_flush)

    def _begin(self, now_ms: int) -> None:
        self._is_started = True
        self._look(now_ms)

    def _look(self, now_ms: int) -> None:
        for level in self._levels.values():
            level.plan(now_ms)

    def on_arrivals(self, arrived: Sequence[RecordHead], now_ms: int) -> None:
        """Levels that slept because they were empty look at what has come."""
        if not self._is_started:
            return
        if now_ms < self._latest_ms:
            # The clock was set back: what was planned by the old one may be far ahead.
            self._look(now_ms)
        self._latest_ms = now_ms
        for head in arrived:
            if head.topic == SCHEDULE_TOPIC:
                level = self._levels.get(head.queue_id + 1)
                if level is not None:
                    level.on_arrival(now_ms)

    # The file

    @property
    def progress(self) -> Mapping[int, tuple[QueueOffset, QueueOffset]]:
        """The cursor of each level, and the end of its queue."""
        return {
            number: (level.passage.cursor, level.queue.max_offset) for number, level in self._levels.items()
        }

    def table(self) -> DelayOffsetTable:
        """The cursors as they are saved, and as a replica may have them; other levels stay as they were.

        Clause: broker.schedule.saved-cursor
        """
        own = {number: level.passage.safe for number, level in self._levels.items() if self._is_ours}
        return DelayOffsetTable(dict(sorted({**self._saved, **own}.items())))

    @property
    def _is_ours(self) -> bool:
        return self._parts.settings.broker_id == 0

    def _on_flush(self, now_ms: int) -> None:
        """What the cursors rest on goes to disk, and then they do."""
        if all(level.passage.safe == level.passage.cursor for level in self._levels.values()):
            self._save(now_ms)
            return
        self._parts.store.want_log_flush()
        self._agenda.at(now_ms + SYNC_MS, self._save)

    def _save(self, now_ms: int) -> None:
        try:
            self.persist(now_ms)
        except DiskError as error:
            self._parts.note(Severity.ERROR, f"delay cursors: {error}")

    def persist(self, now_ms: int) -> None:
        """The cursors that have changed are on disk.

        Clause: store.config.safe-write
        """
        table = self.table()
        if table.offset_table == self._saved:
            return
        self._parts.store.config.save(DELAY_OFFSETS, table)
        before, self._saved = self._saved, table.offset_table
        for number, offset in self._saved.items():
            if number in self._levels and offset != before.get(number):
                self._levels[number].record_flushed(offset, now_ms)
