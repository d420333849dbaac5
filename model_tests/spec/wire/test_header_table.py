from dataclasses import fields
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_tests.spec.wire.record_strategy import records_of
from spec.rejection import Rejection
from spec.wire.code import LaterRequestCode, RequestCode
from spec.wire.header.codec import CustomHeader, HeaderCodec, Reading
from spec.wire.header.table import NO_FIELDS, REQUEST_HEADERS, RESPONSE_HEADERS, SEND_REFUSAL

CODECS: Final = sorted(
    {
        (codec.header.__name__, codec.spelling.name): codec
        for codec in [*REQUEST_HEADERS.values(), *RESPONSE_HEADERS.values(), SEND_REFUSAL]
    }.items()
)
FEW: Final = settings(max_examples=settings.default.max_examples // 4 if settings.default else 25)
"""A quarter for each of many headers is plenty for all."""

UNSERVED: Final = {13, 22, 23, 27, *range(209, 215), 302}
"""Declared by 4.9.3 and answered with 3."""


def test_every_code_that_a_4_9_3_server_serves_has_a_record() -> None:
    served = {int(code) for code in RequestCode} - UNSERVED | {int(LaterRequestCode.LITE_PULL_MESSAGE)}
    assert set(REQUEST_HEADERS) == set(RESPONSE_HEADERS) == served


@pytest.mark.clause("wire.header-fields.java-names", "wire.header-fields.null-omitted")
@pytest.mark.parametrize(("name", "codec"), CODECS)
@FEW
@given(data=st.data())
def test_every_header_is_read_back_from_its_fields(
    name: tuple[str, str], codec: HeaderCodec[CustomHeader], data: st.DataObject
) -> None:
    header = data.draw(records_of(codec.header), label=name[0])
    spelled = codec.encode(header)
    assert codec.decode(spelled) == header
    assert codec.decode(spelled, reading=Reading.APACHE_4_9) == header
    assert len(spelled) == sum(getattr(header, field.name) is not None for field in fields(header))


def outcome_of(codec: HeaderCodec[CustomHeader], given: dict[str, str], reading: Reading) -> object:
    try:
        return codec.decode(given, reading=reading)
    except Rejection as refusal:
        return refusal


@given(st.sampled_from([codec for _, codec in CODECS]), st.data())
def test_any_texts_are_a_header_or_refused(codec: HeaderCodec[CustomHeader], data: st.DataObject) -> None:
    names = list(codec.encode(data.draw(records_of(codec.header)))) or ["x"]
    given_fields = data.draw(st.dictionaries(st.sampled_from(names), st.text(max_size=25)))
    for reading in Reading:
        outcome = outcome_of(codec, given_fields, reading)
        assert isinstance(outcome, codec.header | Rejection)
        if isinstance(outcome, Rejection):
            assert outcome.clause.startswith("wire.header-fields.")


def test_requests_without_fields_have_the_empty_record() -> None:
    assert REQUEST_HEADERS[RequestCode.HEART_BEAT] is NO_FIELDS
    assert NO_FIELDS.decode({"Signature": "x"}) == CustomHeader()
    assert NO_FIELDS.encode(CustomHeader()) == {}
