from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.history.declaration import Constants, Declaration, decode_declaration, encode_declaration
from spec.history.kind import Kind
from spec.rejection import Rejection

DECLARATIONS = st.builds(
    Declaration,
    observes=st.frozensets(st.sampled_from(list(Kind))),
    assumes=st.frozensets(st.sampled_from(["A1", "A2", "A3", "A4", "A5"])),
    dialect=st.sampled_from(["strict", "apache-4.9", "apache-5"]),
    durability=st.sampled_from(["sync", "async"]),
    constants=st.builds(
        Constants, **{constant.name: st.integers(0, 10**9) for constant in fields(Constants)}
    ),
)


@pytest.mark.clause("history.run.declares-terms")
@given(DECLARATIONS)
def test_declaration_survives_a_round_trip(declaration: Declaration) -> None:
    assert decode_declaration(encode_declaration(declaration)) == declaration


def test_what_is_left_out_has_its_default() -> None:
    assert decode_declaration("{}") == Declaration(frozenset(Kind))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "the declaration must be an object"),
        ('{"observe":[]}', "unknown declaration observe"),
        ('{"observes":["sight"]}', "observes names an unknown kind: 'sight' is not a valid Kind"),
        ('{"observes":3}', "observes must be a list of words"),
        ('{"assumes":[1]}', "assumes must be a list of words"),
        ('{"durability":"none"}', "dialect must be a name, durability must be sync or async"),
        ('{"durability":[]}', "dialect must be a name, durability must be sync or async"),
        ('{"constants":[]}', "constants must be an object"),
        ('{"constants":{"retry_limit":-1}}', "constant retry_limit must be a whole number, not -1"),
        ('{"constants":{"retry_limit":true}}', "constant retry_limit must be a whole number, not True"),
    ],
)
def test_wrong_declaration_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(Rejection) as refused:
        decode_declaration(text)
    assert (refused.value.clause, refused.value.reason) == ("history.run.declares-terms", reason)


def test_unknown_constant_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Rejection, match="unknown constant 'rebalance'; known are broker_expiry_ms, "):
        decode_declaration('{"constants":{"rebalance":1}}')


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000])
def test_text_that_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(Rejection, match="the declaration is not JSON"):
        decode_declaration(text)
