"""The known holes of Apache 4.9.8: guarantees that its own code gives up in named situations.

A clean implementation closes them. A checker that judges Apache must accept what they explain,
and only that: a hole excuses a violation when its trigger is in the history.
"""

from enum import Enum


class Hole(Enum):
    """A weakness of 4.9.8 that a dialect may admit; the value says what happens."""

    K1 = "any error answer to an offset query counts as no offset"
    K2 = "the first commits of a new topic and group race and may overwrite each other"
    K3 = "reset and offset correction wait a fixed time instead of fencing older tenures"
    K4 = "a group without retry queues acknowledges a send-back and stores nothing"
    K5 = "an unreadable file makes the broker and its clients skip to the next one"
    K6 = "an ordered broadcast consumer takes the cluster lock"
    K7 = "a consume timeout and a late failure of the same message give two retry copies"
    K8 = "the index runs ahead of what is flushed"
    K9 = "shutdown unlocks before running listeners finish and before offsets are stored"
    K10 = "an exception stops the cursor of transaction checks"
