import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.broker.schedule import (
    DELAY_LEVELS,
    Cursor,
    Delivery,
    Next,
    advance_cursor,
    clamp_level,
    correct_cursor,
    derive_delay_ms,
    derive_delivery,
    derive_due_ms,
    derive_notice_topic,
    derive_saved_cursor,
    derive_schedule_queue,
    is_due,
    is_scheduled,
    parse_levels,
)
from spec.broker.send import PutStatus
from spec.rejection import Rejection
from spec.values.units import QueueOffset

SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000


@pytest.mark.clause("broker.schedule.eighteen-levels")
def test_eighteen_levels_from_one_second_to_two_hours() -> None:
    seconds = [1 * SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND]
    minutes = [minute * MINUTE for minute in (*range(1, 11), 20, 30)]
    assert list(DELAY_LEVELS) == [*seconds, *minutes, 1 * HOUR, 2 * HOUR]


@pytest.mark.clause("broker.schedule.level-text")
@pytest.mark.parametrize(
    ("text", "position", "piece"),
    [("", 0, ""), ("1s  5s", 3, ""), ("1s 5", 3, "5"), ("1s x", 3, "x"), ("1s 5s ", 6, "")],
)
def test_level_text_is_refused_where_it_is_wrong(text: str, position: int, piece: str) -> None:
    with pytest.raises(Rejection) as refused:
        parse_levels(text)
    reason = f"'{piece}' is not a delay: expected a number and one of s, m, h, d, as in '10s'"
    assert refused.value == Rejection("broker.schedule.level-text", position, reason)


@pytest.mark.clause("broker.schedule.level-text")
def test_level_is_its_number_times_its_unit() -> None:
    assert parse_levels("7s 2m 3h 4d") == (7_000, 120_000, 10_800_000, 345_600_000)


@pytest.mark.clause("broker.schedule.level-text")
@given(st.text("0123456789smhd x", max_size=20))
def test_any_level_text_gives_levels_or_a_rejection(text: str) -> None:
    try:
        count, position = len(parse_levels(text)), 0
    except Rejection as rejection:
        count, position = text.count(" ") + 1, rejection.position
    assert count == text.count(" ") + 1
    assert 0 <= position <= len(text)


@pytest.mark.clause("broker.schedule.level-clamped", "broker.schedule.queue-of-level")
def test_levels_are_clamped_and_have_a_queue_each() -> None:
    assert [clamp_level(level) for level in (-5, 0, 1, 18, 19, 2**31)] == [0, 0, 1, 18, 18, 18]
    assert [derive_schedule_queue(level) for level in range(1, 19)] == list(range(18))


@pytest.mark.clause("broker.schedule.only-plain-or-committed")
def test_prepared_and_rolled_back_messages_are_never_delayed() -> None:
    assert [is_scheduled(3, bits) for bits in (0x00, 0x04, 0x08, 0x0C)] == [True, False, True, False]
    assert is_scheduled(3, 0x31)
    assert [is_scheduled(level, 0x00) for level in (-1, 0, 1, 18)] == [False, False, True, True]


@pytest.mark.clause("broker.schedule.due-time", "broker.schedule.not-before-due")
def test_message_is_due_at_store_time_plus_delay_and_not_before() -> None:
    due_ms = derive_due_ms(3, 5_000)
    assert due_ms == 15_000
    assert [is_due(due_ms, now_ms, derive_delay_ms(3)) for now_ms in (14_999, 15_000, 99_999)] == [
        False,
        True,
        True,
    ]
    assert [derive_delay_ms(level) for level in (0, 1, 18, 19)] == [1_000, 1_000, 7_200_000, 7_200_000]
    assert [derive_due_ms(level, 5) for level in (-1, 0, 19)] == [1_005, 1_005, 7_200_005]


@pytest.mark.clause("broker.schedule.impossible-due-counts")
def test_due_time_further_ahead_than_the_delay_counts_as_due() -> None:
    assert not is_due(20_000, 10_000, 10_000)
    assert is_due(20_001, 10_000, 10_000)


@pytest.mark.clause("broker.schedule.cursor-never-passes-undelivered", "broker.schedule.refused-is-diverted")
@pytest.mark.parametrize(
    ("delivery", "after", "then"),
    [
        (Delivery.STORED, Cursor(QueueOffset(8)), Next.CONTINUE),
        (Delivery.UNREADABLE, Cursor(QueueOffset(8)), Next.CONTINUE),
        (Delivery.HALF, Cursor(QueueOffset(8)), Next.CONTINUE),
        (Delivery.DIVERTED, Cursor(QueueOffset(8)), Next.CONTINUE),
        (Delivery.UNAVAILABLE, Cursor(QueueOffset(7), 3), Next.PAUSE),
        (Delivery.REFUSED, Cursor(QueueOffset(7), 4), Next.PAUSE),
    ],
)
def test_cursor_after_each_kind_of_delivery(delivery: Delivery, after: Cursor, then: Next) -> None:
    assert advance_cursor(Cursor(QueueOffset(7), 3), delivery) == (after, then)


@pytest.mark.clause("broker.schedule.refused-is-diverted")
def test_sixteenth_refusal_diverts_in_the_reference_and_never_in_4_9() -> None:
    cursor = Cursor(QueueOffset(7), 15)
    assert advance_cursor(cursor, Delivery.REFUSED)[1] is Next.DIVERT
    assert advance_cursor(cursor, Delivery.REFUSED, refusal_limit=None)[1] is Next.PAUSE


@pytest.mark.clause("broker.schedule.cursor-repaired-on-load", "broker.schedule.replica-trusts-cursor")
def test_loaded_cursor_is_moved_into_its_queue_on_a_master_only() -> None:
    assert [correct_cursor(offset, 3, 9) for offset in (0, 3, 9, 12)] == [3, 3, 9, 9]
    assert correct_cursor(12, 3, 9, is_replica=True) == 12


@pytest.mark.clause("broker.schedule.saved-cursor")
def test_4_9_3_saves_one_past_the_start_of_a_batch() -> None:
    assert [derive_saved_cursor(10, passed) for passed in (0, 1, 5)] == [10, 11, 15]
    assert [derive_saved_cursor(10, passed, saves_each=False) for passed in (0, 1, 5)] == [10, 11, 11]


@pytest.mark.clause("broker.schedule.cursor-never-passes-undelivered", "broker.schedule.refused-is-diverted")
@given(st.lists(st.sampled_from([Delivery.STORED, Delivery.UNAVAILABLE, Delivery.REFUSED]), max_size=80))
def test_level_settles_every_message_below_its_cursor_in_order(outcomes: list[Delivery]) -> None:
    cursor, settled, must_divert = Cursor(QueueOffset(0)), [], False
    for outcome in outcomes:
        delivery = Delivery.DIVERTED if must_divert else outcome
        before = cursor.offset
        cursor, then = advance_cursor(cursor, delivery)
        must_divert = then is Next.DIVERT
        if cursor.offset != before:
            assert delivery in (Delivery.STORED, Delivery.DIVERTED)
            settled.append(before)
    assert settled == list(range(cursor.offset))


@pytest.mark.clause("broker.schedule.cursor-never-passes-undelivered", "broker.schedule.refused-is-diverted")
def test_store_result_is_about_the_message_or_about_the_store() -> None:
    assert {status.name: derive_delivery(status) for status in PutStatus} == {
        "PUT_OK": Delivery.STORED,
        "FLUSH_DISK_TIMEOUT": None,
        "FLUSH_SLAVE_TIMEOUT": None,
        "SLAVE_NOT_AVAILABLE": None,
        "SERVICE_NOT_AVAILABLE": Delivery.UNAVAILABLE,
        "CREATE_FILE_FAILED": Delivery.UNAVAILABLE,
        "MESSAGE_ILLEGAL": Delivery.REFUSED,
        "PROPERTIES_SIZE_EXCEEDED": Delivery.REFUSED,
        "PAGE_CACHE_BUSY": Delivery.UNAVAILABLE,
        "UNKNOWN_ERROR": Delivery.UNAVAILABLE,
    }


@pytest.mark.clause("broker.schedule.notice-is-found")
def test_notice_stands_with_the_dead_letters_of_its_group_or_in_a_topic_of_its_own() -> None:
    topics = ["%RETRY%g", "T", "%DLQ%g", ""]
    own = "SCHEDULE_REFUSED_TOPIC"
    assert [derive_notice_topic(topic) for topic in topics] == ["%DLQ%g", own, own, own]
