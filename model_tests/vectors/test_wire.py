"""Bytes seen on the wire of an Apache 4.9.3, exactly."""

import pytest

from spec.wire.frame import Frame, check_prefix, decode_frame, encode_frame
from spec.wire.json_header import decode_json_header
from spec.wire.language import Language
from spec.wire.remoting_header import Serialization
from spec.wire.reply import derive_unknown_code_reply
from spec.wire.signature import derive_signature, derive_signed_content, sign_fields
from spec.wire.version import REFERENCE_VERSION, Version

JSON_TEXT = (
    b'{"code":105,"extFields":{"topic":"T"},"flag":0,"language":"JAVA","opaque":7,'
    b'"serializeTypeCurrentRPC":"JSON","version":399}'
)
JSON_FRAME = bytes.fromhex("0000007f 0000007b") + JSON_TEXT
BINARY_FRAME = bytes.fromhex(
    "00000027 01000023 0069 00 018f 00000007 00000000 00000002 726d 0000000c 0005 746f706963 00000001 54"
)
ROUTE_REQUEST = Frame(105, Language.JAVA, 399, 7, extension_fields={"topic": "T"})


@pytest.mark.clause("wire.json-header.java-order", "wire.frame.length", "wire.frame.mark")
def test_the_json_frame_of_a_route_request() -> None:
    assert decode_frame(JSON_FRAME) == ROUTE_REQUEST
    assert encode_frame(ROUTE_REQUEST) == JSON_FRAME


@pytest.mark.clause("wire.binary-header.layout", "wire.binary-header.fields", "wire.frame.mark")
def test_the_binary_frame_of_a_route_request() -> None:
    frame = ROUTE_REQUEST._replace(remark="rm", serialization=Serialization.ROCKETMQ)
    assert decode_frame(BINARY_FRAME) == frame
    assert encode_frame(frame) == BINARY_FRAME


@pytest.mark.clause("wire.signature.hmac", "wire.signature.order", "wire.signature.content")
def test_the_signature_of_the_reference_request() -> None:
    fields = {"topic": "T", "queueId": "3"}
    signed = sign_fields(fields, b"body", access_key="RocketMQ", secret_key="12345678")
    assert signed == {**fields, "AccessKey": "RocketMQ", "Signature": "0/8gKdPXgFCrjw2kSOTNCvQg8js="}
    assert derive_signed_content(signed, b"body") == b"RocketMQ3Tbody"
    assert derive_signature(signed, b"body", "12345678") == signed["Signature"]


@pytest.mark.clause("wire.frame.limit")
def test_the_largest_length_that_was_answered() -> None:
    assert check_prefix(bytes.fromhex("00fffffc")) == 16_777_216


@pytest.mark.clause("wire.json-header.language", "wire.header.unknown-language")
def test_languages_as_the_broker_read_them() -> None:
    names = {b'"PYTHON"': Language.PYTHON, b"3": Language.PYTHON, b'"KLINGON"': None}
    assert {name: decode_json_header(b'{"language":' + name + b"}").language for name in names} == names


@pytest.mark.clause("wire.reply.unknown-code")
def test_the_broker_s_answer_to_an_unknown_code() -> None:
    reply = derive_unknown_code_reply(ROUTE_REQUEST._replace(code=9999))
    assert reply is not None
    assert (reply.code, reply.flag, reply.opaque) == (3, 1, 7)
    assert reply.remark == " request type 9999 not supported"


@pytest.mark.clause("wire.version.two-numbers-a-release")
def test_the_version_that_is_sent() -> None:
    assert (REFERENCE_VERSION, Version.V4_9_4, Version.V5_0_0) == (399, 401, 413)
