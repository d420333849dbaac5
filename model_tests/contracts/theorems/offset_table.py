"""Theorems on committed offsets: what is told is kept, and only known answers are given."""

from spec.broker.offset_table import (
    Carrier,
    Commit,
    Explanation,
    answer_query,
    apply_commit,
    explain_decrease,
    is_commit_of_pull,
)
from spec.values.units import QueueOffset

CARRIERS = (Carrier.PULL, Carrier.UPDATE)


def commit_then_query_gives_the_commit(before: int, told: int, minimum: int, *, is_on_disk: bool) -> bool:
    """Whatever was committed before, a query answers the last value told.

    clause: broker.offset.commit-overwrites
    pre: 0 <= before <= 10**15
    pre: 0 <= told <= 10**15
    pre: 0 <= minimum <= 10**15
    post: __return__
    """
    old = Commit(QueueOffset(before), Carrier.UPDATE)
    new = apply_commit(old, Commit(QueueOffset(told), Carrier.UPDATE))
    return answer_query(new.offset, minimum, is_first_message_on_disk=is_on_disk) == told


def unknown_offset_is_zero_or_not_found(minimum: int, *, is_on_disk: bool, is_asked: bool) -> bool:
    """Without a commit the answer is 0 for a young queue that may say so, and otherwise "not found".

    clause: broker.offset.young-queue-zero
    pre: 0 <= minimum <= 10**15
    post: __return__
    """
    answer = answer_query(None, minimum, is_first_message_on_disk=is_on_disk, zero_for_young_queue=is_asked)
    is_young = minimum == 0 and not is_on_disk
    return answer == (0 if is_young and is_asked else None)


def one_tenure_and_carrier_never_explains_a_decrease(old: int, new: int, carrier: int, tenure: int) -> bool:
    """A lower value of the same tenure by the same carrier has no legal reason.

    clause: broker.offset.decrease-explained
    pre: 0 <= new < old <= 10**15
    pre: 0 <= carrier <= 1
    post: __return__
    """
    before = Commit(QueueOffset(old), CARRIERS[carrier], "a", tenure)
    after = Commit(QueueOffset(new), CARRIERS[carrier], "a", tenure)
    return explain_decrease(before, after) is Explanation.UNEXPLAINED


def woken_pull_never_commits(sys_flag: int, *, is_slave: bool) -> bool:
    """A pull that was held and runs again does not commit a second time.

    clause: broker.offset.pull-commits-once
    pre: 0 <= sys_flag <= 31
    post: __return__
    """
    return not is_commit_of_pull(sys_flag, is_slave=is_slave, is_first_pass=False)
