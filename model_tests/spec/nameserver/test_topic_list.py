import pytest

from spec.nameserver.registration import BrokerEntry
from spec.nameserver.topic_list import UnitList, derive_any_address, derive_system_topics, is_listed


@pytest.mark.clause("nameserver.topic-list.unit-flags")
@pytest.mark.parametrize(
    ("asked", "listed"),
    [(UnitList.UNIT, [1, 3, 5]), (UnitList.SUBSCRIBED, [2, 3]), (UnitList.SUBSCRIBED_ONLY, [2])],
)
def test_the_two_flags_put_a_topic_into_three_lists(asked: UnitList, listed: list[int]) -> None:
    assert [flag for flag in range(6) if is_listed(asked, flag)] == listed


@pytest.mark.clause("nameserver.topic-list.system-topics")
def test_clusters_and_brokers_are_system_topics_and_the_first_broker_knows_more() -> None:
    entries = {
        "b": BrokerEntry("C", "b", {0: "b:1"}),
        "a": BrokerEntry("D", "a", {2: "s:1", 1: "r:1"}),
    }
    assert derive_system_topics(entries) == frozenset({"C", "D", "a", "b"})
    assert derive_any_address(entries) == "r:1"
    assert derive_system_topics({}) == frozenset()
    assert derive_any_address({}) is None
