"""The load generator asks for what it says, believes no answer that is not one, and counts right."""

from itertools import pairwise

import pytest

from model_tests.bench.broker_load import Rate
from model_tests.bench.load_latency import derive_latencies
from model_tests.bench.load_reply import LoadError, Reply, ReplyBuffer
from model_tests.bench.load_request import BATCH, BODY, FIRST_OPAQUE, PULLED
from model_tests.bench.load_run import LoadKind, LoadPlan, LoadResult, _derive_result, _make_work, _Sample
from model_tests.bench.load_work import PullWork, Work, send_batches, send_singly
from spec.layout.batch import decode_batch
from spec.layout.record import encode_record
from spec.layout.stored_message import make_record
from spec.values.host import host_of
from spec.values.message import Message
from spec.values.property import UNIQUE_KEY, decode_properties
from spec.values.units import QueueId, QueueOffset
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.frame import Frame, decode_frame, encode_frame
from spec.wire.header.pull import PullMessageHeader
from spec.wire.header.send import SendMessageHeader
from spec.wire.header.table import REQUEST_HEADERS
from spec.wire.remoting_header import Serialization
from spec.wire.reply import derive_reply

HOST = host_of("127.0.0.1", 10911)


def _requests(work: Work, count: int) -> list[Frame]:
    return [decode_frame(work.issue()) for _ in range(count)]


def _send_header(frame: Frame) -> SendMessageHeader:
    header = REQUEST_HEADERS[frame.code].decode(frame.extension_fields)
    assert isinstance(header, SendMessageHeader)
    return header


def _reply(
    opaque: int, *, code: int = ResponseCode.SUCCESS, body: bytes = b"", binary: bool = False
) -> bytes:
    serialization = Serialization.ROCKETMQ if binary else Serialization.JSON
    request = Frame(RequestCode.SEND_MESSAGE_V2, opaque=opaque, serialization=serialization)
    return encode_frame(derive_reply(request, code, remark="why", extension_fields={"msgId": "1"}, body=body))


def _messages(first: int, count: int) -> bytes:
    message = Message("T", BODY)
    return b"".join(
        encode_record(
            make_record(
                message,
                queue_id=QueueId(0),
                born_host=HOST,
                store_host=HOST,
                queue_offset=QueueOffset(offset),
            )
        )
        for offset in range(first, first + count)
    )


def _take(data: bytes) -> tuple[ReplyBuffer, list[Reply]]:
    buffer = ReplyBuffer(len(data) + 1)
    buffer.room()[: len(data)] = data
    return buffer, buffer.take(len(data))


def test_a_send_goes_to_each_queue_in_turn_with_a_key_of_its_own() -> None:
    frames = _requests(send_singly("T", [2, 5], 3), 4)
    headers = [_send_header(frame) for frame in frames]
    assert [header.queue_id for header in headers] == [2, 5, 2, 5]
    assert {
        (frame.code, frame.body, header.topic) for frame, header in zip(frames, headers, strict=True)
    } == {(RequestCode.SEND_MESSAGE_V2, BODY, "T")}
    assert [frame.opaque for frame in frames] == [FIRST_OPAQUE + number for number in range(4)]
    keys = {decode_properties(header.properties or "")[UNIQUE_KEY] for header in headers}
    assert (len(keys), {len(key) for key in keys}) == (4, {32})


def test_a_batch_is_32_messages_each_with_a_key_of_its_own() -> None:
    frames = _requests(send_batches("T", [1], 0), 2)
    assert [(frame.code, _send_header(frame).batch) for frame in frames] == [
        (RequestCode.SEND_BATCH_MESSAGE, True)
    ] * 2
    entries = [entry for frame in frames for entry in decode_batch(frame.body, check_size=True)]
    assert [entry.body for entry in entries] == [BODY] * 2 * BATCH
    assert len({decode_properties(entry.property_text)[UNIQUE_KEY] for entry in entries}) == 2 * BATCH


def test_every_queue_is_pulled_by_one_connection_and_those_of_one_share_are_sent_to_by_it() -> None:
    plan = LoadPlan(LoadKind.PULL, "T", (10,) * 8, 4, 2, 0, 0, 1)
    asked = [header.queue_id for number in range(4) for header in _pulled(_make_work(plan, number), 2)]
    assert sorted(asked) == list(range(8))
    sends = _requests(_make_work(plan._replace(kind=LoadKind.SEND), 3), 4)
    assert {_send_header(frame).queue_id for frame in sends} == {3, 7}


def _pulled(work: Work, count: int) -> list[PullMessageHeader]:
    found: list[PullMessageHeader] = []
    for frame in _requests(work, count):
        header = REQUEST_HEADERS[frame.code].decode(frame.extension_fields)
        assert isinstance(header, PullMessageHeader)
        found.append(header)
    return found


def test_a_pull_goes_on_behind_what_came_and_begins_again_at_the_end() -> None:
    work = PullWork("T", [(4, PULLED + 3)])
    asked: list[tuple[int, int]] = []
    for count in (PULLED, 3, PULLED):
        (header,) = _pulled(work, 1)
        asked.append((header.queue_id, header.queue_offset))
        opaque = FIRST_OPAQUE + len(asked) - 1
        buffer, (reply,) = _take(_reply(opaque, body=_messages(header.queue_offset, count)))
        assert work.settle(reply, buffer.memory) == count
    assert (asked, work.waiting) == ([(4, 0), (4, PULLED), (4, 0)], 0)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (_messages(0, PULLED - 1), "a pull from 0 brought 31 messages, expected 32"),
        (_messages(1, PULLED), "a pull brought the record DAA320A7 of offset 1, not 0"),
        (_messages(0, PULLED)[:-1], "the last record of a pull ends 1 bytes behind the reply"),
    ],
)
def test_a_pull_that_brings_something_else_is_no_measurement(body: bytes, reason: str) -> None:
    work = PullWork("T", [(0, 100)])
    work.issue()
    buffer, (reply,) = _take(_reply(FIRST_OPAQUE, body=body))
    with pytest.raises(LoadError, match=reason):
        work.settle(reply, buffer.memory)


def test_replies_are_found_however_they_arrive() -> None:
    opaques = [FIRST_OPAQUE, FIRST_OPAQUE + 1, FIRST_OPAQUE + 2]
    data = b"".join(
        _reply(opaque, body=bytes(number * 5), binary=number == 1) for number, opaque in enumerate(opaques)
    )
    for step in range(1, len(data) + 1):
        buffer = ReplyBuffer(4_096)
        found: list[tuple[bytes, bytes]] = []
        for at in range(0, len(data), step):
            piece = data[at : at + step]
            buffer.room()[: len(piece)] = piece
            replies = buffer.take(len(piece))
            found += [(reply.opaque, bytes(buffer.memory[reply.body_at : reply.end])) for reply in replies]
            buffer.keep_rest(replies)
        assert found == [(b"%d" % opaque, bytes(number * 5)) for number, opaque in enumerate(opaques)]


@pytest.mark.parametrize("binary", [False, True])
def test_a_refusal_is_no_success(*, binary: bool) -> None:
    data = _reply(FIRST_OPAQUE, code=ResponseCode.SYSTEM_BUSY, binary=binary)
    with pytest.raises(LoadError, match="a request was answered with code 2: why"):
        _take(data)


def test_a_push_is_no_reply() -> None:
    with pytest.raises(LoadError, match="a request was answered with code 40: None"):
        _take(encode_frame(Frame(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, opaque=FIRST_OPAQUE)))


def test_a_request_is_answered_once() -> None:
    work = send_singly("T", [0], 0)
    work.issue()
    buffer, (reply,) = _take(_reply(FIRST_OPAQUE))
    assert (work.waiting, work.settle(reply, buffer.memory), work.waiting) == (1, 1, 0)
    with pytest.raises(LoadError, match="nobody waits for a reply to b'10000000'"):
        work.settle(reply, buffer.memory)


def test_a_rate_is_taken_from_the_time_between_two_looks() -> None:
    samples = [_Sample(10.0, 1.0, 100), _Sample(12.0, 1.5, 500), _Sample(16.0, 2.5, 900)]
    assert _derive_result(samples, 950) == LoadResult((200.0, 100.0), 950, 1.5 / 6.0, 1.5 / 800 * 1e6)
    assert [after.at - before.at for before, after in pairwise(samples)] == [2.0, 4.0]
    with pytest.raises(LoadError, match="a window passed without an answer"):
        _derive_result([samples[0], samples[0]._replace(at=11.0)], 100)


def test_a_ratio_is_the_median_of_the_rounds() -> None:
    assert Rate((10.0, 30.0, 20.0)).median == 20.0
    assert Rate((10.0, 30.0, 20.0)).derive_ratio(Rate((20.0, 40.0, 100.0))) == 0.5


def test_of_a_hundred_sends_the_99th_percentile_is_the_second_longest() -> None:
    seconds = [number / 1000 for number in range(100, 0, -1)]
    latencies = derive_latencies(130, seconds)
    assert (latencies.messages, latencies.watched) == (130, 100)
    assert (latencies.median_ms, latencies.p99_ms, latencies.highest_ms) == pytest.approx((51.0, 99.0, 100.0))
