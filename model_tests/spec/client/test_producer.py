"""Where a producer writes, and when it tries again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.client.latency_fault import (
    APACHE_5,
    Fault,
    choose_available,
    choose_least_bad,
    derive_isolation_ms,
    is_available,
)
from spec.client.queue_choice import Choice, advance_counter, choose_queue
from spec.client.send_retry import (
    RETRYABLE_CODES,
    SendMode,
    SendStatus,
    classify_send_code,
    is_compressed,
    is_tried_again,
)


@pytest.mark.clause("client.producer.round-robin")
def test_queues_are_taken_in_turn() -> None:
    counter, positions = 6, []
    for _ in range(5):
        position, counter = choose_queue(["a", "a", "b"], counter)
        positions.append(position)
    assert positions == [1, 2, 0, 1, 2]


@pytest.mark.clause("client.producer.round-robin")
def test_counter_wraps_and_the_lowest_int_gives_position_zero() -> None:
    assert advance_counter(2**31 - 1) == -(2**31)
    assert choose_queue(["a", "b", "c"], 2**31 - 1) == Choice(0, -(2**31))
    assert choose_queue(["a", "b", "c"], -(2**31)) == Choice((2**31 - 1) % 3, -(2**31) + 1)


@pytest.mark.clause("client.producer.retry-elsewhere")
@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=6),
    st.integers(-(2**31), 2**31 - 1),
    st.sampled_from("abc"),
)
def test_retry_takes_the_next_queue_of_another_broker(brokers: list[str], counter: int, failed: str) -> None:
    choice = choose_queue(brokers, counter, failed)
    others = [broker for broker in brokers if broker != failed]
    is_near_wrap = counter > 2**31 - 1 - 2 * len(brokers)
    assert brokers[choice.position] != failed or not others or is_near_wrap


@pytest.mark.clause("client.producer.retry-elsewhere")
def test_retry_with_one_broker_takes_the_queue_after_a_full_round() -> None:
    assert choose_queue(["a", "a", "a"], 0, "a") == Choice(1, 4)


@pytest.mark.clause("client.producer.retryable-codes")
def test_codes_after_which_a_synchronous_send_is_tried_again() -> None:
    assert sorted(RETRYABLE_CODES) == [1, 14, 16, 17, 204, 205]
    codes = [code for code in range(300) if is_tried_again(SendMode.SYNC, code, 1, 0)]
    assert codes == [1, 14, 16, 17, 204, 205]
    assert not any(is_tried_again(SendMode.ASYNC, code, 1, 0) for code in range(300))


@pytest.mark.clause("client.producer.try-limit", "client.producer.whole-call-timeout")
@pytest.mark.parametrize(
    ("mode", "tries", "elapsed_ms", "is_again"),
    [
        (SendMode.SYNC, 1, 0, True),
        (SendMode.SYNC, 2, 0, True),
        (SendMode.SYNC, 3, 0, False),
        (SendMode.SYNC, 1, 3000, True),
        (SendMode.SYNC, 1, 3001, False),
        (SendMode.ASYNC, 2, 0, True),
        (SendMode.ASYNC, 3, 0, False),
        (SendMode.ONE_WAY, 1, 0, False),
    ],
)
def test_failure_on_the_way_is_tried_again_within_limits(
    mode: SendMode, tries: int, elapsed_ms: int, *, is_again: bool
) -> None:
    assert is_tried_again(mode, None, tries, elapsed_ms) is is_again


@pytest.mark.clause("client.producer.stored-is-not-failed")
def test_less_safe_is_still_stored() -> None:
    assert [classify_send_code(code) for code in (0, 10, 11, 12, 1, 2)] == [*SendStatus, None, None]


@pytest.mark.clause("client.producer.compression-from")
def test_large_bodies_are_compressed_but_never_batches() -> None:
    assert [is_compressed(length, is_batch=False) for length in (0, 4095, 4096)] == [False, False, True]
    assert not is_compressed(1 << 20, is_batch=True)


@pytest.mark.clause("client.producer.latency-table")
@pytest.mark.parametrize(
    ("latency_ms", "four", "five"),
    [
        (0, 0, 0),
        (549, 0, 0),
        (550, 30_000, 2000),
        (1000, 60_000, 2000),
        (1800, 60_000, 5000),
        (2000, 120_000, 5000),
        (3000, 180_000, 6000),
        (5000, 180_000, 10_000),
        (14_999, 180_000, 10_000),
        (15_000, 600_000, 30_000),
    ],
)
def test_isolation_grows_with_latency(latency_ms: int, four: int, five: int) -> None:
    assert derive_isolation_ms(latency_ms, has_failed=False) == four
    assert derive_isolation_ms(latency_ms, has_failed=False, table=APACHE_5) == five


@pytest.mark.clause("client.producer.latency-table")
def test_failure_counts_as_very_slow() -> None:
    assert derive_isolation_ms(0, has_failed=True) == 600_000
    assert derive_isolation_ms(0, has_failed=True, table=APACHE_5) == 10_000


@pytest.mark.clause("client.producer.isolation-ends")
def test_broker_is_chosen_again_when_its_isolation_is_over() -> None:
    assert [is_available(until, 100) for until in (None, 99, 100, 101)] == [True, True, True, False]
    assert choose_available(["a", "b", "b"], 5, lambda broker: broker == "b") == Choice(1, 6)
    assert choose_available(["a", "b"], 5, lambda _: False) is None


@pytest.mark.clause("client.producer.least-bad")
def test_isolated_brokers_are_taken_in_turn_from_the_better_half() -> None:
    faults = (
        Fault("slow", 900, 99),
        Fault("usable", 950, 5),
        Fault("early", 700, 50),
        Fault("late", 700, 60),
        Fault("worst", 15_000, 99),
    )
    assert [choose_least_bad(faults, counter, 5) for counter in (0, 1, 2, 3)] == ["usable", "early"] * 2
    assert choose_least_bad(faults[:1], 7, 5) == "slow"
    assert choose_least_bad((), 7, 5) is None
