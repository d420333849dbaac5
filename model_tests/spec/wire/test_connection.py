"""Idle limits, expiry of calls, ports and the choice of a name server."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.wire import connection
from spec.wire.connection import (
    derive_fast_port,
    derive_name_server_index,
    derive_replication_port,
    fail_calls,
    is_broker_port_legal,
    is_call_expired,
    is_idle,
    is_served_on_fast_port,
)


@pytest.mark.clause("wire.connection.idle-close")
def test_traffic_in_either_direction_keeps_a_connection_open() -> None:
    assert is_idle(1_000, 500, 121_000)
    assert is_idle(500, 1_000, 121_000)
    assert not is_idle(1_001, 500, 121_000)
    assert not is_idle(500, 1_001, 121_000)


@pytest.mark.clause("wire.connection.call-expiry")
def test_a_call_is_given_up_a_second_after_its_timeout() -> None:
    assert not is_call_expired(10, 3_000, 4_009)
    assert is_call_expired(10, 3_000, 4_010)


@pytest.mark.clause("wire.connection.close-fails-calls")
@given(st.dictionaries(st.integers(0, 9), st.integers(0, 3)), st.integers(0, 3))
def test_closing_fails_all_calls_of_the_connection_and_no_others(calls: dict[int, int], closed: int) -> None:
    failed, kept = fail_calls(calls, closed)
    assert failed == {opaque for opaque in calls if calls[opaque] == closed}
    assert kept == {opaque: calls[opaque] for opaque in calls if calls[opaque] != closed}


@pytest.mark.clause("wire.connection.ports", "wire.connection.fast-port-no-pull")
def test_the_ports_of_a_broker_follow_from_one_and_pulls_stay_on_it() -> None:
    assert (derive_fast_port(10911), derive_replication_port(10911)) == (10909, 10912)
    legal = [is_broker_port_legal(port) for port in (2, 3, 65_534, 65_535)]
    assert legal == [False, True, True, False]
    assert [code for code in range(1_000) if not is_served_on_fast_port(code)] == [11]


@pytest.mark.clause("wire.connection.name-server-kept")
@given(st.integers(1, 5))
def test_failing_name_servers_are_all_tried_in_turn(count: int) -> None:
    index = 0
    tried = [index := derive_name_server_index(index, count, is_usable=False) for _ in range(count)]
    assert sorted(tried) == list(range(count))
    assert derive_name_server_index(index, count, is_usable=True) == index


def test_numbers_are_apaches() -> None:
    assert (connection.IDLE_LIMIT_MS, connection.CONNECT_TIMEOUT_MS) == (120_000, 3_000)
    assert (connection.SWEEP_DELAY_MS, connection.SWEEP_INTERVAL_MS) == (3_000, 1_000)
    limits = (connection.CLIENT_CALL_LIMIT, connection.SERVER_CALL_LIMIT, connection.SERVER_ONEWAY_LIMIT)
    assert limits == (65_535, 64, 256)
    assert (connection.BROKER_PORT, connection.NAME_SERVER_PORT) == (10_911, 9_876)
