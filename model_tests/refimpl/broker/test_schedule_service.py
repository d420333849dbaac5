"""Delays through the simulated world: due order, refusals, restarts, and the history they leave."""

from dataclasses import replace
from itertools import groupby

import pytest

from model_tests.refimpl.broker.broker_world import SMALL_STORE, SYNC_STORE
from model_tests.refimpl.broker.timed_world import Producer, TimedWorld, delayed
from refimpl.broker.settings import BrokerSettings
from refimpl.store.new_message import NewMessage
from spec.guarantees.verdict import Verdict
from spec.history.event import Outcome
from spec.history.kind import Kind
from spec.layout.config.config_file import DELAY_OFFSETS
from spec.values.host import host_of
from spec.values.message import Message
from spec.values.name import SCHEDULE_REFUSED_TOPIC, SCHEDULE_TOPIC
from spec.values.property import decode_properties, encode_properties
from spec.values.units import ByteCount, QueueId, QueueOffset
from spec.wire.body.offset import DelayOffsetTable

HOST = host_of("127.0.0.1", 40_000)
DELAY_RULES = ("DLY-1", "DLY-2", "DLY-3")


def make_world(*, is_sync: bool = False, **changes: int) -> TimedWorld:
    store = SYNC_STORE if is_sync else SMALL_STORE
    return TimedWorld(BrokerSettings(store=store, **changes))  # type: ignore[arg-type] # numbers only


def put_delayed(world: TimedWorld, level: int, body: bytes, topic: str = "T") -> None:
    """A delayed message is in the store, without a client."""
    properties = encode_properties({"DELAY": str(level)})
    new = NewMessage(topic, QueueId(0), body, HOST, world.settings.host, properties)
    world.broker.parts.intake.put(new, world.now_ms, lambda *_: None)


def check_delays(world: TimedWorld) -> None:
    judgements = world.judge()
    assert {rule: judgements[rule].verdict for rule in DELAY_RULES} == dict.fromkeys(
        DELAY_RULES, Verdict.HELD
    )


@pytest.mark.clause("broker.schedule.not-before-due", "broker.schedule.queue-of-level")
@pytest.mark.parametrize("is_sync", [False, True])
def test_messages_come_out_in_the_order_in_which_they_are_due(is_sync: bool) -> None:  # noqa: FBT001
    world = make_world(is_sync=is_sync)
    client = world.connect()
    sent_ms = world.now_ms
    for level, body in ((3, b"ten"), (2, b"five"), (1, b"one"), (2, b"five too")):
        client.send(delayed(level, body), 0)
    world.run_for(60_000)
    assert world.bodies("T") == [b"one", b"five", b"five too", b"ten"]
    delivered = world.kinds(Kind.DELIVER)
    assert all(event.due_ms <= event.time_ms <= event.due_ms + 100 for event in delivered)
    assert [round((event.due_ms - sent_ms) / 1_000) for event in delivered] == [1, 5, 5, 10]
    check_delays(world)


@pytest.mark.clause("broker.schedule.not-before-due")
def test_a_delivered_message_is_the_one_that_was_sent() -> None:
    world = make_world()
    client = world.connect()
    message = Message("T", b"\x00body", 7, {"DELAY": "1", "TAGS": "A", "KEYS": "k", "UNIQ_KEY": "U"})
    client.send(message, 3, system_flag=1, born_at_ms=1234)
    world.run_for(2_000)
    (waiting,) = world.stored(SCHEDULE_TOPIC)
    (stored,) = world.stored("T", 3)
    assert stored.properties() == waiting.properties()
    assert stored.properties()["DELAY"] == "1"
    kept = ("flag", "body", "system_flag", "born_at_ms", "born_host", "store_host", "reconsume_times")
    assert {name: getattr(stored, name) for name in kept} == {name: getattr(waiting, name) for name in kept}
    assert (stored.body, stored.flag, stored.born_at_ms, stored.system_flag) == (b"\x00body", 7, 1234, 1)
    world.run_for(60_000)
    assert len(world.stored("T", 3)) == 1
    assert [event.message for event in world.kinds(Kind.APPEND, Kind.DELIVER)] == ["U", "U", "U"]


def test_idle_levels_plan_nothing() -> None:
    world = make_world()
    world.run_for(30_000)
    before = world.broker.agenda._count
    world.run_for(10_000)
    # The broker's own ticks, sweeps, scans and flushes; a poll of each level would be 1,800 more.
    assert world.broker.agenda._count - before < 60


@pytest.mark.clause("broker.schedule.saved-cursor", "broker.schedule.cursor-repaired-on-load")
@pytest.mark.parametrize("is_sync", [False, True])
def test_after_a_clean_restart_nothing_is_delivered_again_and_the_rest_comes(is_sync: bool) -> None:  # noqa: FBT001
    world = make_world(is_sync=is_sync)
    client = world.connect()
    for number in range(3):
        client.send(delayed(1, b"early %d" % number), 0)
    client.send(delayed(4, b"late"), 0)
    world.run_for(3_000)
    world.restart()
    table = world.broker.store.config.load(DELAY_OFFSETS).value
    assert table is not None
    assert (table.offset_table[1], table.offset_table[4]) == (3, 0)
    world.run_for(60_000)
    assert world.bodies("T") == [b"early 0", b"early 1", b"early 2", b"late"]
    check_delays(world)


def test_a_cursor_is_saved_soon_though_the_log_has_time() -> None:
    world = make_world()
    world.run_for(15_000)
    # The log is flushed now, and would be again ten seconds later.
    world.connect().send(Message("Other", b"x" * 50_000), 0)
    put_delayed(world, 1, b"x")
    world.run_for(8_500)
    flushed = [event for event in world.kinds(Kind.CURSOR) if event.status == "flushed" and event.level == 1]
    assert [event.offset for event in flushed] == [0, 1]


def test_a_saved_cursor_waits_for_the_log_and_is_never_older_than_its_interval() -> None:
    world = make_world()
    client = world.connect()
    client.send(delayed(1, b"first"), 0)
    world.run_for(12_000)
    flushed = [event for event in world.kinds(Kind.CURSOR) if event.status == "flushed" and event.level == 1]
    assert [event.offset for event in flushed] == [1]
    assert world.broker.store.log.flushed >= world.stored("T")[0].end
    check_delays(world)


@pytest.mark.clause("broker.schedule.cursor-never-passes-undelivered")
@pytest.mark.parametrize("is_sync", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_no_crash_loses_a_delayed_message_that_was_on_disk(seed: int, is_sync: bool) -> None:  # noqa: FBT001
    store = SYNC_STORE if is_sync else SMALL_STORE
    world = TimedWorld(BrokerSettings(store=store), seed)
    client = world.connect()
    for number in range(40):
        client.send(delayed(1 + number % 3, b"%d" % number), 0)
    world.broker.store.flush(world.now_ms, is_forced=True)
    expected = {b"%d" % number for number in range(40)}
    for pause_ms in (1_500 + 150 * seed, 4_000 + 100 * seed, 6_500):
        world.run_for(pause_ms)
        world.crash()
    world.run_for(30_000)
    assert set(world.bodies("T")) == expected
    check_delays(world)


@pytest.mark.clause("broker.schedule.saved-cursor")
def test_a_broker_that_dies_again_and_again_does_not_begin_anew_in_each_life() -> None:
    world = make_world(is_sync=True)
    put_delayed(world, 1, b"x")
    world.run_for(1_500)
    for _ in range(6):
        world.run_for(4_000)
        world.crash()
    world.run_for(5_000)
    assert world.bodies("T") == [b"x"]
    check_delays(world)


@pytest.mark.clause("broker.schedule.cursor-repaired-on-load")
@pytest.mark.parametrize(("saved", "loaded"), [(99, 2), (1, 1), (-3, 0)])
def test_a_loaded_cursor_is_set_into_its_queue(saved: int, loaded: int) -> None:
    world = make_world()
    client = world.connect()
    client.send(delayed(1, b"a"), 0)
    client.send(delayed(1, b"b"), 0)
    world.run_for(20_000)
    assert world.broker.shut(world.now_ms) is None
    world.broker.store.config.save(
        DELAY_OFFSETS, DelayOffsetTable({1: QueueOffset(saved), 40: QueueOffset(7)})
    )
    world.world.machines["broker-a"].crash()
    world.world.restart("broker-a", world._make)
    cursors = [event.offset for event in world.kinds(Kind.CURSOR) if event.level == 1]
    assert cursors[-1] == loaded
    world.connect().send(delayed(1, b"new"), 0)
    world.run_for(20_000)
    assert world.bodies("T")[2:] == [b"a", b"b", b"new"][loaded:]
    found = world.broker.store.config.load(DELAY_OFFSETS).value
    # What belongs to a level that this broker does not have is kept.
    assert found is not None
    assert (found.offset_table[1], found.offset_table[40]) == (3, 7)


def restart_with_limit(world: TimedWorld, limit: int) -> None:
    """The broker runs again and takes only messages up to this size."""
    store = replace(world.settings.store, message_size_limit=ByteCount(limit))
    world.settings = replace(world.settings, store=store)
    world.restart()


@pytest.mark.clause("broker.schedule.refused-is-diverted", "broker.schedule.notice-is-found")
@pytest.mark.parametrize("is_sync", [False, True])
@pytest.mark.parametrize(
    ("topic", "notice_topic"), [("T", SCHEDULE_REFUSED_TOPIC), ("%RETRY%g", "%DLQ%g")], ids=["plain", "retry"]
)
def test_a_message_that_the_store_never_takes_is_diverted_and_the_others_come(
    topic: str,
    notice_topic: str,
    is_sync: bool,  # noqa: FBT001
) -> None:
    world = make_world(is_sync=is_sync)
    put_delayed(world, 2, b"before", topic)
    put_delayed(world, 2, b"x" * 5_000, topic)
    put_delayed(world, 2, b"y" * 5_000, topic)
    put_delayed(world, 2, b"after", topic)
    world.run_for(500)
    restart_with_limit(world, 1_000)
    world.run_for(20_000)
    assert world.bodies(topic) == [b"before", b"after"]
    refused = world.stored(SCHEDULE_TOPIC, 1)[1]
    notice, _ = world.stored(notice_topic)
    offset_id = f"7F00000100002A9F{refused.position:016X}"
    assert notice.properties() == {"ORIGIN_MESSAGE_ID": offset_id, "TAGS": "refused"}
    assert notice.body.startswith(f"message {offset_id} for topic {topic} could not be stored".encode())
    assert world.broker.parts.topics.find(notice_topic) is not None
    tries = [event.offset for event in world.kinds(Kind.DELIVER) if event.outcome is Outcome.FAIL]
    assert tries == [1] * 16 + [2] * 16
    assert [event.offset for event in world.kinds(Kind.DIVERT)] == [1, 2]
    assert sum(f"a notice stands in {notice_topic}" in note for note in world.notes()) == 2
    check_delays(world)


@pytest.mark.clause("broker.schedule.cursor-never-passes-undelivered")
def test_a_level_whose_notice_is_refused_too_stands_still_and_says_so() -> None:
    world = make_world()
    put_delayed(world, 1, b"x" * 5_000)
    world.run_for(100)
    restart_with_limit(world, 150)
    world.run_for(10_000)
    assert world.kinds(Kind.DIVERT) == []
    assert sum("its notice is refused" in note for note in world.notes()) > 1
    restart_with_limit(world, 10_000)
    world.run_for(10_000)
    assert world.bodies("T") == [b"x" * 5_000]


@pytest.mark.clause("broker.schedule.cursor-never-passes-undelivered")
@pytest.mark.parametrize("is_sync", [False, True])
def test_a_full_store_pauses_its_levels_and_loses_nothing(is_sync: bool) -> None:  # noqa: FBT001
    world = make_world(is_sync=is_sync)
    for number in range(5):
        put_delayed(world, 1, b"%d" % number * 400)
    world.run_for(300)
    world.disk.capacity = world.disk.used_bytes()
    world.run_for(30_000)
    assert world.bodies("T") == []
    assert world.kinds(Kind.DIVERT) == []
    world.disk.capacity = None
    world.run_for(30_000)
    assert world.bodies("T") == [b"%d" % number * 400 for number in range(5)]
    check_delays(world)


def test_deliveries_whose_flush_is_late_are_counted_when_it_ends_and_not_made_twice() -> None:
    world = make_world(is_sync=True)
    for number in range(5):
        put_delayed(world, 1, b"%d" % number)
    world.run_for(900)
    world.disk.fail_syncs(10_000)
    world.run_for(10_000)
    assert world.kinds(Kind.DELIVER) == []
    world.disk.fail_syncs(0)
    world.run_for(10_000)
    assert [event.offset for event in world.kinds(Kind.DELIVER) if event.outcome is Outcome.OK] == [*range(5)]
    assert world.bodies("T") == [b"%d" % number for number in range(5)]
    check_delays(world)


@pytest.mark.parametrize("is_sync", [False, True])
def test_ten_thousand_messages_that_are_due_at_once_leave_room_for_others(is_sync: bool) -> None:  # noqa: FBT001
    world = make_world(is_sync=is_sync)
    for number in range(10_000):
        put_delayed(world, 1, b"%d" % number)
    world.run_for(10)
    world.events.clear()
    world.run_for(60_000)
    delivered = world.kinds(Kind.DELIVER)
    assert [event.offset for event in delivered] == list(range(10_000))
    assert len(world.stored("T")) == 10_000
    turns = [len(list(events)) for _, events in groupby(delivered, key=lambda event: event.time_ms)]
    assert max(turns) <= (256 if is_sync else 32)


@pytest.mark.clause("broker.schedule.cursor-never-passes-undelivered")
def test_an_unreadable_message_is_passed_and_told_of() -> None:
    world = make_world()
    for number in range(3):
        put_delayed(world, 1, b"%d" % number * 700)
    world.run_for(100)
    damaged = world.stored(SCHEDULE_TOPIC)[1]
    world.disk.flip_bit("commitlog/00000000000000000000", damaged.position + 300, 3)
    world.run_for(5_000)
    assert world.bodies("T") == [b"0" * 700, b"2" * 700]
    assert sum("nothing can be read at position" in note for note in world.notes()) == 1
    check_delays(world)


@pytest.mark.clause("broker.schedule.cursor-never-passes-undelivered")
def test_a_delayed_half_message_is_discarded_visibly() -> None:
    world = make_world()
    put_delayed(world, 1, b"half", "RMQ_SYS_TRANS_HALF_TOPIC")
    put_delayed(world, 1, b"after")
    world.run_for(5_000)
    assert world.bodies("RMQ_SYS_TRANS_HALF_TOPIC") == []
    assert world.bodies("T") == [b"after"]
    assert sum("is a half message: discarded" in note for note in world.notes()) == 1
    check_delays(world)


def test_a_message_that_does_not_say_where_it_belongs_is_diverted() -> None:
    world = make_world()
    properties = encode_properties({"DELAY": "1"})
    lost = NewMessage(SCHEDULE_TOPIC, QueueId(0), b"lost", HOST, HOST, properties)
    world.broker.parts.intake.put_batch([lost], world.now_ms, lambda *_: None)
    put_delayed(world, 1, b"after")
    world.run_for(10_000)
    assert world.bodies("T") == [b"after"]
    assert len(world.stored(SCHEDULE_REFUSED_TOPIC)) == 1
    check_delays(world)


def test_a_replica_delivers_nothing() -> None:
    world = make_world(broker_id=1)
    put_delayed(world, 1, b"x")
    world.run_for(20_000)
    assert world.bodies("T") == []
    assert world.kinds(Kind.CURSOR) == []


def test_a_committed_message_may_be_delayed_but_a_half_message_never_is() -> None:
    world = make_world()
    producer = Producer(world)
    sent = producer.prepare("k", DELAY="1")
    world.run_for(3_000)
    (half,) = world.stored("RMQ_SYS_TRANS_HALF_TOPIC")
    assert "DELAY" not in decode_properties(half.property_text)
    producer.decide(sent, 8)
    world.run_for(100)
    assert world.bodies("T") == [b"body of k"]
