"""When a group may be moved, and whereto."""

import pytest

from spec.broker.reset import NEVER, ResetRefusal, check_reset, derive_corrections, derive_reset_offset
from spec.values.units import QueueId, QueueOffset
from spec.wire.code import ResponseCode

ZERO, ONE = QueueId(0), QueueId(1)
KNOWN = {ZERO: QueueOffset(5), ONE: QueueOffset(0)}


@pytest.mark.clause("broker.admin.reset-refused")
@pytest.mark.parametrize(
    ("committed", "versions", "refusal"),
    [
        (KNOWN, [399, 28], None),
        ({}, [399], None),
        (None, [], ResetRefusal(ResponseCode.SYSTEM_ERROR, "the topic is not on this broker")),
        (
            {**KNOWN, ONE: None},
            [],
            ResetRefusal(ResponseCode.SYSTEM_ERROR, "the group has committed no offset of queue 1"),
        ),
        (KNOWN, [], ResetRefusal(ResponseCode.CONSUMER_NOT_ONLINE, "no consumer of the group is online")),
        (
            KNOWN,
            [399, 27],
            ResetRefusal(
                ResponseCode.SYSTEM_ERROR, "a consumer of the group has version 27, which is too old"
            ),
        ),
    ],
)
def test_a_reset_is_refused_by_the_first_check_that_fails(
    committed: dict[QueueId, QueueOffset | None] | None, versions: list[int], refusal: ResetRefusal | None
) -> None:
    assert check_reset(committed, versions) == refusal


@pytest.mark.clause("broker.admin.reset-target")
@pytest.mark.parametrize(
    ("found", "committed", "is_forced", "target"),
    [
        (3, 5, False, 3),
        (9, 5, False, 5),
        (9, 5, True, 9),
        (-1, 5, True, 0),
        (-1, 5, False, 0),
        (3, -7, False, 0),
    ],
)
def test_a_reset_goes_forward_only_by_force(
    found: int, committed: int, target: int, *, is_forced: bool
) -> None:
    assert derive_reset_offset(found, committed, is_forced=is_forced) == target


@pytest.mark.clause("broker.admin.correction-lowest")
def test_a_correction_is_the_lowest_offset_unless_the_compared_group_is_lower() -> None:
    groups = [KNOWN, {ZERO: QueueOffset(7)}, {ONE: QueueOffset(3)}]
    assert derive_corrections(groups, {}) == {ZERO: 5, ONE: 0}
    assert derive_corrections(groups, {ZERO: QueueOffset(5)}) == {ZERO: 5, ONE: 0}
    assert derive_corrections(groups, {ZERO: QueueOffset(4)}) == {ZERO: NEVER, ONE: 0}
    assert derive_corrections([], {ZERO: QueueOffset(4)}) == {}
