"""Custody: the messages of one tenure that were pulled and are not finished.

A message comes into custody when it is put, and leaves it only when it is finished. The position
that may be committed follows from custody alone: the lowest offset still in custody, or one past
the highest offset ever seen when nothing is left. So one slow message holds the position back,
however many behind it are done: a crash then repeats work, but never skips any.

Orderly consumption needs two places: pending, and in process (taken, not yet committed). Taking,
putting back and rolling back move messages between the two and change nothing else.

This module is the algebra on plain numbers: a value holds (offset, size) pairs in ascending order,
every operation gives a new value. The structure a client really uses is in `process_queue`; both
call the same position rules, and tests hold them equal.

Stricter than Apache, invisibly: an offset in custody is never put a second time (Apache looks only
at the pending ones), the highest offset seen begins below 0 and never falls, only messages that were
really taken are put back, and a commit never passes a pending offset.
"""

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

NO_POSITION: Final = -1
"""Apache's answer when there is nothing to commit."""

NOTHING_SEEN: Final = -1
"""The highest offset before any; Apache has 0 here, which looks as if message 0 had been seen."""


class Entry(NamedTuple):
    """A message, as far as custody cares."""

    offset: int
    size: int


def derive_position(lowest_in_custody: int | None, highest_seen: int) -> int:
    """What may be committed: everything below is finished.

    Clause: group.process-queue.position
    """
    return highest_seen + 1 if lowest_in_custody is None else lowest_in_custody


def derive_removal_position(lowest_in_custody: int | None, highest_seen: int, *, was_pending: bool) -> int:
    """What may be committed after a removal; nothing if nothing was pending before it.

    Clauses: group.process-queue.position, group.process-queue.nothing-pending-no-position
    """
    return derive_position(lowest_in_custody, highest_seen) if was_pending else NO_POSITION


def derive_commit_position(highest_in_process: int | None, lowest_pending: int | None) -> int:
    """What an orderly commit may store: one past the last taken message, but no pending one.

    Clause: group.process-queue.orderly-commit
    """
    if highest_in_process is None:
        return NO_POSITION
    past = highest_in_process + 1
    return past if lowest_pending is None else min(past, lowest_pending)


def commit_position(pending: tuple[int, ...], in_process: tuple[int, ...], highest_seen: int) -> int:
    """The position rule on bare offsets, in any order.

    Clause: group.process-queue.position
    """
    custody = pending + in_process
    return derive_position(min(custody) if custody else None, highest_seen)


@dataclass(frozen=True, slots=True)
class Custody:
    """The messages of one tenure; count and size are kept, not computed, as a client keeps them."""

    pending: tuple[Entry, ...] = ()
    in_process: tuple[Entry, ...] = ()
    highest_seen: int = NOTHING_SEEN
    count: int = 0
    size: int = 0
    is_consuming: bool = False

    def lowest(self) -> int | None:
        """The lowest offset in custody."""
        fronts = [entries[0].offset for entries in (self.pending, self.in_process) if entries]
        return min(fronts) if fronts else None

    def span(self) -> int:
        """The distance from the first to the last pending offset.

        Clause: group.process-queue.span
        """
        return self.pending[-1].offset - self.pending[0].offset if self.pending else 0

    def position(self) -> int:
        """What may be committed now.

        Clauses: group.process-queue.position, group.process-queue.position-never-falls
        """
        return derive_position(self.lowest(), self.highest_seen)


def is_sound(custody: Custody) -> bool:
    """Whether the value is one that the operations below can reach.

    Clause: group.process-queue.counters-equal-content
    """
    offsets = [entry.offset for entry in custody.pending + custody.in_process]
    return (
        custody.pending == tuple(sorted(custody.pending))
        and custody.in_process == tuple(sorted(custody.in_process))
        and len(set(offsets)) == len(offsets) == custody.count
        and all(0 <= offset <= custody.highest_seen for offset in offsets)
        and custody.size == sum(entry.size for entry in custody.pending + custody.in_process)
    )


def put(custody: Custody, entries: tuple[Entry, ...]) -> tuple[Custody, bool]:
    """The entries are in custody, each offset once; and whether a consumer must be woken.

    Clauses: group.process-queue.put-once, group.process-queue.dispatch-once
    """
    known = {entry.offset for entry in custody.pending + custody.in_process}
    fresh: dict[int, Entry] = {}
    for entry in entries:
        if entry.offset not in known:
            fresh.setdefault(entry.offset, entry)
    pending = tuple(sorted((*custody.pending, *fresh.values())))
    wakes = bool(pending) and not custody.is_consuming
    after = Custody(
        pending=pending,
        in_process=custody.in_process,
        highest_seen=max((custody.highest_seen, *fresh)),
        count=custody.count + len(fresh),
        size=custody.size + sum(entry.size for entry in fresh.values()),
        is_consuming=custody.is_consuming or wakes,
    )
    return after, wakes


def remove(custody: Custody, offsets: tuple[int, ...]) -> tuple[Custody, int]:
    """The pending messages at these offsets are finished; and what may be committed, or -1.

    Clauses: group.process-queue.position, group.process-queue.nothing-pending-no-position
    """
    gone = [entry for entry in custody.pending if entry.offset in offsets]
    after = replace(
        custody,
        pending=tuple(entry for entry in custody.pending if entry.offset not in offsets),
        count=custody.count - len(gone),
        size=custody.size - sum(entry.size for entry in gone),
    )
    was_pending = bool(custody.pending)
    return after, derive_removal_position(after.lowest(), after.highest_seen, was_pending=was_pending)


def take(custody: Custody, limit: int) -> tuple[Custody, tuple[Entry, ...]]:
    """The lowest pending messages are in process; if there are none, nobody consumes any more.

    Clause: group.process-queue.take-lowest
    """
    taken = custody.pending[: max(0, limit)]
    after = replace(
        custody,
        pending=custody.pending[len(taken) :],
        in_process=tuple(sorted(custody.in_process + taken)),
        is_consuming=custody.is_consuming and bool(taken),
    )
    return after, taken


def commit(custody: Custody) -> tuple[Custody, int]:
    """Everything in process is finished; and what may be committed, or -1 if nothing was.

    Clause: group.process-queue.orderly-commit
    """
    highest = custody.in_process[-1].offset if custody.in_process else None
    lowest = custody.pending[0].offset if custody.pending else None
    after = replace(
        custody,
        in_process=(),
        count=custody.count - len(custody.in_process),
        size=custody.size - sum(entry.size for entry in custody.in_process),
    )
    return after, derive_commit_position(highest, lowest)


def put_back(custody: Custody, offsets: tuple[int, ...]) -> Custody:
    """The messages in process at these offsets are pending again.

    Clause: group.process-queue.put-back-conserves
    """
    back = tuple(entry for entry in custody.in_process if entry.offset in offsets)
    return replace(
        custody,
        pending=tuple(sorted(custody.pending + back)),
        in_process=tuple(entry for entry in custody.in_process if entry.offset not in offsets),
    )


def roll_back(custody: Custody) -> Custody:
    """Everything in process is pending again.

    Clause: group.process-queue.put-back-conserves
    """
    return replace(custody, pending=tuple(sorted(custody.pending + custody.in_process)), in_process=())


def clear(custody: Custody) -> Custody:
    """Nothing is in custody and nothing was seen; whether somebody consumes stays as it was.

    Clause: group.process-queue.clear-forgets
    """
    return Custody(is_consuming=custody.is_consuming)
