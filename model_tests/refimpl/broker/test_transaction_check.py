"""Rounds of checks through the simulated world: who is asked, how often, and how it ends."""

from dataclasses import replace

import pytest

from model_tests.refimpl.broker.broker_world import SMALL_STORE, SYNC_STORE
from model_tests.refimpl.broker.timed_world import (
    COMMIT,
    GROUP,
    PERIOD_MS,
    ROLLBACK,
    TRANSACTION_KINDS,
    Producer,
    TimedWorld,
    describe,
)
from refimpl.broker.half_ledger import Decided
from refimpl.broker.half_view import HalfView, derive_view
from refimpl.broker.intake import Stored
from refimpl.broker.renewal import renew
from refimpl.broker.settings import BrokerSettings
from refimpl.broker.transaction_check import CHECK_GROUP
from refimpl.simulated.world import START_MS
from refimpl.store.message_store import Appended
from spec.broker.send import PutStatus
from spec.guarantees.verdict import Verdict
from spec.history.event import ABSENT, Outcome
from spec.history.kind import Kind
from spec.layout.stored_message import StoredMessage
from spec.values.name import CHECK_EXCEEDED_TOPIC, HALF_TOPIC, OPERATION_TOPIC
from spec.values.units import ByteCount
from spec.wire.header.send import SendMessageResponseHeader


def make_world(*, is_sync: bool = False, **changes: int) -> TimedWorld:
    return TimedWorld(BrokerSettings(store=SYNC_STORE if is_sync else SMALL_STORE, **changes))  # type: ignore[arg-type] # numbers only


def check_transactions(world: TimedWorld) -> None:
    judgements = world.judge()
    rules = ("TXN-1", "TXN-2")
    assert {rule: judgements[rule].verdict for rule in rules} == dict.fromkeys(rules, Verdict.HELD)


def place_of(question: tuple[object, ...], sent: SendMessageResponseHeader) -> SendMessageResponseHeader:
    """Where the producer was told that its half message is."""
    header = question[0]
    return replace(sent, msg_id=header.offset_msg_id, queue_offset=header.tran_state_table_offset)  # type: ignore[attr-defined]


@pytest.mark.clause("broker.transaction.check-needed", "broker.transaction.checks-counted")
@pytest.mark.parametrize("is_sync", [False, True])
def test_an_open_half_message_is_appended_again_and_its_producer_is_asked(is_sync: bool) -> None:  # noqa: FBT001
    world = make_world(is_sync=is_sync)
    producer = Producer(world)
    producer.prepare("first")
    sent = producer.prepare("k")
    producer.decide(sent, ROLLBACK)
    assert world.broker.parts.topics.find(HALF_TOPIC) is None
    world.run_for(PERIOD_MS + 1_000)
    config = world.broker.parts.topics.find(HALF_TOPIC)
    assert config is not None
    assert (config.read_queue_count, config.write_queue_count, config.permission) == (1, 1, 6)
    ((header, asked),) = producer.questions()
    copy = world.stored(HALF_TOPIC)[2]
    offset_id = f"7F00000100002A9F{copy.position:016X}"
    assert (header.tran_state_table_offset, header.commit_log_offset) == (2, copy.position)
    assert (header.msg_id, header.transaction_id, header.offset_msg_id) == ("first", "first", offset_id)
    assert (asked.topic, asked.queue_id, asked.body) == ("T", 0, b"body of first")
    assert (asked.queue_offset, asked.position) == (2, copy.position)
    assert copy.properties()["TRANSACTION_CHECK_TIMES"] == "1"
    told = describe(world.kinds(*TRANSACTION_KINDS), "offset", "message")
    assert [one for one in told if one != (Kind.HALF_CURSOR, 0, "")] == [
        (Kind.HALF, 0, "first"),
        (Kind.HALF, 1, "k"),
        (Kind.RESOLVE, 1, "k"),
        (Kind.ROUND, ABSENT, ""),
        (Kind.REQUEUE, 0, "first"),
        (Kind.CHECK, 2, "first"),
        (Kind.HALF_CURSOR, 2, ""),
    ]
    answer = producer.decide(place_of((header,), sent), COMMIT, from_transaction_check=True)
    assert answer.code == 0
    assert world.bodies("T") == [b"body of first"]
    assert world.bodies(OPERATION_TOPIC) == [b"1", b"2"]
    world.run_for(2 * PERIOD_MS)
    assert producer.questions() == []
    offsets = world.broker.parts.offsets
    committed = [offsets.find(CHECK_GROUP, topic, 0) for topic in (HALF_TOPIC, OPERATION_TOPIC)]
    assert committed == [3, 2]
    check_transactions(world)


@pytest.mark.clause("broker.transaction.immunity")
def test_a_young_half_message_is_left_alone_until_the_next_round() -> None:
    world = make_world()
    producer = Producer(world)
    world.run_for(PERIOD_MS - 5_000)
    producer.prepare("young")
    world.run_for(PERIOD_MS - 1_000)
    assert producer.questions() == []
    world.run_for(10_000)
    assert [header.msg_id for header, _ in producer.questions()] == ["young"]
    check_transactions(world)


@pytest.mark.clause("broker.transaction.no-check-before-records")
@pytest.mark.parametrize("is_sync", [False, True])
def test_a_late_decision_about_the_old_place_ends_the_copies_too(is_sync: bool) -> None:  # noqa: FBT001
    world = make_world(is_sync=is_sync)
    producer = Producer(world)
    producer.prepare("first in the log")
    sent = producer.prepare("slow")
    world.run_for(PERIOD_MS + 2_000)
    assert len(producer.questions()) == 2
    assert producer.decide(sent, COMMIT).code == 0
    assert world.bodies(OPERATION_TOPIC) == [b"3"]
    world.run_for(2 * PERIOD_MS)
    assert {header.msg_id for header, _ in producer.questions()} == {"first in the log"}
    assert world.bodies("T") == [b"body of slow"]
    check_transactions(world)


@pytest.mark.clause("broker.transaction.no-check-before-records")
def test_a_late_decision_counts_for_the_copies_also_after_a_crash() -> None:
    world = make_world(is_sync=True)
    producer = Producer(world)
    producer.prepare("first in the log")
    sent = producer.prepare("slow")
    world.run_for(PERIOD_MS + 500)
    assert producer.decide(sent, COMMIT).code == 0
    # The cursors of this round are not saved yet: the next life walks the old places again.
    world.crash()
    producer = Producer(world)
    world.run_for(3 * PERIOD_MS)
    assert {header.msg_id for header, _ in producer.questions()} == {"first in the log"}
    assert world.bodies("T") == [b"body of slow"]
    check_transactions(world)


@pytest.mark.clause("broker.transaction.limits", "broker.transaction.checks-counted")
@pytest.mark.parametrize("is_sync", [False, True])
def test_after_the_last_check_the_half_message_is_given_up_visibly(is_sync: bool) -> None:  # noqa: FBT001
    world = make_world(is_sync=is_sync)
    producer = Producer(world)
    producer.prepare("silent")
    world.run_for(1_000)
    asked = 0
    for _ in range(16):
        world.run_for(PERIOD_MS)
        producer.heartbeat()
        if producer.questions():
            asked += 1
            # The answer to the last question has as much time as all others.
            assert world.bodies(CHECK_EXCEEDED_TOPIC) == []
    assert asked == 15
    (given_up,) = world.stored(CHECK_EXCEEDED_TOPIC)
    assert given_up.body == b"body of silent"
    assert given_up.properties()["TRANSACTION_CHECK_TIMES"] == "15"
    assert world.broker.parts.topics.find(CHECK_EXCEEDED_TOPIC) is not None
    assert describe(world.kinds(Kind.EXCEED), "offset", "message", "cause") == [
        (Kind.EXCEED, 15, "silent", "checks")
    ]
    world.run_for(2 * PERIOD_MS)
    assert producer.questions() == []
    check_transactions(world)


@pytest.mark.clause("broker.transaction.limits")
def test_the_limits_are_those_of_the_settings() -> None:
    world = make_world(check_limit=2, check_period_ms=10_000, immunity_ms=1_000)
    producer = Producer(world)
    producer.prepare("silent")
    world.run_for(32_000)
    assert len(producer.questions()) == 2
    assert world.bodies(CHECK_EXCEEDED_TOPIC) == [b"body of silent"]


@pytest.mark.clause("broker.transaction.checks-counted")
def test_without_a_producer_no_check_is_counted_and_the_message_ends_by_its_age() -> None:
    world = make_world(half_age_limit_ms=20 * PERIOD_MS)
    producer = Producer(world)
    producer.prepare("orphan")
    producer.client.caller.close()
    world.run_for(18 * PERIOD_MS)
    newest = world.stored(HALF_TOPIC)[-1]
    assert newest.queue_offset == 18
    assert "TRANSACTION_CHECK_TIMES" not in newest.properties()
    assert newest.properties()["TRAN_PREPARED_QUEUE_OFFSET"] == "0"
    assert {event.outcome for event in world.kinds(Kind.CHECK)} == {Outcome.FAIL}
    world.run_for(4 * PERIOD_MS)
    assert [event.cause for event in world.kinds(Kind.EXCEED)] == ["age"]
    assert world.bodies(CHECK_EXCEEDED_TOPIC) == [b"body of orphan"]
    check_transactions(world)


@pytest.mark.clause("broker.transaction.producer-in-turn")
def test_another_producer_of_the_group_is_asked_and_decides() -> None:
    world = make_world()
    gone, stranger = Producer(world), Producer(world, "stranger")
    gone.prepare("k")
    gone.client.caller.close()
    world.run_for(PERIOD_MS)
    other = Producer(world)
    sent = other.prepare("own")
    other.decide(sent, COMMIT)
    world.run_for(PERIOD_MS)
    (question,) = other.questions()
    assert question[0].msg_id == "k"
    assert other.decide(place_of(question, sent), COMMIT).code == 0
    assert sorted(world.bodies("T")) == [b"body of k", b"body of own"]
    assert stranger.questions() == []
    check_transactions(world)


@pytest.mark.clause("broker.transaction.own-immunity", "broker.transaction.deferred-keeps-place")
@pytest.mark.parametrize("restarts", [False, True])
def test_a_message_with_an_immunity_of_its_own_is_deferred_uncounted_and_then_asked_about(
    restarts: bool,  # noqa: FBT001
) -> None:
    world = make_world()
    producer = Producer(world)
    producer.prepare("patient", CHECK_IMMUNITY_TIME_IN_SECONDS="150")
    decided = producer.prepare("decided", CHECK_IMMUNITY_TIME_IN_SECONDS="150")
    world.run_for(2 * PERIOD_MS)
    assert producer.questions() == []
    copies = world.stored(HALF_TOPIC)[2:]
    assert [copy.properties()["TRAN_PREPARED_QUEUE_OFFSET"] for copy in copies] == ["0", "1", "0", "1"]
    if restarts:
        world.restart()
        producer = Producer(world)
    producer.heartbeat()
    assert producer.decide(decided, COMMIT).code == 0
    world.run_for(PERIOD_MS + 1_000)
    assert [header.msg_id for header, _ in producer.questions()] == ["patient"]
    assert world.stored(HALF_TOPIC)[-1].properties()["TRANSACTION_CHECK_TIMES"] == "1"
    check_transactions(world)


@pytest.mark.parametrize("is_sync", [False, True])
def test_a_long_round_goes_in_batches_and_asks_about_every_message(is_sync: bool) -> None:  # noqa: FBT001
    world = make_world(is_sync=is_sync)
    producer = Producer(world)
    for number in range(100):
        sent = producer.prepare(f"k{number}")
        if number % 3 == 0:
            producer.decide(sent, COMMIT)
    world.run_for(PERIOD_MS + 15_000)
    asked = [header.msg_id or "" for header, _ in producer.questions()]
    assert sorted(asked) == sorted(f"k{number}" for number in range(100) if number % 3)
    assert len({event.time_ms for event in world.kinds(Kind.CHECK)}) > 1
    assert world.broker.transaction_check._round is None
    check_transactions(world)


@pytest.mark.clause("broker.transaction.cursor-passes-nothing-open")
def test_one_message_that_fails_is_left_behind_and_the_others_are_asked_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = make_world()
    producer = Producer(world)
    for key in ("a", "poison", "b"):
        producer.prepare(key)

    def fail(half: StoredMessage, immunity_ms: int) -> HalfView:
        view = derive_view(half, immunity_ms)
        if view.properties["UNIQ_KEY"] == "poison":
            raise ZeroDivisionError
        return view

    monkeypatch.setattr("refimpl.broker.transaction_check.derive_view", fail)
    world.run_for(PERIOD_MS + 3_000)
    assert [header.msg_id for header, _ in producer.questions()] == ["a", "b"]
    assert world.broker.parts.offsets.find(CHECK_GROUP, HALF_TOPIC, 0) == 1
    assert any("half message 1 is left for the next round" in note for note in world.notes())
    monkeypatch.undo()
    world.run_for(PERIOD_MS)
    assert sorted(header.msg_id or "" for header, _ in producer.questions()) == ["a", "b", "poison"]
    assert len(world.stored(HALF_TOPIC)) == 8
    check_transactions(world)


def test_a_message_that_cannot_be_asked_about_uses_up_no_check() -> None:
    world = make_world()
    producer = Producer(world)
    producer.prepare("good")
    (good,) = world.stored(HALF_TOPIC)
    text = good.property_text.replace("REAL_QID\x010", "REAL_QID\x01?").replace("good", "bad")
    bad = renew(good, HALF_TOPIC, 0, text)
    world.broker.parts.intake.put(bad, world.now_ms, lambda *_: None)
    world.run_for(2 * PERIOD_MS)
    assert [header.msg_id for header, _ in producer.questions()] == ["good", "good"]
    checks = [event for event in world.kinds(Kind.CHECK) if event.message == "bad"]
    assert [event.outcome for event in checks] == [Outcome.FAIL, Outcome.FAIL]
    assert sum("cannot be asked about" in note for note in world.notes()) == 2
    assert world.stored(HALF_TOPIC)[-1].properties()["TRANSACTION_CHECK_TIMES"] == "1"
    check_transactions(world)


@pytest.mark.clause("broker.transaction.cursor-passes-nothing-open")
def test_a_full_disk_passes_nothing_and_the_rounds_go_on_when_there_is_room() -> None:
    world = make_world()
    producer = Producer(world)
    producer.prepare("k")
    world.run_for(PERIOD_MS - 2_000)
    world.disk.capacity = world.disk.used_bytes()
    while producer.ask_to_store(b"x" * 100).code == 0:
        pass
    world.run_for(PERIOD_MS)
    assert producer.questions() == []
    world.disk.capacity = None
    producer.heartbeat()
    world.run_for(PERIOD_MS + 5_000)
    assert [header.msg_id for header, _ in producer.questions()] == ["k"]
    check_transactions(world)


@pytest.mark.clause("broker.transaction.cursor-passes-nothing-open")
def test_an_append_that_the_store_does_not_take_ends_the_round(monkeypatch: pytest.MonkeyPatch) -> None:
    world = make_world()
    producer = Producer(world)
    producer.prepare("a")
    producer.prepare("b")

    def refuse(messages: object, now_ms: int, then: Stored) -> None:
        assert messages
        busy = PutStatus.PAGE_CACHE_BUSY
        then(busy, Appended(busy, "busy"), now_ms)

    with monkeypatch.context() as patch:
        patch.setattr(world.broker.parts.intake, "put_batch", refuse)
        world.run_for(PERIOD_MS + 1_000)
    assert producer.questions() == []
    assert [note for note in world.notes() if "half message" in note] == [
        "transaction checks, half message 0 cannot be appended: busy"
    ]
    assert world.broker.parts.offsets.find(CHECK_GROUP, HALF_TOPIC, 0) == 0
    world.run_for(PERIOD_MS)
    assert [header.msg_id for header, _ in producer.questions()] == ["a", "b"]
    check_transactions(world)


def test_a_place_that_a_refused_copy_did_not_get_may_be_that_of_a_new_half_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = make_world()
    producer = Producer(world)
    producer.prepare("a")

    def refuse(messages: object, now_ms: int, then: Stored) -> None:
        assert messages
        then(PutStatus.PAGE_CACHE_BUSY, Appended(PutStatus.PAGE_CACHE_BUSY, "busy"), now_ms)

    with monkeypatch.context() as patch:
        patch.setattr(world.broker.parts.intake, "put_batch", refuse)
        world.run_for(PERIOD_MS + 1_000)
    producer.prepare("b")
    assert describe(world.kinds(Kind.HALF), "offset", "message") == [(Kind.HALF, 0, "a"), (Kind.HALF, 1, "b")]


def test_a_copy_whose_flush_is_late_is_asked_about_when_it_ends() -> None:
    world = make_world(is_sync=True, check_period_ms=7_000)
    producer = Producer(world)
    producer.prepare("k")
    world.run_for(6_900)
    world.disk.fail_syncs(10_000)
    world.run_for(16_000)
    assert producer.questions() == []
    # A round that has not ended is the only one.
    assert [event.time_ms for event in world.kinds(Kind.ROUND)] == [START_MS + 7_000]
    world.disk.fail_syncs(0)
    world.run_for(4_000)
    ((header, _),) = producer.questions()
    assert header.tran_state_table_offset == 1
    assert len(world.stored(HALF_TOPIC)) == 2
    check_transactions(world)


@pytest.mark.clause("broker.transaction.checks-counted")
def test_a_check_whose_producer_went_away_before_it_could_be_sent_does_not_count() -> None:
    world = make_world(is_sync=True, check_limit=1)
    producer = Producer(world)
    producer.prepare("k")
    world.run_for(START_MS + PERIOD_MS - world.now_ms)
    # The copy is appended, with its count, and its flush is under way.
    (client,) = world.broker.producers.clients(GROUP)
    world.broker.producers.drop_connection(client.connection)
    world.run_for(1_000)
    assert world.stored(HALF_TOPIC)[-1].properties()["TRANSACTION_CHECK_TIMES"] == "1"
    assert [event.outcome for event in world.kinds(Kind.CHECK)] == [Outcome.FAIL]
    producer.heartbeat()
    world.run_for(PERIOD_MS)
    assert len(producer.questions()) == 1
    assert world.stored(HALF_TOPIC)[-1].properties()["TRANSACTION_CHECK_TIMES"] == "1"
    check_transactions(world)


@pytest.mark.clause("broker.transaction.no-check-before-records")
def test_a_round_waits_until_it_can_read_what_was_stored_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    world = make_world()
    producer = Producer(world)
    sent = producer.prepare("k")
    world.run_for(PERIOD_MS - 100)
    with monkeypatch.context() as patch:
        patch.setattr(world.broker.store, "reput_all", list)
        assert producer.decide(sent, COMMIT).code == 0
        # What this life of the broker remembers would do; but it may forget.
        world.broker.transaction_check._ledger.forget(world.stored(HALF_TOPIC)[0].position)
        world.run_for(1_000)
    world.run_for(1_000)
    assert len(world.kinds(Kind.ROUND)) == 1
    assert producer.questions() == []
    assert world.judge()["TXN-1"].verdict is Verdict.HELD


@pytest.mark.clause("broker.transaction.no-check-before-records")
def test_a_copy_is_passed_when_the_half_message_was_decided_since_the_round_began(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = make_world()
    producer = Producer(world)
    producer.prepare("poison")
    producer.prepare("b")
    ledger = world.broker.transaction_check._ledger

    def fail(half: StoredMessage, immunity_ms: int) -> HalfView:
        view = derive_view(half, immunity_ms)
        if view.properties["UNIQ_KEY"] == "poison":
            if len(world.kinds(Kind.ROUND)) > 1:
                ledger.decide(world.stored(HALF_TOPIC)[1].position, Decided(COMMIT, is_recorded=True))
            raise ZeroDivisionError
        return view

    monkeypatch.setattr("refimpl.broker.transaction_check.derive_view", fail)
    world.run_for(PERIOD_MS + 1_000)
    assert [header.msg_id for header, _ in producer.questions()] == ["b"]
    world.run_for(PERIOD_MS)
    # Its first place is passed once more, and so is the copy.
    assert producer.questions() == []


@pytest.mark.clause("broker.transaction.operation-record")
@pytest.mark.parametrize("kind", [COMMIT, ROLLBACK])
def test_a_decision_that_the_history_missed_is_told_when_it_is_found(kind: int) -> None:
    world = make_world(is_sync=True)
    producer = Producer(world)
    producer.decide(producer.prepare("k"), kind)
    # The crash comes when the record is on disk and nobody has been told.
    del world.events[next(n for n, event in enumerate(world.events) if event.kind is Kind.RESOLVE) :]
    world.crash()
    world.run_for(PERIOD_MS + 1_000)
    status = "commit" if kind == COMMIT else "rollback"
    assert describe(world.kinds(Kind.RESOLVE), "offset", "message", "status") == [
        (Kind.RESOLVE, 0, "k", status)
    ]
    assert world.judge()["TXN-1"].verdict is Verdict.HELD


@pytest.mark.clause("broker.transaction.cursor-passes-nothing-open")
def test_the_cursors_are_committed_when_the_log_is_on_disk_and_soon_after_the_round() -> None:
    world = make_world(check_period_ms=14_000)
    producer = Producer(world)
    producer.prepare("k")
    world.run_for(14_000)
    offsets = world.broker.parts.offsets
    assert offsets.find(CHECK_GROUP, HALF_TOPIC, 0) == 0
    world.run_for(2_000)
    assert offsets.find(CHECK_GROUP, HALF_TOPIC, 0) == 1


def restart_with_limit(world: TimedWorld, limit: int) -> Producer:
    """The broker runs again and takes only messages up to this size; its producer."""
    store = replace(world.settings.store, message_size_limit=ByteCount(limit))
    world.settings = replace(world.settings, store=store)
    world.restart()
    return Producer(world)


def test_a_half_message_at_the_size_limit_is_asked_about_though_its_count_does_not_fit() -> None:
    world = make_world()
    producer = Producer(world)
    producer.prepare("large", NOTE="x" * 600)
    (half,) = world.stored(HALF_TOPIC)
    producer = restart_with_limit(world, half.size)
    world.run_for(2 * PERIOD_MS)
    assert [header.msg_id for header, _ in producer.questions()] == ["large", "large"]
    assert {copy.property_text for copy in world.stored(HALF_TOPIC)} == {half.property_text}
    check_transactions(world)


def test_a_half_message_that_the_store_takes_no_more_ends_with_a_notice() -> None:
    world = make_world()
    producer = Producer(world)
    producer.prepare("large", NOTE="x" * 900)
    producer.prepare("small")
    producer = restart_with_limit(world, 800)
    world.run_for(PERIOD_MS)
    assert [header.msg_id for header, _ in producer.questions()] == ["small"]
    (notice,) = world.stored(CHECK_EXCEEDED_TOPIC)
    assert notice.properties()["TAGS"] == "refused"
    assert [event.cause for event in world.kinds(Kind.EXCEED)] == ["refused"]
    check_transactions(world)


@pytest.mark.parametrize("is_sync", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_no_crash_makes_the_broker_forget_a_half_message_that_was_on_disk(seed: int, is_sync: bool) -> None:  # noqa: FBT001
    store = SYNC_STORE if is_sync else SMALL_STORE
    world = TimedWorld(BrokerSettings(store=store, check_period_ms=10_000), seed)
    producer = Producer(world)
    sent = {f"k{number}": producer.prepare(f"k{number}") for number in range(12)}
    world.broker.store.flush(world.now_ms, is_forced=True)
    for round_number in range(4):
        world.run_for(9_500 + 300 * seed)
        for number, (header, _) in enumerate(producer.questions()):
            if number % 4 == round_number:
                place = replace(
                    sent["k0"],
                    msg_id=header.offset_msg_id or "",
                    queue_offset=header.tran_state_table_offset,
                )
                producer.decide(place, COMMIT)
        world.run_for(40 * seed)
        world.crash()
        producer = Producer(world)
    for _ in range(40):
        world.run_for(10_000)
        producer.heartbeat()
        for header, _ in producer.questions():
            place = replace(
                sent["k0"], msg_id=header.offset_msg_id or "", queue_offset=header.tran_state_table_offset
            )
            producer.decide(place, COMMIT)
    assert set(world.bodies("T")) == {f"body of {key}".encode() for key in sent}
    if is_sync:
        check_transactions(world)


def test_a_replica_asks_nobody() -> None:
    world = make_world()
    producer = Producer(world)
    producer.prepare("k")
    world.settings = replace(world.settings, broker_id=1)
    world.restart()
    producer = Producer(world)
    world.run_for(2 * PERIOD_MS)
    assert producer.questions() == []
