from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_tests.spec.wire.record_strategy import records_of
from spec.group.consumption import ConsumeType, MessageModel
from spec.group.start_position import StartPolicy
from spec.rejection import Rejection
from spec.values.message_queue import MessageQueue
from spec.values.subscription import ExpressionType
from spec.values.units import Milliseconds, QueueId, QueueOffset
from spec.wire.body.group import ClientConnection
from spec.wire.body.heartbeat import ConsumerData, HeartbeatData, ProducerData
from spec.wire.body.lock import LockBatchBody
from spec.wire.body.offset import (
    ConsumerOffsetTable,
    OffsetMovedEvent,
    ResetOffsetBody,
    ResetOffsetList,
    decode_reset_offset,
    derive_reset_offset_list,
)
from spec.wire.body.record import RecordCodec
from spec.wire.body.running_info import ConsumeDirectlyResult, ConsumeResult
from spec.wire.body.statistic import ConsumeStats
from spec.wire.body.subscription import SubscriptionRecord, derive_record, derive_subscription
from spec.wire.body.table import REQUEST_BODIES, RESPONSE_BODIES
from spec.wire.body.topic import TopicConfigTable
from spec.wire.fastjson import JsonValue

FEW: Final = settings(max_examples=settings.default.max_examples // 4 if settings.default else 25)
"""A quarter for each of many bodies is plenty for all."""

OTHERS: Final = [RecordCodec(OffsetMovedEvent), RecordCodec(ResetOffsetList), RecordCodec(TopicConfigTable)]
BODIES: Final = sorted(
    {
        codec.record.__name__: codec
        for codec in [*REQUEST_BODIES.values(), *RESPONSE_BODIES.values(), *OTHERS]
    }.items()
)


@pytest.mark.clause("wire.body.java-names", "wire.body.map-keys")
@pytest.mark.parametrize(("name", "codec"), BODIES)
@FEW
@given(data=st.data())
def test_every_body_is_read_back_from_each_of_its_forms(
    name: str, codec: RecordCodec[object], data: st.DataObject
) -> None:
    body = data.draw(records_of(codec.record), label=name)
    for is_dialect in (False, True):
        for is_pretty in (False, True):
            spelled = codec.encode(body, is_dialect=is_dialect, is_pretty=is_pretty)
            assert codec.decode(spelled) == body


def outcome_of(codec: RecordCodec[object], data: bytes) -> object:
    try:
        return codec.decode(data)
    except Rejection as refusal:
        return refusal


@pytest.mark.clause("wire.body.field-type")
@pytest.mark.parametrize(("name", "codec"), BODIES)
@FEW
@given(data=st.data())
def test_any_json_is_a_body_or_refused(name: str, codec: RecordCodec[object], data: st.DataObject) -> None:
    spelled = codec.encode(data.draw(records_of(codec.record), label=name), is_dialect=True)
    cut = data.draw(st.integers(0, len(spelled)))
    graft = data.draw(
        st.sampled_from([b"", b"null", b"[]", b"{}", b'"x"', b"-1", b"1e3", b"99999999999999999999"])
    )
    end = data.draw(st.integers(cut, min(len(spelled), cut + 12)))
    outcome = outcome_of(codec, spelled[:cut] + graft + spelled[end:])
    assert isinstance(outcome, codec.record | Rejection)


@pytest.mark.parametrize("tree", [b"null", b"[]", b"1", b'"x"', b"true"])
@pytest.mark.parametrize(("name", "codec"), BODIES)
def test_a_body_that_is_no_object_is_refused(name: str, codec: RecordCodec[object], tree: bytes) -> None:
    with pytest.raises(Rejection) as refusal:
        codec.decode(tree)
    assert refusal.value.clause == "wire.body.field-type", name


@pytest.mark.clause("wire.body.field-type", "wire.body.required-key")
@pytest.mark.parametrize(
    ("data", "clause", "reason"),
    [
        (
            b'{"topicConfigTable":{"T":{"topicName":"T","perm":"x"}}}',
            "wire.body.field-type",
            "topicConfigTable: T: perm: expected an integer, found 'x'",
        ),
        (
            b'{"topicConfigTable":{"T":{"topicName":"T","perm":2147483648}}}',
            "wire.body.field-type",
            "topicConfigTable: T: perm: expected an integer of 32 bits, found 2147483648",
        ),
        (
            b'{"topicConfigTable":{"T":{"perm":6}}}',
            "wire.body.required-key",
            "topicConfigTable: T: topicName: the key is missing",
        ),
        (
            b'{"topicConfigTable":[]}',
            "wire.body.field-type",
            "topicConfigTable: expected an object, found list",
        ),
        (
            b'{"dataVersion":{"counter":1.5}}',
            "wire.body.field-type",
            "dataVersion: counter: expected an integer of 64 bits, found 1.5",
        ),
        (
            b'{"dataVersion":{"counter":true}}',
            "wire.body.field-type",
            "dataVersion: counter: expected an integer of 64 bits, found True",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_the_path_to_it(data: bytes, clause: str, reason: str) -> None:
    with pytest.raises(Rejection) as refusal:
        TopicConfigTable.decode(data)
    assert (refusal.value.clause, refusal.value.reason) == (clause, reason)


@pytest.mark.clause("wire.body.unknown-keys")
def test_keys_that_nobody_knows_are_ignored_and_null_is_absence() -> None:
    data = b'{"clientID":"c","heartbeatFingerprint":0,"withoutSub":false,"producerDataSet":null}'
    assert HeartbeatData.decode(data) == HeartbeatData("c")


@pytest.mark.clause("wire.body.heartbeat-sets")
def test_a_heartbeat_may_lack_either_set() -> None:
    assert HeartbeatData.decode(b'{"clientID":"c"}\n') == HeartbeatData("c")
    producer = HeartbeatData.decode(b'{"clientID":"c","producerDataSet":[{"groupName":"PG"}]}')
    assert producer == HeartbeatData("c", (ProducerData("PG"),))
    with pytest.raises(Rejection) as refusal:
        HeartbeatData.decode(b'{"producerDataSet":[]}')
    assert refusal.value.clause == "wire.body.required-key"


@pytest.mark.clause("wire.body.enum-name-or-ordinal")
@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((0, 0, 0), (ConsumeType.PULL, MessageModel.BROADCASTING, StartPolicy.LAST_OFFSET)),
        ((1, 1, 4), (ConsumeType.PUSH, MessageModel.CLUSTERING, StartPolicy.FIRST_OFFSET)),
        ((1, 1, 5), (ConsumeType.PUSH, MessageModel.CLUSTERING, StartPolicy.TIMESTAMP)),
    ],
)
def test_enums_are_read_by_their_place_in_javas_list(
    numbers: tuple[int, int, int], expected: tuple[ConsumeType, MessageModel, StartPolicy]
) -> None:
    names = ("consumeType", "messageModel", "consumeFromWhere")
    tree: dict[str, JsonValue] = {"groupName": "G", **dict(zip(names, numbers, strict=True))}
    read = ConsumerData.decode_tree(tree)
    assert (read.consume_type, read.message_model, read.consume_from_where) == expected
    assert all(f'"{part.value}"'.encode() in read.encode() for part in expected)


@pytest.mark.clause("wire.body.enum-name-or-ordinal")
@pytest.mark.parametrize("value", [b"6", b"-1", b'"CR_success"', b'"0"', b"true", b"1.0", b"[]"])
def test_a_number_or_name_outside_the_list_is_refused(value: bytes) -> None:
    with pytest.raises(Rejection) as refusal:
        ConsumeDirectlyResult.decode(b'{"consumeResult":' + value + b"}")
    assert refusal.value.clause == "wire.body.field-type"
    assert ConsumeDirectlyResult.decode(b'{"consumeResult":5}').consume_result is ConsumeResult.RETURN_NULL


@pytest.mark.clause("wire.body.forgiven-scalars")
def test_numbers_as_texts_and_booleans_as_digits_are_read() -> None:
    read = SubscriptionRecord.decode(
        b'{"topic":"T","subString":"*","subVersion":"1794980428229","codeSet":[0,0],"classFilterMode":1}'
    )
    expected = SubscriptionRecord(
        "T",
        "*",
        code_set=frozenset({0}),
        sub_version=Milliseconds(1794980428229),
        expression_type=ExpressionType.TAG,
        class_filter_mode=True,
    )
    assert read == expected
    words = SubscriptionRecord.decode(b'{"topic":7,"subString":true,"classFilterMode":"TRUE"}')
    assert (words.topic, words.sub_string, words.class_filter_mode) == ("7", "true", True)
    assert ConsumeStats.decode(b'{"consumeTps":3}').consume_tps == 3.0
    assert ClientConnection.decode(b'{"clientId":"c","clientAddr":"a","language":"COBOL"}').language is None


@pytest.mark.clause("wire.body.expression-wins")
def test_codes_follow_from_the_expression_whatever_was_stated() -> None:
    said = SubscriptionRecord("T", "TagA||TagB", frozenset({"TagA", "TagB"}), frozenset({0}), Milliseconds(1))
    derived = derive_subscription(said)
    assert derived.codes == (2598919, 2598920)
    assert derive_record(derived).code_set == {2598919, 2598920}
    sql = SubscriptionRecord("T", "a>1", expression_type=ExpressionType.SQL92)
    assert derive_record(derive_subscription(sql)) == sql


@pytest.mark.clause("wire.body.map-keys")
def test_a_table_keyed_by_queue_or_number_is_the_same_from_both_spellings() -> None:
    queue = MessageQueue("T", "b", QueueId(1))
    table = ResetOffsetBody({queue: QueueOffset(5)})
    dialect = b'{"offsetTable":{{"topic":"T","queueId":1,"brokerName":"b"}:5}}'
    standard = b'{"offsetTable":{"{\\"brokerName\\":\\"b\\", \\"queueId\\":1,\\"topic\\":\\"T\\"}":5}}'
    assert ResetOffsetBody.decode(dialect) == ResetOffsetBody.decode(standard) == table
    offsets = ConsumerOffsetTable({"T@G": {QueueId(0): QueueOffset(5)}})
    assert ConsumerOffsetTable.decode(b'{"offsetTable":{"T@G":{0:5}}}') == offsets
    assert ConsumerOffsetTable.decode(b'{"offsetTable":{"T@G":{"0":5}}}') == offsets


@pytest.mark.clause("wire.body.map-keys")
@pytest.mark.parametrize("key", [b'"x"', b'"{"', b'"{}"', b"{}", b'"2147483648"', b'"[]"'])
def test_keys_of_another_type_are_refused(key: bytes) -> None:
    for decode, data in [
        (ResetOffsetBody.decode, b'{"offsetTable":{' + key + b":5}}"),
        (ConsumerOffsetTable.decode, b'{"offsetTable":{"T@G":{' + key + b":5}}}"),
    ]:
        with pytest.raises(Rejection) as refusal:
            decode(data)
        assert refusal.value.reason.startswith("offsetTable: ")


@pytest.mark.clause("wire.body.reset-offset-forms")
@given(records_of(ResetOffsetBody))
def test_a_reset_is_read_from_table_and_list_alike(body: ResetOffsetBody) -> None:
    assert decode_reset_offset(body.encode()) == body
    assert decode_reset_offset(body.encode(is_dialect=True)) == body
    assert decode_reset_offset(derive_reset_offset_list(body).encode()) == body


@pytest.mark.clause("wire.body.java-names")
def test_sets_are_written_in_order_whatever_order_they_were_read_in() -> None:
    queues = [b'{"brokerName":"b","queueId":%d,"topic":"T"}' % number for number in (3, 1, 2)]
    read = LockBatchBody.decode(b'{"clientId":"c","consumerGroup":"g","mqSet":[' + b",".join(queues) + b"]}")
    ordered = b",".join(sorted(queues))
    assert read.encode() == b'{"clientId":"c","consumerGroup":"g","mqSet":[' + ordered + b"]}"
