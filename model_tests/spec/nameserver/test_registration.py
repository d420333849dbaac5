import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.broker.topic import DataVersion, TopicConfig
from spec.nameserver.registration import (
    BrokerEntry,
    derive_master_address,
    drop_address,
    is_topic_update,
    is_version_changed,
    merge_topics,
    register,
    unregister,
)

PAIR = BrokerEntry("C", "b", {0: "m:1", 1: "s:1"})


@pytest.mark.clause(
    "nameserver.registration.latest-address-wins", "nameserver.registration.one-id-per-address"
)
def test_registration_places_an_address_under_one_id() -> None:
    assert register(None, "C", "b", 0, "m:1") == BrokerEntry("C", "b", {0: "m:1"})
    assert register(PAIR, "C", "b", 0, "x:1") == BrokerEntry("C", "b", {0: "x:1", 1: "s:1"})
    assert register(PAIR, "C", "b", 0, "s:1") == BrokerEntry("C", "b", {0: "s:1"})


@pytest.mark.clause("nameserver.registration.farewell-removes-itself")
def test_late_farewell_of_the_old_master_spares_the_new_one() -> None:
    promoted = register(PAIR, "C", "b", 0, "s:1")
    assert unregister(promoted, 0, "m:1") == promoted
    assert unregister(promoted, 0, "m:1", fences_address=False) is None


@pytest.mark.clause("nameserver.registration.empty-name-ends")
def test_name_ends_with_its_last_address() -> None:
    assert unregister(PAIR, 0, "m:1") == BrokerEntry("C", "b", {1: "s:1"})
    assert drop_address(PAIR, "s:1") == BrokerEntry("C", "b", {0: "m:1"})
    assert drop_address(BrokerEntry("C", "b", {0: "m:1"}), "m:1") is None
    assert drop_address(PAIR, "x:1") == PAIR


@pytest.mark.clause(
    "nameserver.registration.master-speaks-for-topics", "nameserver.registration.version-decides"
)
@pytest.mark.parametrize(
    ("broker_id", "known", "arrived", "is_update"),
    [
        (0, None, DataVersion(5, 5), True),
        (0, DataVersion(5, 5), DataVersion(5, 5), False),
        (0, DataVersion(5, 5), DataVersion(6, 5), True),
        (0, DataVersion(5, 5), DataVersion(5, 4), True),
        (1, None, DataVersion(5, 5), False),
        (1, DataVersion(5, 5), DataVersion(6, 6), False),
    ],
)
def test_topics_are_taken_from_a_master_with_another_version(
    broker_id: int, known: DataVersion | None, arrived: DataVersion, *, is_update: bool
) -> None:
    assert is_topic_update(broker_id, known, arrived) is is_update


@pytest.mark.clause("nameserver.registration.missing-topics-stay")
def test_topics_that_are_not_mentioned_stay() -> None:
    known = {"A": TopicConfig("A", 4, 4), "B": TopicConfig("B", 4, 4)}
    assert merge_topics(known, {"B": TopicConfig("B", 8, 8)}) == {
        "A": TopicConfig("A", 4, 4),
        "B": TopicConfig("B", 8, 8),
    }


@pytest.mark.clause("nameserver.registration.slave-learns-master")
def test_slave_is_told_its_master() -> None:
    assert derive_master_address(PAIR, 1) == "m:1"
    assert derive_master_address(PAIR, 0) is None
    assert derive_master_address(BrokerEntry("C", "b", {1: "s:1"}), 1) is None


STEPS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 2), st.sampled_from(["x:1", "y:1", "z:1"])), max_size=20
)


@pytest.mark.clause(
    "nameserver.registration.farewell-removes-itself", "nameserver.registration.one-id-per-address"
)
@given(STEPS)
def test_a_registered_broker_stays_until_it_leaves_or_is_replaced(steps: list[tuple[bool, int, str]]) -> None:
    entry: BrokerEntry | None = None
    expected: dict[int, str] = {}
    for is_arrival, broker_id, address in steps:
        if is_arrival:
            entry = register(entry, "C", "b", broker_id, address)
            expected = {i: where for i, where in expected.items() if where != address} | {broker_id: address}
        elif entry is not None:
            entry = unregister(entry, broker_id, address)
            if expected.get(broker_id) == address:
                del expected[broker_id]
    assert (entry.addresses if entry else {}) == expected


@pytest.mark.clause("nameserver.registration.version-query")
def test_a_broker_is_asked_to_register_unless_exactly_its_version_is_known() -> None:
    asked = DataVersion(5, 5)
    known = (None, DataVersion(5, 5), DataVersion(6, 5), DataVersion(5, 6), DataVersion(5, 5, 1))
    assert [is_version_changed(version, asked) for version in known] == [True, False, True, True, True]
