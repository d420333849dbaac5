"""Producers: taken in turn by group, found by client id, forgotten when they are silent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refimpl.broker.client_info import ClientInfo
from refimpl.broker.producer_registry import ProducerRegistry
from refimpl.broker.settings import BrokerSettings
from spec.values.host import host_of
from spec.wire.language import Language


def client(connection: int, client_id: str, at_ms: int = 0) -> ClientInfo:
    return ClientInfo(connection, client_id, Language.CPP, 399, host_of("10.0.0.9", 4711), at_ms)


def make(expiry_ms: int = 100) -> ProducerRegistry:
    return ProducerRegistry(BrokerSettings(member_expiry_ms=expiry_ms))


@pytest.mark.clause("broker.transaction.producer-in-turn")
def test_producers_of_a_group_are_chosen_in_turn() -> None:
    registry = make()
    assert registry.choose("g") is None
    for connection in (5, 6, 7):
        registry.register(client(connection, f"c{connection}"), "g")
    chosen = [registry.choose("g") for _ in range(4)]
    assert chosen == [7, 5, 6, 7]
    assert registry.clients("g") == (client(5, "c5"), client(6, "c6"), client(7, "c7"))
    registry.unregister("g", 6)
    assert {registry.choose("g") for _ in range(4)} == {5, 7}


def test_a_client_is_found_over_the_connection_that_it_opened_last() -> None:
    registry = make()
    registry.register(client(1, "c"), "g")
    registry.register(client(2, "c"), "g")
    registry.register(client(1, "c", 9), "g")
    assert registry.connection_of_client("c") == 2
    registry.drop_connection(2)
    assert registry.connection_of_client("c") == 1
    registry.drop_connection(1)
    assert (registry.connection_of_client("c"), registry.groups()) == (None, ())


def test_a_client_that_left_one_of_its_groups_is_still_found() -> None:
    registry = make()
    registry.register(client(1, "c"), "g")
    registry.register(client(1, "c"), "h")
    registry.unregister("g", 1)
    assert (registry.connection_of_client("c"), registry.groups_of(1)) == (1, ("h",))
    registry.unregister("h", 1)
    registry.unregister("h", 1)
    assert registry.connection_of_client("c") is None


def test_a_client_that_changed_its_id_is_found_by_the_new_one() -> None:
    registry = make()
    registry.register(client(1, "old"), "g")
    registry.register(client(1, "new"), "g")
    assert (registry.connection_of_client("old"), registry.connection_of_client("new")) == (None, 1)


@pytest.mark.clause("broker.member.expiry-is-strict")
def test_a_scan_removes_the_silent_and_names_each_connection_once() -> None:
    registry = make()
    registry.register(client(1, "a"), "g")
    registry.register(client(1, "a"), "h")
    registry.register(client(2, "b", 50), "g")
    assert registry.scan(100) == ()
    assert registry.scan(101) == (1,)
    assert (registry.groups(), registry.clients("g")) == (("g",), (client(2, "b", 50),))


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["beat", "beat", "leave", "close"]),
            st.integers(1, 3),
            st.sampled_from("ab"),
            st.sampled_from("gh"),
        ),
        max_size=25,
    )
)
def test_an_id_leads_to_a_connection_exactly_while_some_group_knows_it(
    steps: list[tuple[str, int, str, str]],
) -> None:
    registry = make()
    known: dict[tuple[str, int], str] = {}
    for deed, connection, client_id, group in steps:
        match deed:
            case "beat":
                registry.register(client(connection, client_id), group)
                known[group, connection] = client_id
            case "leave":
                registry.unregister(group, connection)
                known.pop((group, connection), None)
            case _:
                registry.drop_connection(connection)
                known = {place: one for place, one in known.items() if place[1] != connection}
        for wanted in "ab":
            found = registry.connection_of_client(wanted)
            connections = {place[1] for place, one in known.items() if one == wanted}
            assert (found in connections) if connections else found is None
        for name in "gh":
            members = {place[1]: one for place, one in known.items() if place[0] == name}
            assert {one.connection: one.client_id for one in registry.clients(name)} == members
