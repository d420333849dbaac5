import pytest

from spec.rejection import Rejection
from spec.values.message import Message, derive_due_at, derive_tag_code, parse_delay_level

DELAYS = (1_000, 5_000, 10_000)


def test_message_answers_from_its_properties() -> None:
    message = Message(
        "T", b"", 0, {"TAGS": "A", "KEYS": "k1 k2", "UNIQ_KEY": "U", "DELAY": "3", "WAIT": "False"}
    )
    assert (message.tag, message.keys, message.unique_id) == ("A", ("k1", "k2"), "U")
    assert (message.delay_level, message.waits_for_store) == (3, False)
    bare = Message("T", b"")
    assert (bare.tag, bare.keys, bare.unique_id, bare.delay_level, bare.waits_for_store) == (
        None,
        (),
        None,
        0,
        True,
    )


@pytest.mark.clause("store.queue.tag-code")
@pytest.mark.parametrize(
    ("tag", "code"), [("TagA", 2_598_919), ("A", 65), ("", 0), ("polygenelubricants", -(2**31))]
)
def test_tag_code_is_the_signed_hash_of_the_tag(tag: str, code: int) -> None:
    assert derive_tag_code("T", {"TAGS": tag}, 0, DELAYS) == code


@pytest.mark.clause("store.queue.tag-code")
def test_message_without_tag_has_code_zero() -> None:
    assert derive_tag_code("T", {"DELAY": "2"}, 7, DELAYS) == 0


@pytest.mark.clause("store.queue.schedule-tag-is-due-time")
@pytest.mark.parametrize(
    ("delay", "code"),
    [
        ("2", 105_000),
        ("0002", 105_000),
        ("99", 110_000),
        ("0", 65),
        ("x", 65),
        ("-1", 65),
        ("2147483648", 65),
    ],
)
def test_scheduled_message_carries_its_due_time_if_its_level_can_be_read(delay: str, code: int) -> None:
    assert derive_tag_code("SCHEDULE_TOPIC_XXXX", {"DELAY": delay, "TAGS": "A"}, 100_000, DELAYS) == code


@pytest.mark.clause("store.queue.schedule-tag-is-due-time")
def test_due_time_without_a_delay_table_is_a_second_later() -> None:
    assert derive_due_at(3, 1, ()) == 1_001


@pytest.mark.clause("store.queue.schedule-tag-is-due-time")
@pytest.mark.parametrize("text", ["", "x", "1.5", "--1", "2147483648", "9" * 5_000, "٣", " 1"])
def test_delay_level_that_is_no_integer_of_32_bits_is_refused(text: str) -> None:
    with pytest.raises(Rejection, match="delay level") as refusal:
        parse_delay_level({"DELAY": text})
    assert refusal.value.clause == "store.queue.schedule-tag-is-due-time"
    assert len(refusal.value.reason) < 100
