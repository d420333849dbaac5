"""Which settings change while a broker runs."""

import pytest

from spec.broker.setting import CHANGEABLE, check_changes
from spec.rejection import Rejection

CLAUSE = "broker.admin.setting-takes-effect"


@pytest.mark.clause(CLAUSE)
def test_values_are_read_by_the_kind_of_their_key() -> None:
    texts = dict.fromkeys(CHANGEABLE, "true") | {"brokerPermission": "2", "sendThreadPoolQueueCapacity": "1"}
    values: dict[str, bool | int] = dict.fromkeys(CHANGEABLE, True)
    values |= {"brokerPermission": 2, "sendThreadPoolQueueCapacity": 1}
    assert check_changes(texts) == values
    assert check_changes({}) == {}


@pytest.mark.clause(CLAUSE)
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"traceOn": "true"},
            f"traceOn cannot change while the broker runs; these can: {', '.join(CHANGEABLE)}",
        ),
        ({"slaveReadEnable": "True"}, "slaveReadEnable=True: expected true or false"),
        ({"brokerPermission": "7"}, "brokerPermission=7: expected 0, 2 (write), 4 (read) or 6"),
        ({"brokerPermission": "-2"}, "brokerPermission=-2: expected 0, 2 (write), 4 (read) or 6"),
        (
            {"slaveReadEnable": "true", "sendThreadPoolQueueCapacity": "-1"},
            "sendThreadPoolQueueCapacity=-1: expected a number above 0",
        ),
    ],
)
def test_a_change_without_effect_is_refused(changes: dict[str, str], reason: str) -> None:
    with pytest.raises(Rejection) as caught:
        check_changes(changes)
    assert caught.value == Rejection(CLAUSE, 0, reason)
