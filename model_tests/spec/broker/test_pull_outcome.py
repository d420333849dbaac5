import pytest

from spec.broker.page_cache import is_on_disk
from spec.broker.pull_outcome import (
    Bounds,
    OffsetCheck,
    Outcome,
    Overflow,
    PullStatus,
    decide_without_scan,
    derive_code,
    derive_suggested_broker_id,
)
from spec.values.units import QueueOffset
from spec.wire.code import ResponseCode


@pytest.mark.clause(
    "broker.pull.one-status", "broker.pull.overflow-to-maximum", "broker.pull.unreadable-file-skipped"
)
@pytest.mark.parametrize(
    ("offset", "bounds", "status", "next_offset"),
    [
        (3, None, PullStatus.NO_MATCHED_LOGIC_QUEUE, 0),
        (3, Bounds(0, 0), PullStatus.NO_MESSAGE_IN_QUEUE, 0),
        (9, Bounds(10, 20), PullStatus.OFFSET_TOO_SMALL, 10),
        (20, Bounds(10, 20), PullStatus.OFFSET_OVERFLOW_ONE, 20),
        (21, Bounds(10, 20), PullStatus.OFFSET_OVERFLOW_BADLY, 20),
        (21, Bounds(0, 20), PullStatus.OFFSET_OVERFLOW_BADLY, 20),
        (5, Bounds(0, 20), PullStatus.OFFSET_FOUND_NULL, 300_000),
        (300_000, Bounds(0, 300_001), PullStatus.OFFSET_FOUND_NULL, 600_000),
    ],
)
def test_outcome_without_a_scan(
    offset: int, bounds: Bounds | None, status: PullStatus, next_offset: int
) -> None:
    outcome = decide_without_scan(offset, bounds, has_units=False)
    assert outcome == Outcome(status, QueueOffset(next_offset))
    left_alone = decide_without_scan(offset, bounds, has_units=False, check=OffsetCheck.LEFT_ALONE)
    assert left_alone == Outcome(status, QueueOffset(offset))


@pytest.mark.clause("broker.pull.overflow-to-maximum")
def test_4_9_3_sends_an_overflow_to_zero_only_if_the_queue_begins_there() -> None:
    to_zero = decide_without_scan(21, Bounds(0, 20), has_units=True, overflow=Overflow.TO_ZERO)
    assert to_zero == Outcome(PullStatus.OFFSET_OVERFLOW_BADLY, QueueOffset(0))
    to_maximum = decide_without_scan(21, Bounds(1, 20), has_units=True, overflow=Overflow.TO_ZERO)
    assert to_maximum == Outcome(PullStatus.OFFSET_OVERFLOW_BADLY, QueueOffset(20))


@pytest.mark.clause("broker.pull.status-code", "broker.pull.empty-queue-code")
def test_every_status_has_its_code() -> None:
    codes = {status.name: (int(derive_code(status, 0)), int(derive_code(status, 7))) for status in PullStatus}
    assert codes == {
        "FOUND": (0, 0),
        "NO_MATCHED_MESSAGE": (20, 20),
        "MESSAGE_WAS_REMOVING": (20, 20),
        "OFFSET_FOUND_NULL": (19, 19),
        "OFFSET_OVERFLOW_ONE": (19, 19),
        "NO_MESSAGE_IN_QUEUE": (19, 21),
        "NO_MATCHED_LOGIC_QUEUE": (19, 21),
        "OFFSET_OVERFLOW_BADLY": (21, 21),
        "OFFSET_TOO_SMALL": (21, 21),
    }


@pytest.mark.clause("broker.pull.slave-keeps-offset")
def test_unchecked_slave_answers_twenty_in_place_of_twenty_one() -> None:
    moved = (PullStatus.OFFSET_OVERFLOW_BADLY, PullStatus.OFFSET_TOO_SMALL)
    codes = [derive_code(status, 7, check=OffsetCheck.LEFT_ALONE) for status in moved]
    assert codes == [ResponseCode.PULL_RETRY_IMMEDIATELY] * 2
    empty = (PullStatus.NO_MESSAGE_IN_QUEUE, PullStatus.NO_MATCHED_LOGIC_QUEUE)
    codes = [derive_code(status, 7, check=OffsetCheck.LEFT_ALONE) for status in empty]
    assert codes == [ResponseCode.PULL_RETRY_IMMEDIATELY] * 2
    codes = [derive_code(status, 0, check=OffsetCheck.LEFT_ALONE) for status in empty]
    assert codes == [ResponseCode.PULL_NOT_FOUND] * 2


@pytest.mark.clause("broker.pull.suggested-broker")
def test_suggested_broker_is_a_slave_only_for_the_slow_where_slaves_may_be_read() -> None:
    suggested = [
        derive_suggested_broker_id(
            is_slave_read_enabled=enabled, is_slow=slow, normal_broker_id=2, slow_broker_id=5
        )
        for enabled in (False, True)
        for slow in (False, True)
    ]
    assert suggested == [0, 0, 2, 5]


@pytest.mark.clause("broker.pull.suggested-broker")
def test_suggested_broker_of_a_group_without_a_choice_is_the_master_or_the_first_slave() -> None:
    suggested = [
        derive_suggested_broker_id(is_slave_read_enabled=True, is_slow=slow) for slow in (False, True)
    ]
    assert suggested == [0, 1]


@pytest.mark.clause("broker.pull.on-disk-estimate")
def test_on_disk_begins_one_byte_past_forty_percent_of_memory() -> None:
    gib = 1024**3
    share = 10 * gib * 40 // 100
    assert not is_on_disk(share + 5, 5, 10 * gib)
    assert is_on_disk(share + 6, 5, 10 * gib)


@pytest.mark.clause("broker.pull.on-disk-estimate")
def test_on_disk_estimate_is_exact_where_a_float_would_round() -> None:
    memory_bytes = 25 * 10**16 + 5
    assert not is_on_disk(10**17 + 2, 0, memory_bytes)
    assert is_on_disk(10**17 + 3, 0, memory_bytes)
