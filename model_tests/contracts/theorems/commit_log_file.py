"""Files of the log: where positions lie, and where a record goes."""

from typing import Final

from spec.layout.commit_log_file import (
    derive_file_start,
    derive_next_file_start,
    derive_remaining,
    plan_append,
)
from spec.layout.stored_message import BLANK_SIZE
from spec.values.units import CommitLogPosition

FILE_SIZE: Final = 1000
"""Of the theorems whose proof needs a fixed divisor."""


def position_lies_in_exactly_one_file(position: int, file_size: int) -> bool:
    """A position's file begins at or before it, the next begins behind it, and both at multiples.

    clause: store.file.starts-are-multiples
    pre: 0 <= position < 2**40
    pre: 1 <= file_size <= 4096
    post: __return__
    """
    start = derive_file_start(position, file_size)
    after = derive_next_file_start(position, file_size)
    whole = start % file_size == 0 and after == start + file_size
    return whole and start <= position < after and position + derive_remaining(position, file_size) == after


def record_keeps_room_for_a_blank(position: int, size: int) -> bool:
    """Wherever a record goes, it stays in one file and leaves 8 bytes behind it.

    clause: store.file.keeps-room-for-blank
    pre: 0 <= position < 2**40
    pre: position % 1000 <= 992
    pre: 91 <= size <= 992
    post: __return__
    """
    plan = plan_append(CommitLogPosition(position), size, FILE_SIZE)
    return derive_remaining(plan.record_at, FILE_SIZE) >= size + BLANK_SIZE


def blank_covers_what_the_record_leaves(position: int, size: int) -> bool:
    """A blank record is written only where the record did not fit, and reaches to the record's file.

    clause: store.blank.covers-the-rest
    pre: 0 <= position < 2**40
    pre: position % 1000 <= 992
    pre: 91 <= size <= 992
    post: __return__
    """
    plan = plan_append(CommitLogPosition(position), size, FILE_SIZE)
    if plan.blank_at is None:
        return plan.record_at == position
    reaches = plan.blank_at == position and plan.blank_at + plan.blank_size == plan.record_at
    return reaches and plan.blank_size >= BLANK_SIZE and size + BLANK_SIZE > plan.blank_size


def next_append_always_has_its_blank(position: int, size: int, next_size: int) -> bool:
    """After any append the next record of a legal size has a plan: eight bytes are always left.

    clause: store.file.keeps-room-for-blank
    pre: 0 <= position < 2**40
    pre: position % 1000 <= 992
    pre: 91 <= size <= 992
    pre: 91 <= next_size <= 992
    post: __return__
    """
    end = plan_append(CommitLogPosition(position), size, FILE_SIZE).record_at + size
    after = plan_append(CommitLogPosition(end), next_size, FILE_SIZE)
    return after.record_at >= end
