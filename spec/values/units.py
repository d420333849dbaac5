"""Integers that must not be mixed up.

A queue offset counts messages of one queue, a commit-log position counts bytes of the whole
log, and both are "offset" in Apache's words. Giving each its own type lets mypy refuse the
mistake; at run time they are plain integers.
"""

from typing import NewType

QueueOffset = NewType("QueueOffset", int)
"""Which message of a queue: 0 is the first ever stored."""

CommitLogPosition = NewType("CommitLogPosition", int)
"""Which byte of the commit log, counted over all its files."""

QueueId = NewType("QueueId", int)
"""Which queue of a topic on one broker."""

Index = NewType("Index", int)
"""A position in a sorted list: of members, of queues, of index entries."""

Count = NewType("Count", int)
"""How many."""

ByteCount = NewType("ByteCount", int)
"""How many bytes."""

Milliseconds = NewType("Milliseconds", int)
"""A duration, or an instant counted from 1970-01-01 UTC."""

TagCode = NewType("TagCode", int)
"""The 32-bit signed Java hash of a tag, or a due time in the schedule topic."""
