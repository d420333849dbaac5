from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.spec.wire.record_strategy import INT32, INT64
from spec.rejection import Rejection
from spec.values.java_literal import decode_boolean, decode_int32, decode_int64, encode_boolean


@pytest.mark.clause("wire.header-fields.integer-text")
@given(INT32, INT64)
def test_decimal_texts_are_read_back(small: int, large: int) -> None:
    assert decode_int32(str(small)) == small
    assert decode_int64(str(large)) == large


@pytest.mark.clause("wire.header-fields.integer-text")
@pytest.mark.parametrize(
    ("text", "number"), [("+7", 7), ("-0", 0), ("0007", 7), ("0" * 9000 + "12", 12), ("-" + "0" * 30, 0)]
)
def test_signs_and_leading_zeros_are_read_as_java_does(text: str, number: int) -> None:
    assert (decode_int32(text), decode_int64(text)) == (number, number)


@pytest.mark.clause("wire.header-fields.integer-text")
@pytest.mark.parametrize(
    "text", ["", " 1", "1 ", "1_0", "+-1", "--1", "0x10", "1.0", "true", "-", "1L", "1\n", "\u0663", "\u00b2"]
)
def test_other_texts_are_no_integers(text: str) -> None:
    for decode in (decode_int32, decode_int64):
        with pytest.raises(Rejection) as refusal:
            decode(text)
        assert refusal.value.clause == "wire.header-fields.integer-text"


@pytest.mark.clause("wire.header-fields.integer-range")
def test_integers_beyond_their_width_are_refused() -> None:
    assert decode_int32("2147483647") == 2**31 - 1
    assert decode_int32("-2147483648") == -(2**31)
    assert decode_int64("9223372036854775807") == 2**63 - 1
    assert decode_int64("-9223372036854775808") == -(2**63)
    for decode, text in [
        (decode_int32, "2147483648"),
        (decode_int32, "-2147483649"),
        (decode_int64, "9223372036854775808"),
        (decode_int64, "-9223372036854775809"),
        (decode_int64, "9" * 100_000),
    ]:
        with pytest.raises(Rejection) as refusal:
            decode(text)
        assert refusal.value.clause == "wire.header-fields.integer-range"


def outcome_of(decode: Callable[[str], int], text: str) -> int | Rejection:
    try:
        return decode(text)
    except Rejection as refusal:
        return refusal


@given(st.text())
def test_any_text_is_an_integer_or_refused(text: str) -> None:
    for decode in (decode_int32, decode_int64):
        outcome = outcome_of(decode, text)
        assert isinstance(outcome, int) or outcome.clause.startswith("wire.header-fields.integer-")


@pytest.mark.clause("wire.header-fields.boolean-word")
def test_only_the_word_true_is_true() -> None:
    assert [decode_boolean(text) for text in ("true", "TRUE", "True", "tRuE")] == [True] * 4
    assert [decode_boolean(text) for text in ("1", "0", "", "yes", " true", "truee")] == [False] * 6
    assert (encode_boolean(True), encode_boolean(False)) == ("true", "false")  # noqa: FBT003 - the value


@pytest.mark.clause("wire.header-fields.integer-text")
def test_zeros_with_a_bad_end_are_refused_in_one_pass() -> None:
    # A reader that tries every split of the zeros would need minutes for this.
    for text in ("-" + "0" * 1_000_000 + "x", "0" * 1_000_000 + "9" * 1_000_000 + " "):
        with pytest.raises(Rejection) as refusal:
            decode_int64(text)
        assert refusal.value.clause == "wire.header-fields.integer-text"
