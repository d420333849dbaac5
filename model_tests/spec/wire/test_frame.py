"""Frames: cut, refused and written as the clauses say."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.spec.wire.frame_strategy import FRAMES
from model_tests.spec.wire.refusal import refusal_of
from spec.registry import load_clauses
from spec.rejection import Rejection
from spec.wire.frame import (
    FRAME_LIMIT,
    Frame,
    FrameReader,
    check_prefix,
    decode_frame,
    encode_frame,
    is_frame_legal,
    pack_mark,
    unpack_mark,
)
from spec.wire.remoting_header import Serialization, is_oneway, is_reply_to, is_response

HEARTBEAT = Frame(34, opaque=1)
UNREGISTER = Frame(35, opaque=2, serialization=Serialization.ROCKETMQ, body=b"bye")


def _refusal(data: bytes, frame_limit: int = FRAME_LIMIT) -> tuple[str, int] | None:
    return refusal_of(partial(decode_frame, frame_limit=frame_limit), data)


@pytest.mark.clause("wire.frame.whole", "wire.frame.body", "wire.frame.type", "wire.frame.length")
@given(FRAMES)
def test_a_frame_decodes_to_what_was_encoded(frame: Frame) -> None:
    data = encode_frame(frame)
    assert decode_frame(data) == frame
    assert int.from_bytes(data[:4], "big") == len(data) - 4


@given(st.binary(max_size=60))
def test_any_bytes_give_a_frame_or_a_rejection(data: bytes) -> None:
    _check_total(data)


@given(FRAMES, st.data())
def test_a_changed_frame_gives_a_frame_or_a_rejection(frame: Frame, data: st.DataObject) -> None:
    content = bytearray(encode_frame(frame))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    _check_total(bytes(content))


@given(st.sampled_from([0, 1]), st.binary(max_size=80), st.binary(max_size=4))
def test_any_header_bytes_in_a_sound_frame_give_a_frame_or_a_rejection(
    serialization: int, header: bytes, body: bytes
) -> None:
    length = 4 + len(header) + len(body)
    mark = pack_mark(serialization, len(header))
    _check_total(length.to_bytes(4, "big") + mark.to_bytes(4, "big") + header + body)


def _check_total(data: bytes) -> None:
    if refused := refusal_of(decode_frame, data):
        clause, position = refused
        assert clause in load_clauses()
        assert 0 <= position <= len(data)
    else:
        frame = decode_frame(data)
        assert decode_frame(encode_frame(frame)) == frame
    lenient = partial(decode_frame, absent_opaque=5, empty_is_null=True, replace_malformed=True)
    if refused := refusal_of(lenient, data):
        assert refused[0] in load_clauses()


@pytest.mark.clause("wire.frame.any-cut")
@given(st.lists(FRAMES, max_size=4), st.data())
def test_the_reader_gives_the_same_frames_for_every_cut(frames: list[Frame], data: st.DataObject) -> None:
    stream = b"".join(map(encode_frame, frames))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    reader = FrameReader()
    found: list[Frame] = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found.extend(reader.feed(stream[start:end]))
    reader.finish()
    assert (found, reader.position, reader.waiting) == (frames, len(stream), 0)


@pytest.mark.clause("wire.frame.any-cut")
@given(st.lists(FRAMES, max_size=6), st.data())
def test_the_reader_holds_what_was_fed_and_not_taken_whenever_frames_are_taken(
    frames: list[Frame], data: st.DataObject
) -> None:
    stream = b"".join(map(encode_frame, frames))
    reader = FrameReader()
    found: list[Frame] = []
    fed = 0
    while fed < len(stream):
        end = data.draw(st.integers(fed + 1, len(stream)))
        reader.feed(stream[fed:end])
        fed = end
        for _ in range(data.draw(st.integers(0, 3))):
            frame = reader.take()
            found += [frame] if frame is not None else []
            taken = sum(len(encode_frame(one)) for one in found)
            assert (reader.position, reader.waiting) == (taken, fed - taken)
    assert [*found, *reader.frames()] == frames
    reader.finish()


@pytest.mark.clause("wire.frame.any-cut", "wire.frame.refusal-ends-stream")
@given(st.lists(FRAMES, max_size=2), st.binary(min_size=8, max_size=30), st.integers(1, 9))
def test_the_reader_refuses_at_the_same_place_for_every_cut(
    frames: list[Frame], rubbish: bytes, step: int
) -> None:
    stream = b"".join(map(encode_frame, frames)) + rubbish
    assert _read_in_steps(stream, step) == _read_in_steps(stream, len(stream))


def _read_in_steps(stream: bytes, step: int) -> tuple[list[Frame], tuple[str, int] | None]:
    reader = FrameReader()
    found: list[Frame] = []
    try:
        for start in range(0, len(stream), step):
            found.extend(reader.feed(stream[start : start + step]))
        reader.finish()
    except Rejection as rejection:
        return found, (rejection.clause, rejection.position)
    return found, None


@pytest.mark.clause("wire.frame.refusal-ends-stream")
def test_the_reader_gives_the_frames_before_a_broken_one_and_refuses_for_good() -> None:
    reader = FrameReader()
    good = encode_frame(HEARTBEAT)
    frames = reader.feed(good + bytes.fromhex("00000004 09000000") + good)
    assert next(frames) == HEARTBEAT
    for late in (b"", good, good):
        with pytest.raises(Rejection, match="header type 9") as refused:
            next(reader.feed(late) if late else frames)
        assert (refused.value.clause, refused.value.position) == ("wire.frame.type", len(good) + 4)
    with pytest.raises(Rejection, match="header type 9"):
        reader.finish()
    assert reader.waiting == 0


def test_the_reader_takes_bytes_even_if_its_frames_are_not_asked_for() -> None:
    reader = FrameReader()
    reader.feed(encode_frame(HEARTBEAT))
    reader.feed(encode_frame(UNREGISTER))
    assert list(reader.frames()) == [HEARTBEAT, UNREGISTER]


@pytest.mark.clause("wire.frame.whole")
def test_a_stream_that_ends_inside_a_frame_is_refused_where_it_ends() -> None:
    reader = FrameReader()
    stream = encode_frame(HEARTBEAT) + encode_frame(UNREGISTER)[:-1]
    assert list(reader.feed(stream)) == [HEARTBEAT]
    with pytest.raises(Rejection, match="expected a frame of") as refused:
        reader.finish()
    assert (refused.value.clause, refused.value.position) == ("wire.frame.whole", len(stream))


@pytest.mark.clause("wire.frame.whole")
def test_bytes_around_one_frame_are_refused() -> None:
    data = encode_frame(HEARTBEAT)
    assert _refusal(b"") == ("wire.frame.whole", 0)
    assert _refusal(data[:3]) == ("wire.frame.whole", 3)
    assert _refusal(data[:-1]) == ("wire.frame.whole", len(data) - 1)
    assert _refusal(data + b"x") == ("wire.frame.whole", len(data))


@pytest.mark.clause("wire.frame.limit")
def test_the_largest_length_is_16777212() -> None:
    assert check_prefix((16_777_212).to_bytes(4, "big")) == FRAME_LIMIT
    assert _refusal((16_777_213).to_bytes(4, "big")) == ("wire.frame.limit", 0)
    header = encode_frame(Frame(310))
    largest = Frame(310, body=bytes(FRAME_LIMIT - len(header)))
    assert len(encode_frame(largest)) == FRAME_LIMIT
    assert decode_frame(encode_frame(largest)) == largest
    with pytest.raises(Rejection, match="expected at most 16777216") as refused:
        encode_frame(largest._replace(body=largest.body + b"x"))
    assert refused.value.clause == "wire.frame.limit"


@pytest.mark.clause("wire.frame.limit")
def test_another_limit_applies_to_reading_and_writing() -> None:
    data = encode_frame(HEARTBEAT)
    assert decode_frame(data, frame_limit=len(data)) == HEARTBEAT
    assert encode_frame(HEARTBEAT, frame_limit=len(data)) == data
    assert _refusal(data, len(data) - 1) == ("wire.frame.limit", 0)
    with pytest.raises(Rejection):
        encode_frame(HEARTBEAT, frame_limit=len(data) - 1)
    with pytest.raises(Rejection):
        list(FrameReader(frame_limit=len(data) - 1).feed(data))
    assert check_prefix((16_777_213).to_bytes(4, "big"), 1 << 30) == 16_777_217
    assert check_prefix(bytes([0x16, 0, 0, 0]), 1 << 30) == 0x1600_0004


@pytest.mark.clause("wire.frame.first-byte")
@pytest.mark.parametrize(
    ("start", "reason"),
    [
        (b"\x16", "TLS hello"),
        (b"\x16\x03\x01\x02\x00\x01", "TLS hello"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2"),
        (b"PRI ", "HTTP/2"),
        (b"GET / HTTP/1.1\r\n", "this is HTTP:"),
        (b"POST /x HTTP/1.1\r\n", "this is HTTP:"),
        (b"\xff\xff\xff\xff", "first byte 0xff, expected 0x00"),
        (b"\x01\x00\x00\x00", "first byte 0x01, expected 0x00"),
    ],
)
def test_a_stranger_is_refused_at_its_first_byte_with_a_hint(start: bytes, reason: str) -> None:
    assert _refusal(start) == ("wire.frame.first-byte", 0)
    with pytest.raises(Rejection, match=reason):
        decode_frame(start)
    with pytest.raises(Rejection, match=reason):
        list(FrameReader().feed(start))
    with pytest.raises(Rejection):
        list(FrameReader().feed(start[:1]))


@pytest.mark.clause("wire.frame.length", "wire.frame.type", "wire.frame.header-within")
@pytest.mark.parametrize(
    ("digits", "clause", "position"),
    [
        ("00000000", "wire.frame.length", 0),
        ("00000003 000000", "wire.frame.length", 0),
        ("00000003 00000000", "wire.frame.length", 0),
        ("00000004 02000000", "wire.frame.type", 4),
        ("00000004 ff000000", "wire.frame.type", 4),
        ("00000004 00000001", "wire.frame.header-within", 5),
        ("00000006 01ffffff 7b7d", "wire.frame.header-within", 5),
        ("00000004 00000000", "wire.json-header.object", 8),
        ("00000004 01000000", "wire.binary-header.layout", 8),
    ],
)
def test_a_frame_that_contradicts_itself_is_refused_where_it_does(
    digits: str, clause: str, position: int
) -> None:
    assert _refusal(bytes.fromhex(digits)) == (clause, position)


def test_a_wrong_prefix_is_refused_before_the_frame_is_whole() -> None:
    for digits in ("00ffff00 02", "00ffff00 00ffffff"):
        with pytest.raises(Rejection):
            list(FrameReader().feed(bytes.fromhex(digits)))


@pytest.mark.clause("wire.frame.mark")
@given(st.integers(0, 255), st.integers(0, 2**24 - 1))
def test_type_and_header_length_share_one_integer(serialization: int, header_length: int) -> None:
    mark = pack_mark(serialization, header_length)
    assert mark.to_bytes(4, "big") == bytes([serialization]) + header_length.to_bytes(3, "big")
    assert unpack_mark(mark) == (serialization, header_length)


@pytest.mark.clause("wire.frame.header-within")
def test_a_header_may_fill_its_frame_but_no_more() -> None:
    assert is_frame_legal(10, 6)
    assert not is_frame_legal(10, 7)
    assert not is_frame_legal(10, -1)


@pytest.mark.clause("wire.header.response-bit", "wire.header.oneway-bit", "wire.header.reply-match")
def test_bit_0_tells_responses_and_bit_1_oneway_requests() -> None:
    assert [is_response(flag) for flag in (0, 1, 2, 3, -1)] == [False, True, False, True, True]
    assert [is_oneway(flag) for flag in (0, 1, 2, 3, 6)] == [False, False, True, False, True]
    assert is_reply_to(1, 7, 7)
    assert not is_reply_to(0, 7, 7)
    assert not is_reply_to(1, 7, 8)
