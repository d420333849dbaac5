"""Order and hash of texts as Java has them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.values.java_text import _remembered_hash, java_hash, utf16_key


def units(text: str) -> list[int]:
    """UTF-16 units by the definition of surrogates."""
    found: list[int] = []
    for point in map(ord, text):
        if point > 0xFFFF:
            found += [0xD800 + (point - 0x10000 >> 10), 0xDC00 + (point - 0x10000 & 0x3FF)]
        else:
            found.append(point)
    return found


TEXTS = st.text(alphabet=st.characters(exclude_categories=()), max_size=6)


@pytest.mark.clause("group.order.utf16-units")
@given(TEXTS, TEXTS)
def test_key_orders_as_the_lists_of_units_do(one: str, two: str) -> None:
    assert (utf16_key(one) < utf16_key(two)) == (units(one) < units(two))
    assert (utf16_key(one) == utf16_key(two)) == (units(one) == units(two))


@pytest.mark.clause("group.order.utf16-units")
def test_order_differs_from_that_of_code_points() -> None:
    assert sorted(["\uffff", "\U0001f600", "z"], key=utf16_key) == ["z", "\U0001f600", "\uffff"]
    assert sorted(["\uffff", "\U0001f600", "z"]) == ["z", "\uffff", "\U0001f600"]


@given(TEXTS)
def test_hash_is_the_polynomial_over_units_as_a_signed_int(text: str) -> None:
    found = units(text)
    total = sum(unit * 31 ** (len(found) - 1 - at) for at, unit in enumerate(found)) % 2**32
    assert java_hash(text) == (total - 2**32 if total >= 2**31 else total)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", 0),
        ("TagA", 2598919),
        ("Aa", 2112),
        ("BB", 2112),
        ("polygenelubricants", -(2**31)),
        ("\U0001f600", 1772899),
    ],
)
def test_known_hashes(text: str, code: int) -> None:
    assert java_hash(text) == code


def test_hash_of_a_long_text_is_not_remembered() -> None:
    _remembered_hash.cache_clear()
    assert java_hash("a" * 256) == java_hash("a" * 256)
    assert _remembered_hash.cache_info().currsize == 0
    assert java_hash("a" * 255) == java_hash("a" * 255)
    assert _remembered_hash.cache_info().currsize == 1
