"""Signatures: the known vector, the order, and what spoils them."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from model_tests.spec.wire.frame_strategy import TEXT
from spec.wire.signature import (
    derive_signature,
    derive_signed_content,
    is_signature_valid,
    sign_fields,
)

TABLES = st.dictionaries(TEXT, TEXT, max_size=5)


@pytest.mark.clause("wire.signature.hmac")
@given(TABLES, st.binary(max_size=20), TEXT, TEXT, st.none() | TEXT)
def test_what_is_signed_is_valid(
    fields: dict[str, str], body: bytes, access_key: str, secret_key: str, token: str | None
) -> None:
    signed = sign_fields(fields, body, access_key=access_key, secret_key=secret_key, security_token=token)
    assert is_signature_valid(signed, body, secret_key)
    expected = {**fields, "AccessKey": access_key, "Signature": signed["Signature"]}
    assert signed == (expected if token is None else {**expected, "SecurityToken": token})


@pytest.mark.clause("wire.signature.all-fields", "wire.signature.content")
@given(TABLES, st.binary(max_size=20), TEXT.filter(bool), TEXT.filter(bool))
def test_a_field_or_byte_added_later_spoils_the_signature(
    fields: dict[str, str], body: bytes, key: str, value: str
) -> None:
    signed = sign_fields(fields, body, access_key="ak", secret_key="sk")
    assume(key not in signed and key != "_UNIQUE_KEY_QUERY")
    changed = {**signed, key: value}
    assert not is_signature_valid(changed, body, "sk")
    assert not is_signature_valid(signed, body + b"x", "sk")
    assert not is_signature_valid(signed, body, "other")


@pytest.mark.clause("wire.signature.all-fields")
def test_the_signature_and_the_mark_of_key_queries_are_not_signed() -> None:
    signed = sign_fields({"topic": "T"}, b"", access_key="ak", secret_key="sk")
    assert is_signature_valid({**signed, "_UNIQUE_KEY_QUERY": "true"}, b"", "sk")
    assert sign_fields(signed, b"", access_key="ak", secret_key="sk") == signed


@pytest.mark.clause("wire.signature.all-fields")
@pytest.mark.parametrize("claimed", ["", "ü", "\ud800", "0/8gKdPXgFCrjw2kSOTNCvQg8js"])
def test_a_request_without_its_signature_is_not_valid(claimed: str) -> None:
    fields = {"topic": "T", "queueId": "3", "AccessKey": "RocketMQ"}
    assert not is_signature_valid(fields, b"body", "12345678")
    assert not is_signature_valid({**fields, "Signature": claimed}, b"body", "12345678")


@pytest.mark.clause("wire.signature.order")
def test_values_stand_in_the_order_of_utf16_units_of_their_keys() -> None:
    fields = {"\uffff": "6", "\U0001f600": "5", "é": "4", "b": "3", "_": "2", "B": "1"}
    assert derive_signed_content(fields, b"|") == b"123456|"


@pytest.mark.clause("wire.signature.hmac")
def test_an_empty_secret_is_a_key_and_text_is_signed_as_java_would() -> None:
    assert derive_signature({}, b"", "") == "+9sdGxiqbAgyS31ktx+3Y3BpDh0="
    assert derive_signed_content({"a": "ü\ud800"}, b"") == "ü?".encode()
