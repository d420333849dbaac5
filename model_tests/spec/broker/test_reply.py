import pytest

from spec.broker.reply import (
    NO_MESSAGE_ID,
    PUSH_TIMEOUT_MS,
    STORED_FLAGS,
    derive_asker,
    derive_pushed_properties,
)


@pytest.mark.clause("broker.reply.goes-to-the-asker")
def test_the_asker_is_who_the_reply_names() -> None:
    assert derive_asker({"REPLY_TO_CLIENT": "c1", "CORRELATION_ID": "x"}) == "c1"
    assert derive_asker({"CORRELATION_ID": "x"}) is None


@pytest.mark.clause("broker.reply.says-when-pushed")
def test_the_copy_says_when_it_was_handed_over_whatever_the_sender_said() -> None:
    sent = {"A": "1", "PUSH_REPLY_TIME": "0"}
    assert derive_pushed_properties(sent, 7) == {"A": "1", "PUSH_REPLY_TIME": "7"}
    assert sent == {"A": "1", "PUSH_REPLY_TIME": "0"}


@pytest.mark.clause("broker.reply.stored-as-sent", "broker.reply.success-means-pushed")
def test_numbers_are_those_of_apache_and_stored_flags_say_how_to_unpack() -> None:
    assert (PUSH_TIMEOUT_MS, NO_MESSAGE_ID, STORED_FLAGS) == (10_000, "0", 0x701)
