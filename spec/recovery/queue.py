"""Which units of a consume queue survive a crash.

A queue follows from the log, so nothing in it is worth more than what the log says. But the log
is not read from its beginning; the units of older messages are taken from the queue's files as
they are. So a unit is kept if it was written, if it points before the place where the log is
read again, and if the queue ends with a unit that leads to a message of this very queue and
offset. The last condition is the reference's own: a queue that was once cut without zeroing its
bytes holds old units behind its end, and after a second crash they look as good as any.
All later units are made anew from the log.

Apache keeps more: all written units before the end of the log.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from spec.layout.consume_queue import FILLER, FILLER_SIZE, UNIT_SIZE, Unit, iter_units
from spec.layout.queue_append import GapRule, Put, QueueTail, put_unit
from spec.recovery.store_file import LoadedFile
from spec.rejection import Rejection
from spec.values.units import CommitLogPosition, QueueOffset


class QueueContent(NamedTuple):
    """The units of a queue, the first of them at `first_offset`."""

    first_offset: QueueOffset
    units: tuple[Unit, ...]

    @property
    def max_offset(self) -> QueueOffset:
        """The offset that the next message of the queue gets."""
        return QueueOffset(self.first_offset + len(self.units))

    def tail(self) -> QueueTail:
        """What the next dispatch looks at."""
        covered = self.units[-1].end if self.units else CommitLogPosition(0)
        return QueueTail(not self.units, self.max_offset, covered)


NO_UNITS: Final = QueueContent(QueueOffset(0), ())


def is_filler(unit: Unit) -> bool:
    """Whether the unit stands for no message."""
    return unit.size == FILLER_SIZE


def read_queue(files: Sequence[LoadedFile]) -> QueueContent:
    """The written units of a queue's files, up to the first that was not written.

    Clause: recovery.queue.ends-at-first-unwritten
    """
    units: list[Unit] = []
    for file in files:
        of_file = tuple(iter_units(file.read(0, file.size)))
        units += of_file
        if len(of_file) * UNIT_SIZE < file.size:
            break
    first = files[0].start // UNIT_SIZE if files else 0
    return QueueContent(QueueOffset(first), tuple(units))


def cut_queue(content: QueueContent, position: int) -> QueueContent:
    """The queue without its first unit at or behind a log position and all that follow.

    Clause: recovery.queue.cut-with-the-log
    """
    count = next((n for n, unit in enumerate(content.units) if unit.position >= position), len(content.units))
    return QueueContent(content.first_offset, content.units[:count]) if count else NO_UNITS


def drop_foreign_tail(content: QueueContent, is_own: Callable[[QueueOffset, Unit], bool]) -> QueueContent:
    """The queue up to the last unit that leads to a message of its own.

    Clause: recovery.queue.ends-with-its-own-message
    """
    count = len(content.units)
    while count and not is_own(QueueOffset(content.first_offset + count - 1), content.units[count - 1]):
        count -= 1
    return QueueContent(content.first_offset, content.units[:count]) if count else NO_UNITS


class QueueRebuild:
    """A queue that grows as the log is read again."""

    def __init__(self, kept: QueueContent, units_per_file: int, gap: GapRule) -> None:
        """Begin with the units that are kept."""
        self._first_offset = kept.first_offset
        self._units = list(kept.units)
        self._tail = kept.tail()
        self._units_per_file = units_per_file
        self._gap = gap

    def dispatch(self, unit: Unit, queue_offset: QueueOffset) -> Put:
        """What became of a message of the log: it has its unit now, or had it before.

        Clauses: store.queue.dispatch-is-idempotent, store.queue.offset-is-place, recovery.queue.gap-limit
        """
        step = put_unit(self._tail, unit, queue_offset, self._units_per_file, gap=self._gap)
        if step.fillers > self._units_per_file:
            reason = f"queue offset {queue_offset} stands {step.fillers} behind the end of its queue"
            raise Rejection("recovery.queue.gap-limit", unit.position, reason)
        if step.writes:
            if not self._units:
                self._first_offset = QueueOffset(step.tail.next_offset - 1 - step.fillers)
            self._units += [FILLER] * step.fillers
            self._units.append(unit)
            self._tail = step.tail
        return step.put

    def content(self) -> QueueContent:
        """The queue as it is now."""
        return QueueContent(self._first_offset, tuple(self._units))


def derive_min_offset(content: QueueContent, log_min: int) -> QueueOffset:
    """The first offset whose message is still in the log; the queue's end if there is none.

    Clause: recovery.queue.min-offset
    """
    for number, unit in enumerate(content.units):
        if unit.position >= log_min and not is_filler(unit):
            return QueueOffset(content.first_offset + number)
    return content.max_offset
