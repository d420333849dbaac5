import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.broker.transaction import (
    CheckLimits,
    Decision,
    Half,
    HalfState,
    Resolution,
    Round,
    Step,
    advance_half_cursor,
    advance_operation_cursor,
    check_decision,
    decide_check,
    decode_operation,
    derive_half_properties,
    derive_immunity_ms,
    derive_resolution,
    derive_undelayed,
    encode_operation,
    is_given_up,
)
from spec.rejection import Rejection
from spec.values.system_flag import TransactionType, with_transaction_type
from spec.wire.code import ResponseCode

HALF = Half("P", 3, 900)
HOUR_MS = 3_600_000


@pytest.mark.clause("broker.transaction.half-is-hidden", "broker.transaction.final-message")
def test_half_message_keeps_its_target_in_properties_and_loses_its_bits() -> None:
    kept = derive_half_properties({"KEYS": "k"}, "T", 2)
    assert kept == {"KEYS": "k", "REAL_TOPIC": "T", "REAL_QID": "2"}
    assert with_transaction_type(0b110101, TransactionType.NONE) == 0b110001
    assert with_transaction_type(0b110001, TransactionType.COMMIT) == 0b111001
    assert with_transaction_type(0b111101, TransactionType.ROLLBACK) == 0b111101


@pytest.mark.clause(
    "broker.transaction.decision-matches-half",
    "broker.transaction.slave-refuses",
    "broker.transaction.unknown-is-ignored",
)
@pytest.mark.parametrize(
    ("decision", "half", "is_slave", "code"),
    [
        (Decision("P", 3, 900, 8), HALF, False, None),
        (Decision("P", 3, 900, 12), HALF, False, None),
        (Decision("Q", 3, 900, 8), HALF, False, ResponseCode.SYSTEM_ERROR),
        (Decision("P", 4, 900, 8), HALF, False, ResponseCode.SYSTEM_ERROR),
        (Decision("P", 3, 901, 12), HALF, False, ResponseCode.SYSTEM_ERROR),
        (Decision("P", 3, 900, 8), None, False, ResponseCode.SYSTEM_ERROR),
        (Decision("P", 3, 900, 0), None, False, None),
        (Decision("P", 3, 900, 8), HALF, True, ResponseCode.SLAVE_NOT_AVAILABLE),
    ],
)
def test_decision_is_carried_out_for_its_own_half_message_on_a_master(
    decision: Decision, half: Half | None, *, is_slave: bool, code: ResponseCode | None
) -> None:
    assert check_decision(decision, half, is_slave=is_slave) is code


@pytest.mark.clause("broker.transaction.decision-matches-half", "broker.transaction.slave-refuses")
def test_decision_is_taken_for_one_to_a_master_unless_told_otherwise() -> None:
    commit = Decision("P", 3, 900, TransactionType.COMMIT)
    assert check_decision(commit, HALF) is None
    assert check_decision(commit, None) is ResponseCode.SYSTEM_ERROR


@pytest.mark.clause("broker.transaction.commit-stores-first", "broker.transaction.unknown-is-ignored")
def test_commit_stores_the_message_before_the_record() -> None:
    assert {kind: derive_resolution(kind) for kind in (0, 4, 8, 12)} == {
        0: Resolution.IGNORE,
        4: None,
        8: Resolution.STORE_THEN_FINISH,
        12: Resolution.FINISH,
    }


@pytest.mark.clause("broker.transaction.operation-record")
def test_operation_record_names_the_offset_in_decimal() -> None:
    assert [encode_operation(offset) for offset in (0, 1234567890123)] == [b"0", b"1234567890123"]


@pytest.mark.clause("broker.transaction.own-immunity")
@pytest.mark.parametrize(
    ("text", "immunity_ms"),
    [(None, None), ("0", 0), ("30", 30_000), ("-1", 6_000), ("x", 6_000), ("", 6_000), ("9" * 30, 6_000)],
)
def test_own_immunity_is_given_in_seconds(text: str | None, immunity_ms: int | None) -> None:
    assert derive_immunity_ms(text) == immunity_ms


@pytest.mark.clause("broker.transaction.own-immunity")
def test_longest_number_of_seconds_that_is_understood_has_eighteen_digits() -> None:
    assert derive_immunity_ms("9" * 18) == (10**18 - 1) * 1_000
    assert derive_immunity_ms("9" * 19) == 6_000


@pytest.mark.clause("broker.transaction.limits")
def test_half_message_is_given_up_after_fifteen_checks_or_seventy_two_hours() -> None:
    assert [is_given_up(HalfState(0, 0, times), 1) for times in (14, 15, 16)] == [False, True, True]
    assert [is_given_up(HalfState(0, 0), 72 * HOUR_MS + late) for late in (0, 1)] == [False, True]


@pytest.mark.clause(
    "broker.transaction.immunity",
    "broker.transaction.own-immunity",
    "broker.transaction.check-needed",
    "broker.transaction.no-check-before-records",
)
@pytest.mark.parametrize(
    ("half", "newest_operation_ms", "step"),
    [
        (HalfState(0, 0, is_decided=True), None, Step.SKIP),
        (HalfState(0, 0, 15, is_decided=True), None, Step.SKIP),
        (HalfState(0, 0, 15), None, Step.GIVE_UP),
        (HalfState(0, 100_000), None, Step.STOP),
        (HalfState(94_001, 94_001), None, Step.STOP),
        (HalfState(94_000, 94_000), None, Step.STOP),
        (HalfState(93_999, 93_999), None, Step.CHECK),
        (HalfState(90_001, 90_001, immunity_ms=10_000), None, Step.DEFER),
        (HalfState(89_999, 89_999, immunity_ms=10_000), None, Step.CHECK),
        (HalfState(100_001, 90_000), None, Step.CHECK),
        (HalfState(0, 0), 100_000, Step.READ_ON),
        (HalfState(0, 0), 106_000, Step.READ_ON),
        (HalfState(0, 0), 106_001, Step.CHECK),
    ],
)
def test_round_decides_for_each_half_message(
    half: HalfState, newest_operation_ms: int | None, step: Step
) -> None:
    assert decide_check(half, Round(100_000, 100_000, newest_operation_ms)) is step


@pytest.mark.clause("broker.transaction.cursor-passes-nothing-open")
def test_cursor_passes_what_is_decided_or_stored_again() -> None:
    passed = {
        step.name: (
            advance_half_cursor(5, step, is_stored=False),
            advance_half_cursor(5, step, is_stored=True),
        )
        for step in Step
    }
    assert passed == {
        "SKIP": (6, 6),
        "GIVE_UP": (5, 6),
        "STOP": (5, 5),
        "DEFER": (5, 6),
        "CHECK": (5, 6),
        "READ_ON": (5, 5),
    }


@pytest.mark.clause("broker.transaction.operation-cursor")
def test_operation_cursor_stops_before_the_first_record_still_needed() -> None:
    assert advance_operation_cursor(5, frozenset()) == 5
    assert advance_operation_cursor(5, frozenset({6})) == 5
    assert advance_operation_cursor(5, frozenset({5, 6, 8})) == 7


@pytest.mark.clause("broker.transaction.cursor-passes-nothing-open", "broker.transaction.limits")
@given(
    decided=st.lists(st.booleans(), min_size=1, max_size=6),
    stores=st.lists(st.booleans(), max_size=200),
)
def test_every_half_message_ends_decided_or_given_up_and_none_is_forgotten(
    decided: list[bool], stores: list[bool]
) -> None:
    # The half topic as a list of (message, checks so far): a copy goes to its end, as in the log.
    topic = [(message, 0) for message in range(len(decided))]
    cursor, ended = 0, set[int]()
    for is_stored in [*stores, *([True] * 200)]:
        if cursor == len(topic):
            break
        message, times = topic[cursor]
        step = decide_check(HalfState(0, 0, times, is_decided=decided[message]), Round(10_000, 10_000))
        after = advance_half_cursor(cursor, step, is_stored=is_stored)
        if after > cursor and step is Step.CHECK:
            topic.append((message, times + 1))
        elif after > cursor:
            ended.add(message)
        waiting = {message for message, _ in topic[after:]}
        assert ended | waiting == set(range(len(decided)))
        cursor = after
    assert ended == set(range(len(decided)))


@pytest.mark.clause("broker.transaction.delay-is-ignored")
def test_half_message_keeps_every_property_but_its_delay() -> None:
    assert derive_undelayed({"DELAY": "3", "KEYS": "k", "TAGS": "t"}) == {"KEYS": "k", "TAGS": "t"}


@pytest.mark.clause("broker.transaction.operation-record")
@pytest.mark.parametrize(
    ("body", "offsets"), [(b"0", (0,)), (b"42", (42,)), (b"1,22,3", (1, 22, 3)), (b"9" * 18, (10**18 - 1,))]
)
def test_operation_record_names_one_half_message_or_several(body: bytes, offsets: tuple[int, ...]) -> None:
    assert decode_operation(body) == offsets


@pytest.mark.clause("broker.transaction.operation-record")
@pytest.mark.parametrize("body", [b"", b",", b"1,", b"-1", b"+1", b" 1", b"x", b"9" * 19])
def test_operation_record_that_names_no_offset_is_refused(body: bytes) -> None:
    with pytest.raises(Rejection, match="is not the queue offset of a half message"):
        decode_operation(body)


@pytest.mark.clause("broker.transaction.limits", "broker.transaction.immunity")
def test_limits_of_a_broker_take_the_place_of_those_of_apache() -> None:
    limits = CheckLimits(immunity_ms=100, check_count=2, age_ms=1_000)
    young, asked, open_half = HalfState(950, 900), HalfState(900, 900, 2), HalfState(900, 900, 1)
    now = Round(1_000, 1_000)
    assert [decide_check(half, now, limits) for half in (young, asked)] == [Step.STOP, Step.GIVE_UP]
    assert decide_check(open_half, Round(1_001, 1_001), limits) is Step.CHECK
    assert decide_check(open_half, Round(1_901, 1_901), limits) is Step.GIVE_UP
    assert decide_check(open_half, Round(1_500, 1_500, 1_600), limits) is Step.READ_ON
    assert decide_check(open_half, Round(1_500, 1_500, 1_601), limits) is Step.CHECK
    assert derive_immunity_ms("x", 100) == 100
