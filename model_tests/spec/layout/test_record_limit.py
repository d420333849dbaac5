import pytest

from spec.layout.record_limit import SizeRule, check_size
from spec.rejection import Rejection
from spec.values.units import ByteCount

LIMIT = ByteCount(1_000)


@pytest.mark.clause("store.record.size-limit")
@pytest.mark.parametrize(
    ("size", "body", "rule"),
    [(1_000, 900, SizeRule.WHOLE_RECORD), (1_000 + 65_536, 1_000, SizeRule.BODY)],
)
def test_sizes_up_to_the_limit_are_stored(size: int, body: int, rule: SizeRule) -> None:
    check_size(size, body, limit=LIMIT, rule=rule)


@pytest.mark.clause("store.record.size-limit")
@pytest.mark.parametrize(
    ("size", "body", "rule"),
    [
        (1_001, 900, SizeRule.WHOLE_RECORD),
        (1_092, 1_001, SizeRule.BODY),
        (1_001 + 65_536, 1_000, SizeRule.BODY),
    ],
)
def test_sizes_above_the_limit_are_refused(size: int, body: int, rule: SizeRule) -> None:
    with pytest.raises(Rejection, match="exceed") as refusal:
        check_size(size, body, limit=LIMIT, rule=rule)
    assert refusal.value.clause == "store.record.size-limit"


@pytest.mark.clause("store.record.size-limit")
def test_default_limit_is_four_mebibytes_of_whole_record() -> None:
    check_size(4 * 1024 * 1024, 0)
    with pytest.raises(Rejection):
        check_size(4 * 1024 * 1024 + 1, 0)
