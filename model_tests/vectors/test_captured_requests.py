"""Every request that real clients sent becomes typed values: its fields, and its body if that is JSON.

The strict reading is enough for all of them. What a peer does wrong (booleans as digits, codes
that do not belong to the tags) stays visible in the values.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from spec.values.units import CommitLogPosition
from spec.wire.body.heartbeat import HeartbeatData
from spec.wire.body.lock import LockBatchBody
from spec.wire.body.subscription import derive_subscription
from spec.wire.body.table import REQUEST_BODIES
from spec.wire.code import RequestCode
from spec.wire.frame import Frame, decode_frame
from spec.wire.header.client import SendBackHeader
from spec.wire.header.codec import Reading
from spec.wire.header.pull import PullMessageHeader
from spec.wire.header.send import SendMessageHeader
from spec.wire.header.table import REQUEST_HEADERS

CAPTURES: Final = Path(__file__).parent / "captures"


def _frames() -> list[tuple[str, Frame]]:
    found: list[tuple[str, Frame]] = []
    for path in sorted(CAPTURES.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            if row["ev"] == "req":
                found.append((path.name, decode_frame(bytes.fromhex(row["hex"]))))
    return found


FRAMES: Final = _frames()


def _frames_of(code: RequestCode) -> list[tuple[str, Frame]]:
    return [(name, frame) for name, frame in FRAMES if frame.code == code]


def test_the_captures_hold_every_request_that_the_peers_are_known_to_send() -> None:
    assert sorted(Counter(frame.code for _, frame in FRAMES)) == [
        10,
        11,
        14,
        15,
        30,
        34,
        35,
        36,
        38,
        41,
        42,
        105,
        310,
    ]


@pytest.mark.clause(
    "wire.header-fields.java-names", "wire.header-fields.short-names", "wire.header-fields.unknown-ignored"
)
def test_the_fields_of_every_captured_request_are_read_and_written_back() -> None:
    for name, frame in FRAMES:
        codec = REQUEST_HEADERS[frame.code]
        header = codec.decode(frame.extension_fields)
        assert codec.decode(codec.encode(header)) == header, name
        assert codec.decode(frame.extension_fields, reading=Reading.APACHE_4_9) == header, name


@pytest.mark.clause("wire.header-fields.java-names")
def test_written_fields_differ_from_captured_ones_only_in_booleans_and_defaults() -> None:
    for name, frame in FRAMES:
        codec = REQUEST_HEADERS[frame.code]
        written = codec.encode(codec.decode(frame.extension_fields))
        captured = frame.extension_fields or {}
        changed = {field for field, text in written.items() if captured.get(field) != text}
        assert changed <= {"unitMode", "batch", "k", "m"}, name


@pytest.mark.clause(
    "wire.body.heartbeat-sets", "wire.body.enum-name-or-ordinal", "wire.body.forgiven-scalars"
)
def test_the_json_body_of_every_captured_request_is_read_and_written_back() -> None:
    bodies = [(frame.code, frame.body) for _, frame in FRAMES if frame.code in REQUEST_BODIES]
    assert Counter(code for code, _ in bodies) == {34: 14, 41: 3, 42: 1}
    for code, data in bodies:
        codec = REQUEST_BODIES[code]
        body = codec.decode(data)
        for is_dialect in (False, True):
            assert codec.decode(codec.encode(body, is_dialect=is_dialect)) == body


def test_requests_without_a_json_body_have_none_or_a_message() -> None:
    with_message = {RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2}
    for name, frame in FRAMES:
        if frame.code not in REQUEST_BODIES:
            assert bool(frame.body) == (frame.code in with_message), name


@pytest.mark.clause("wire.header-fields.batch-field-decides", "wire.header-fields.boolean-word")
def test_a_batch_that_the_python_client_marks_with_a_digit_is_no_batch() -> None:
    marked = [frame for name, frame in _frames_of(RequestCode.SEND_MESSAGE) if "batch" in name]
    assert [(frame.extension_fields or {})["batch"] for frame in marked] == ["1"]
    header = REQUEST_HEADERS[RequestCode.SEND_MESSAGE].decode(marked[0].extension_fields)
    assert isinstance(header, SendMessageHeader)
    assert header.batch is False


@pytest.mark.clause("wire.body.expression-wins")
def test_wrong_codes_of_the_python_client_are_kept_and_derived_anew() -> None:
    stated: set[tuple[str, frozenset[int], tuple[int, ...]]] = set()
    for name, frame in _frames_of(RequestCode.HEART_BEAT):
        for consumer in HeartbeatData.decode(frame.body).consumer_data_set:
            for record in consumer.subscription_data_set:
                if record.sub_string == "TagA||TagB":
                    stated.add((name.split("_")[0], record.code_set, derive_subscription(record).codes))
    assert stated == {
        ("npm-ali-ons", frozenset({2598919, 2598920}), (2598919, 2598920)),
        ("py-rocketmq044", frozenset({0}), (2598919, 2598920)),
    }


def test_a_send_back_may_hold_three_fields_only() -> None:
    _, frame = next(entry for entry in _frames_of(RequestCode.CONSUMER_SEND_MSG_BACK) if "py-" in entry[0])
    header = REQUEST_HEADERS[frame.code].decode(frame.extension_fields)
    assert header == SendBackHeader(CommitLogPosition(0), "CG_py_cluster", 0)


def test_a_pull_says_what_its_group_wants() -> None:
    header = REQUEST_HEADERS[RequestCode.PULL_MESSAGE].decode(
        _frames_of(RequestCode.PULL_MESSAGE)[0][1].extension_fields
    )
    assert isinstance(header, PullMessageHeader)
    assert (header.consumer_group, header.subscription, header.max_msg_nums) == (
        "CG_broadcast",
        "TagA||TagB",
        32,
    )


def test_an_unlock_names_all_queues_of_its_client() -> None:
    (_, frame), *others = _frames_of(RequestCode.UNLOCK_BATCH_MQ)
    assert not others
    assert {queue.queue_id for queue in LockBatchBody.decode(frame.body).mq_set} == {0, 1}
