"""Offset store: a late report cannot undo a later one."""

from spec.group.offset_store import AskStore, Known, ReadMode, Unknown, derive_read, derive_updated
from spec.values.units import QueueOffset


def increase_only_never_falls(stored: int, position: int) -> bool:
    """With "increase only" the value is the larger of the two.

    clause: group.offset-store.increase-only
    pre: 0 <= stored and 0 <= position
    post: __return__
    """
    after = derive_updated(QueueOffset(stored), QueueOffset(position), increase_only=True)
    return after >= stored and after >= position and after in (stored, position)


def order_of_increase_only_reports_does_not_matter(stored: int, one: int, two: int) -> bool:
    """Two reports give the same value in either order.

    clause: group.offset-store.increase-only
    pre: 0 <= stored and 0 <= one and 0 <= two
    post: __return__
    """

    def report(value: int, position: int) -> int:
        return derive_updated(QueueOffset(value), QueueOffset(position), increase_only=True)

    return report(report(stored, one), two) == report(report(stored, two), one)


def setting_may_go_back(stored: int, position: int) -> bool:
    """Without "increase only" the value is what was reported.

    clause: group.offset-store.increase-only
    pre: 0 <= stored and 0 <= position
    post: __return__
    """
    return derive_updated(QueueOffset(stored), QueueOffset(position), increase_only=False) == position


def memory_miss_goes_on_to_the_store(mode: ReadMode) -> bool:
    """A miss in memory ends the read only if memory was the only place to look.

    clause: group.offset-store.read-modes
    post: __return__
    """
    answer = derive_read(mode, None)
    return isinstance(answer, Unknown if mode is ReadMode.MEMORY else AskStore)


def memory_hit_is_used_unless_store_was_asked(mode: ReadMode, offset: int) -> bool:
    """What memory has is the answer, except when the store itself was asked.

    clause: group.offset-store.read-modes
    pre: 0 <= offset
    post: __return__
    """
    answer = derive_read(mode, QueueOffset(offset))
    return answer == (AskStore() if mode is ReadMode.STORE else Known(QueueOffset(offset)))
