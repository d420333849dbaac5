import pytest

from spec.rejection import Rejection
from spec.values.units import Milliseconds, QueueId, QueueOffset
from spec.wire.header.admin import CreateTopicHeader, RoutingMarkHeader
from spec.wire.header.client import SendBackHeader, UnregisterClientHeader
from spec.wire.header.codec import CustomHeader, Reading, derive_wire_name
from spec.wire.header.nameserver import RegisterBrokerHeader
from spec.wire.header.offset import ResetOffsetHeader, UpdateConsumerOffsetHeader
from spec.wire.header.pull import PullMessageHeader, QueryMessageHeader
from spec.wire.header.send import (
    SEND_LONG,
    SEND_SHORT,
    SendMessageHeader,
    SendMessageResponseHeader,
    SendRefusalHeader,
)

SEND = SendMessageHeader(
    producer_group="PG",
    topic="T",
    default_topic="TBW102",
    default_topic_queue_nums=4,
    queue_id=QueueId(1),
    sys_flag=0,
    born_timestamp=Milliseconds(1794981540413),
    flag=7,
    properties="TAGS\x01A\x02",
    batch=True,
)
LONG = {
    "producerGroup": "PG",
    "topic": "T",
    "defaultTopic": "TBW102",
    "defaultTopicQueueNums": "4",
    "queueId": "1",
    "sysFlag": "0",
    "bornTimestamp": "1794981540413",
    "flag": "7",
    "properties": "TAGS\x01A\x02",
    "unitMode": "false",
    "batch": "true",
}
SHORT = dict(zip("abcdefghi", list(LONG.values())[:9], strict=True)) | {"k": "false", "m": "true"}
COMMIT = {"consumerGroup": "G", "topic": "T", "queueId": "0", "commitOffset": "5"}


@pytest.mark.clause("wire.header-fields.java-names")
def test_wire_names_are_the_fields_in_camel_case_unless_stated() -> None:
    assert derive_wire_name("suspend_timeout_millis") == "suspendTimeoutMillis"
    assert ResetOffsetHeader("T", "G", Milliseconds(-1), is_force=True).encode() == {
        "topic": "T",
        "group": "G",
        "timestamp": "-1",
        "isForce": "true",
    }
    assert UnregisterClientHeader("c", consumer_group="").encode() == {"clientID": "c", "consumerGroup": ""}
    register = RegisterBrokerHeader("b", "h:1", "C", "h:2", 0)
    assert register.encode() == {
        "brokerName": "b",
        "brokerAddr": "h:1",
        "clusterName": "C",
        "haServerAddr": "h:2",
        "brokerId": "0",
        "compressed": "false",
        "bodyCrc32": "0",
    }


@pytest.mark.clause("wire.header-fields.short-names")
def test_one_send_has_two_spellings() -> None:
    assert (SEND_LONG.encode(SEND), SEND_SHORT.encode(SEND)) == (LONG, SHORT)
    assert SEND_LONG.decode(LONG) == SEND_SHORT.decode(SHORT) == SEND
    later = SEND_SHORT.decode(SHORT | {"j": "2", "l": "16", "n": "broker-a"})
    assert (later.reconsume_times, later.max_reconsume_times, later.broker_name) == (2, 16, "broker-a")
    assert SEND_LONG.encode(later)["bname"] == "broker-a"


@pytest.mark.clause("wire.header-fields.short-names-exacting")
@pytest.mark.parametrize("letter", list("abcdefgh"))
@pytest.mark.parametrize("reading", list(Reading))
def test_a_missing_letter_a_to_h_is_refused_in_every_reading(letter: str, reading: Reading) -> None:
    fields = {name: text for name, text in SHORT.items() if name != letter}
    with pytest.raises(Rejection) as refusal:
        SEND_SHORT.decode(fields, reading=reading)
    assert str(refusal.value) == f"at 0: {letter}: the field is missing [wire.header-fields.required]"


@pytest.mark.clause("wire.header-fields.batch-field-decides", "wire.header-fields.boolean-word")
@pytest.mark.parametrize(("text", "is_batch"), [("true", True), ("TRUE", True), ("1", False), ("0", False)])
def test_only_the_word_in_the_batch_field_makes_a_batch(text: str, is_batch: bool) -> None:  # noqa: FBT001 - a column
    assert SEND_LONG.decode(LONG | {"batch": text}).batch is is_batch
    assert SEND_SHORT.decode(SHORT | {"m": text}).batch is is_batch


@pytest.mark.clause("wire.header-fields.required")
@pytest.mark.parametrize("name", list(COMMIT))
def test_a_missing_required_field_is_refused_by_name(name: str) -> None:
    fields = {other: text for other, text in COMMIT.items() if other != name}
    with pytest.raises(Rejection) as refusal:
        UpdateConsumerOffsetHeader.decode(fields)
    assert str(refusal.value) == f"at 0: {name}: the field is missing [wire.header-fields.required]"


@pytest.mark.clause("wire.header-fields.required")
def test_no_extension_fields_at_all_are_refused_where_one_is_required() -> None:
    with pytest.raises(Rejection):
        UpdateConsumerOffsetHeader.decode(None)
    assert CustomHeader.decode(None) == CustomHeader()
    assert SendRefusalHeader.decode(None) == SendRefusalHeader()


@pytest.mark.clause("wire.header-fields.apache-fills-in")
def test_apache_goes_on_with_zeros_where_the_reference_refuses() -> None:
    filled = UpdateConsumerOffsetHeader("", "T", QueueId(0), QueueOffset(0))
    broken = {"topic": "T", "queueId": "x", "commitOffset": str(2**63)}
    assert UpdateConsumerOffsetHeader.decode(broken, reading=Reading.APACHE_4_9) == filled
    lenient = SEND_LONG.decode({"reconsumeTimes": "many", "topic": "T"}, reading=Reading.APACHE_4_9)
    assert (lenient.topic, lenient.producer_group, lenient.reconsume_times) == ("T", "", None)


@pytest.mark.clause("wire.header-fields.integer-range", "wire.header-fields.integer-text")
@pytest.mark.parametrize(
    ("name", "text", "clause"),
    [
        ("queueId", "2147483648", "wire.header-fields.integer-range"),
        ("commitOffset", "-9223372036854775809", "wire.header-fields.integer-range"),
        ("queueId", "", "wire.header-fields.integer-text"),
        ("commitOffset", "1.0", "wire.header-fields.integer-text"),
    ],
)
def test_an_unreadable_integer_is_refused_by_name(name: str, text: str, clause: str) -> None:
    with pytest.raises(Rejection) as refusal:
        UpdateConsumerOffsetHeader.decode(COMMIT | {name: text})
    assert (refusal.value.clause, refusal.value.position) == (clause, 0)
    assert refusal.value.reason.startswith(f"{name}: ")


@pytest.mark.clause("wire.header-fields.enumeration")
def test_an_enumeration_is_read_by_its_exact_name() -> None:
    fields = {
        "topic": "T",
        "defaultTopic": "TBW102",
        "readQueueNums": "4",
        "writeQueueNums": "4",
        "perm": "6",
        "topicFilterType": "MULTI_TAG",
        "order": "false",
    }
    assert CreateTopicHeader.decode(fields).encode() == fields
    with pytest.raises(Rejection) as refusal:
        CreateTopicHeader.decode(fields | {"topicFilterType": "multi_tag"})
    assert refusal.value.clause == "wire.header-fields.enumeration"
    assert refusal.value.reason == "topicFilterType: 'multi_tag' is none of SINGLE_TAG, MULTI_TAG"


@pytest.mark.clause("wire.header-fields.unknown-ignored")
def test_fields_that_nobody_knows_are_ignored() -> None:
    extras = {"Signature": "s", "AccessKey": "", "bname": "broker-a", "nsd": "true"}
    header = UpdateConsumerOffsetHeader("G", "T", QueueId(0), QueueOffset(5))
    assert UpdateConsumerOffsetHeader.decode(COMMIT | extras) == header
    assert RoutingMarkHeader.decode(COMMIT | extras) == RoutingMarkHeader(bname="broker-a", nsd=True)


@pytest.mark.clause("wire.header-fields.null-omitted")
def test_absent_values_are_left_out_and_plain_ones_always_written() -> None:
    pull = PullMessageHeader(
        "G", "T", QueueId(0), QueueOffset(0), 32, 6, QueueOffset(0), Milliseconds(15000), 0, "*"
    )
    assert "expressionType" not in pull.encode()
    assert SendBackHeader.decode({"group": "G", "offset": "372", "delayLevel": "0"}).encode() == {
        "offset": "372",
        "group": "G",
        "delayLevel": "0",
        "unitMode": "false",
    }


@pytest.mark.clause("wire.header-fields.unique-key-mark")
def test_a_query_by_unique_id_carries_the_extra_mark() -> None:
    query = QueryMessageHeader("T", "k", 32, Milliseconds(0), Milliseconds(9), is_unique_key=True)
    fields = query.encode()
    assert fields["_UNIQUE_KEY_QUERY"] == "true"
    assert QueryMessageHeader.decode(fields) == query
    del fields["_UNIQUE_KEY_QUERY"]
    assert QueryMessageHeader.decode(fields).is_unique_key is False


@pytest.mark.clause("wire.header-fields.send-answer")
def test_a_send_answer_says_where_the_message_is_and_carries_the_marks() -> None:
    fields = {
        "msgId": "7F",
        "queueId": "1",
        "queueOffset": "12",
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
    }
    answer = SendMessageResponseHeader(
        "7F", QueueId(1), QueueOffset(12), region="DefaultRegion", is_trace_on=True
    )
    assert (SendMessageResponseHeader.decode(fields), answer.encode()) == (answer, fields)
    assert SendRefusalHeader.decode(fields) == SendRefusalHeader("DefaultRegion", is_trace_on=True)
    with pytest.raises(Rejection) as refusal:
        SendMessageResponseHeader.decode(SendRefusalHeader("DefaultRegion").encode())
    assert refusal.value.clause == "wire.header-fields.required"
