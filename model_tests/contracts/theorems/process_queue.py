"""Custody: the position never passes a message that is not finished."""

from itertools import pairwise

from spec.group.custody import (
    NO_POSITION,
    Custody,
    Entry,
    commit,
    commit_position,
    derive_commit_position,
    is_sound,
    put,
    put_back,
    remove,
    roll_back,
    take,
)


def _custody(pending: tuple[int, ...], in_process: tuple[int, ...], highest_seen: int) -> Custody:
    """A value with these offsets; a message at offset o has size o + 1."""
    return Custody(
        pending=tuple(Entry(offset, offset + 1) for offset in pending),
        in_process=tuple(Entry(offset, offset + 1) for offset in in_process),
        highest_seen=highest_seen,
        count=len(pending) + len(in_process),
        size=sum(offset + 1 for offset in pending + in_process),
    )


def _offsets(entries: tuple[Entry, ...]) -> tuple[int, ...]:
    return tuple(entry.offset for entry in entries)


def is_ascending(offsets: tuple[int, ...]) -> bool:
    """Whether each offset is larger than the one before."""
    return all(one < two for one, two in pairwise(offsets))


def position_never_passes_custody(
    pending: tuple[int, ...], in_process: tuple[int, ...], highest_seen: int
) -> bool:
    """Everything in custody is at or above the position.

    clause: group.process-queue.position
    pre: len(pending) <= 2 and len(in_process) <= 2
    pre: all(0 <= offset <= highest_seen for offset in pending + in_process)
    post: __return__
    """
    position = commit_position(pending, in_process, highest_seen)
    return all(position <= offset for offset in pending + in_process) and position <= highest_seen + 1


def empty_custody_gives_one_past_the_highest(highest_seen: int) -> bool:
    """With nothing in custody everything seen is finished.

    clause: group.process-queue.position
    pre: -1 <= highest_seen
    post: __return__
    """
    return commit_position((), (), highest_seen) == highest_seen + 1


def finishing_never_lowers_the_position(
    pending: tuple[int, ...], finished: tuple[int, ...], highest_seen: int
) -> bool:
    """After a removal the position is at least what it was.

    clause: group.process-queue.position-never-falls
    pre: 1 <= len(pending) <= 3 and len(finished) <= 2
    pre: is_ascending(pending)
    pre: all(0 <= offset <= highest_seen for offset in pending)
    pre: highest_seen < 8
    post: __return__
    """
    before = _custody(pending, (), highest_seen)
    after, position = remove(before, finished)
    return position == after.position() >= before.position()


def later_offsets_never_lower_the_position(pending: tuple[int, ...], highest_seen: int, new: int) -> bool:
    """A message behind everything seen cannot move the position back.

    clause: group.process-queue.position-never-falls
    pre: len(pending) <= 3
    pre: all(0 <= offset <= highest_seen for offset in pending)
    pre: highest_seen < new
    post: __return__
    """
    before = commit_position(pending, (), highest_seen)
    return before <= commit_position((*pending, new), (), new) <= new


def putting_later_offsets_never_lowers_the_position(
    pending: tuple[int, ...], highest_seen: int, new: int
) -> bool:
    """The same, through `put` itself.

    clause: group.process-queue.position-never-falls
    pre: len(pending) <= 2
    pre: is_ascending(pending)
    pre: all(0 <= offset <= highest_seen for offset in pending)
    pre: -1 <= highest_seen < new < 8
    post: __return__
    """
    before = _custody(pending, (), highest_seen)
    after, _ = put(before, (Entry(new, new + 1),))
    return before.position() <= after.position()


def removal_from_nothing_has_no_position(in_process: tuple[int, ...], finished: tuple[int, ...]) -> bool:
    """If nothing was pending, a removal commits nothing.

    clause: group.process-queue.nothing-pending-no-position
    pre: len(in_process) <= 2 and len(finished) <= 2
    pre: is_ascending(in_process)
    pre: all(0 <= offset < 8 for offset in in_process)
    post: __return__
    """
    before = _custody((), in_process, 7)
    return remove(before, finished) == (before, NO_POSITION)


def put_keeps_counters_and_order(
    pending: tuple[int, ...], in_process: tuple[int, ...], new: tuple[int, ...]
) -> bool:
    """After a put the counters equal the content and every offset is there once.

    clause: group.process-queue.counters-equal-content
    pre: len(pending) <= 1 and len(in_process) <= 1 and len(new) <= 2
    pre: is_ascending(pending)
    pre: all(0 <= offset < 3 for offset in pending + in_process + new)
    pre: not set(pending) & set(in_process)
    post: __return__
    """
    after, _ = put(_custody(pending, in_process, 2), tuple(Entry(offset, 1) for offset in new))
    return is_sound(after) and set(_offsets(after.pending + after.in_process)) == {
        *pending,
        *in_process,
        *new,
    }


def put_is_idempotent(pending: tuple[int, ...], new: tuple[int, ...]) -> bool:
    """Putting the same messages twice is putting them once.

    clause: group.process-queue.put-once
    pre: len(pending) <= 2 and len(new) <= 2
    pre: is_ascending(pending)
    pre: all(0 <= offset < 4 for offset in pending + new)
    post: __return__
    """
    entries = tuple(Entry(offset, 1) for offset in new)
    once, _ = put(_custody(pending, (), 3), entries)
    twice, wakes = put(once, entries)
    return twice == once and not wakes


def put_does_not_revive_a_message_in_process(in_process: int, size: int) -> bool:
    """A message that was taken is not put a second time.

    clause: group.process-queue.put-once
    pre: 0 <= in_process < 8
    pre: 0 <= size
    post: __return__
    """
    before = _custody((), (in_process,), 7)
    after, wakes = put(before, (Entry(in_process, size),))
    return after == before and not wakes


def remove_keeps_counters(
    pending: tuple[int, ...], in_process: tuple[int, ...], gone: tuple[int, ...]
) -> bool:
    """After a removal the counters equal the content, and only pending messages are gone.

    clause: group.process-queue.counters-equal-content
    pre: len(pending) <= 2 and len(in_process) <= 1 and len(gone) <= 2
    pre: is_ascending(pending)
    pre: all(0 <= offset < 4 for offset in pending + in_process + gone)
    pre: not set(pending) & set(in_process)
    post: __return__
    """
    after, _ = remove(_custody(pending, in_process, 3), gone)
    left = tuple(offset for offset in pending if offset not in gone)
    return is_sound(after) and (_offsets(after.pending), _offsets(after.in_process)) == (left, in_process)


def take_moves_the_lowest(pending: tuple[int, ...], limit: int) -> bool:
    """Taking moves the lowest messages and keeps count, size and position.

    clause: group.process-queue.take-lowest
    pre: len(pending) <= 3
    pre: is_ascending(pending)
    pre: all(0 <= offset < 8 for offset in pending)
    pre: -1 <= limit <= 4
    post: __return__
    """
    before = _custody(pending, (), 7)
    after, taken = take(before, limit)
    return (
        is_sound(after)
        and after.in_process == taken
        and taken + after.pending == before.pending
        and len(taken) == max(0, min(limit, len(pending)))
        and (after.count, after.size, after.position()) == (before.count, before.size, before.position())
    )


def roll_back_undoes_take(pending: tuple[int, ...], limit: int) -> bool:
    """What was taken and rolled back is pending as before.

    clause: group.process-queue.put-back-conserves
    pre: len(pending) <= 3
    pre: is_ascending(pending)
    pre: all(0 <= offset < 8 for offset in pending)
    pre: 0 <= limit <= 4
    post: __return__
    """
    before = _custody(pending, (), 7)
    taken, _ = take(before, limit)
    return roll_back(taken) == before


def put_back_conserves(in_process: tuple[int, ...], chosen: tuple[int, ...]) -> bool:
    """Putting back moves only what was taken, and nothing is lost or doubled.

    clause: group.process-queue.put-back-conserves
    pre: len(in_process) <= 2 and len(chosen) <= 2
    pre: is_ascending(in_process)
    pre: all(0 <= offset < 4 for offset in in_process + chosen)
    post: __return__
    """
    after = put_back(_custody((), in_process, 3), chosen)
    return is_sound(after) and set(_offsets(after.pending)) == set(in_process) & set(chosen)


def commit_finishes_what_was_taken(pending: tuple[int, ...], limit: int) -> bool:
    """A commit after a take gives one past the last taken message, and leaves the rest.

    clause: group.process-queue.orderly-commit
    pre: len(pending) <= 3
    pre: is_ascending(pending)
    pre: all(0 <= offset < 8 for offset in pending)
    pre: 0 <= limit <= 4
    post: __return__
    """
    taken, batch = take(_custody(pending, (), 7), limit)
    after, position = commit(taken)
    expected = batch[-1].offset + 1 if batch else NO_POSITION
    return (
        is_sound(after) and position == expected and after.pending == taken.pending and not after.in_process
    )


def orderly_commit_never_passes_pending(highest_in_process: int, lowest_pending: int) -> bool:
    """Even if an earlier offset came in after the take, the commit stays at or below it.

    clause: group.process-queue.orderly-commit
    pre: 0 <= highest_in_process
    pre: 0 <= lowest_pending
    post: __return__
    """
    position = derive_commit_position(highest_in_process, lowest_pending)
    return 0 <= position <= min(lowest_pending, highest_in_process + 1)
