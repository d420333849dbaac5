"""Start, settings and end of a consumer, and its start time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.client.consume_timestamp import decode_consume_timestamp, encode_consume_timestamp
from spec.client.lifecycle import (
    SETTING_RANGES,
    START_STEPS,
    ShutdownOrder,
    ShutdownStep,
    StartStep,
    check_setting,
    derive_shutdown_steps,
)
from spec.group.consumption import ListenerKind, MessageModel
from spec.rejection import Rejection


@pytest.mark.clause("client.shutdown.drain-persist-unlock", "client.shutdown.leaves-last")
def test_ordered_consumer_drains_persists_unlocks_and_leaves() -> None:
    assert derive_shutdown_steps(ListenerKind.ORDERLY, MessageModel.CLUSTERING) == (
        ShutdownStep.STOP_PULLING,
        ShutdownStep.DRAIN,
        ShutdownStep.PERSIST,
        ShutdownStep.UNLOCK,
        ShutdownStep.UNREGISTER,
        ShutdownStep.DROP,
    )


@pytest.mark.clause("client.shutdown.drain-persist-unlock")
def test_apache_4_9_unlocks_before_it_persists_and_waits_for_nothing() -> None:
    steps = derive_shutdown_steps(
        ListenerKind.ORDERLY, MessageModel.CLUSTERING, order=ShutdownOrder.APACHE_4_9
    )
    assert steps == (ShutdownStep.UNLOCK, ShutdownStep.PERSIST, ShutdownStep.UNREGISTER, ShutdownStep.DROP)


@pytest.mark.parametrize("order", list(ShutdownOrder))
def test_who_holds_no_lock_unlocks_nothing(order: ShutdownOrder) -> None:
    for kind, model in (
        (ListenerKind.CONCURRENT, MessageModel.CLUSTERING),
        (ListenerKind.ORDERLY, MessageModel.BROADCASTING),
    ):
        assert ShutdownStep.UNLOCK not in derive_shutdown_steps(kind, model, order=order)


@pytest.mark.clause("client.consumer.start-order")
def test_routes_come_before_heartbeats_and_heartbeats_before_the_first_rebalance() -> None:
    assert START_STEPS[0] is StartStep.CHECK_SETTINGS
    assert START_STEPS[-4:] == (
        StartStep.UPDATE_ROUTES,
        StartStep.CHECK_AT_BROKER,
        StartStep.HEARTBEAT,
        StartStep.REBALANCE,
    )


@pytest.mark.clause("client.consumer.setting-ranges")
@pytest.mark.parametrize("name", list(SETTING_RANGES))
def test_both_ends_of_a_range_are_accepted_and_nothing_beyond(name: str) -> None:
    least, most = SETTING_RANGES[name]
    assert (check_setting(name, least), check_setting(name, most)) == (least, most)
    for value in (least - 1, most + 1):
        with pytest.raises(Rejection, match=f"{name} is {value}: expected {least} to {most}") as refusal:
            check_setting(name, value)
        assert refusal.value.clause == "client.consumer.setting-ranges"


@pytest.mark.clause("client.consumer.timestamp-text")
@given(
    st.integers(-62_135_510_400_000, 253_402_214_399_999),
    st.integers(-18, 18).map(lambda hours: hours * 3_600_000),
)
def test_start_time_survives_its_text_to_the_second(instant_ms: int, utc_offset_ms: int) -> None:
    text = encode_consume_timestamp(instant_ms, utc_offset_ms)
    assert len(text) == 14
    assert decode_consume_timestamp(text, utc_offset_ms) == instant_ms // 1000 * 1000


@pytest.mark.clause("client.consumer.timestamp-text")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "2023",
        "2023-01-01 00:0",
        "20230229000000",
        "20231301000000",
        "00000101000000",
        "20230101240000",
        "2023010100000\u0663",
    ],
)
def test_text_that_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(Rejection) as refusal:
        decode_consume_timestamp(text, 0)
    assert refusal.value.clause == "client.consumer.timestamp-text"


@given(st.text(max_size=20) | st.from_regex(r"[0-9]{14}", fullmatch=True), st.integers(-(10**8), 10**8))
def test_any_text_is_a_time_or_refused(text: str, utc_offset_ms: int) -> None:
    try:
        decode_consume_timestamp(text, utc_offset_ms)
    except Rejection as refusal:
        assert refusal.clause == "client.consumer.timestamp-text"  # noqa: PT017 - either outcome is right
