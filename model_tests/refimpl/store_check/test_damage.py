"""One damage to the store of a real broker gives exactly the findings that follow from it."""

import pytest

from model_tests.refimpl.store_check.damaged_store import (
    ENTRIES_AT,
    INDEX,
    Damage,
    add,
    crashed_files,
    cut,
    flip,
    log_path,
    put,
    remove,
    stopped_files,
    verify_files,
)
from model_tests.refimpl.store_check.memory_disk import MemoryDisk
from refimpl.store_check.finding import Severity
from refimpl.store_check.verify import Sizes, verify_store

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE
T0 = "consumequeue/T/0/00000000000000000000"
T0_SECOND = "consumequeue/T/0/00000000000000000200"
T0_THIRD = "consumequeue/T/0/00000000000000000400"
T1 = "consumequeue/T/1/00000000000000000000"
RETRY = "consumequeue/%RETRY%SB/0/00000000000000000000"
DUE = "consumequeue/SCHEDULE_TOPIC_XXXX/2/00000000000000000000"
OFFSETS = "config/consumerOffset.json"
CRC = "store.record.body-crc"
PLACE = "recovery.log.record-states-its-place"
ONE = "guarantee.sto.one-message-per-offset"
FOLLOWS = "recovery.state.follows-from-log"
SIZE = "recovery.load.file-size"
BEHIND = "recovery.queue.cut-with-the-log"
WITHIN = "recovery.index.within-the-log"
SAFE = "store.checkpoint.safe-time"
KEYS = "store.index.keys-of-a-message"
CHAIN = "store.index.chain"
LAYOUT = "store.index.layout"
LOST_KEYS = "recovery.index.rebuilt-from-last-kept"
MIN = "recovery.queue.min-offset"
UNWRITTEN = "recovery.queue.ends-at-first-unwritten"

# What the undamaged store has anyway: the broker was killed once before and lost the keys of its
# first messages, and an offset was written into the killed store by hand.
USUAL_STOPPED = [(NOTE, INDEX, 0, LOST_KEYS)]
USUAL_CRASHED = [
    (NOTE, INDEX, 8, "recovery.index.drops-unsafe-file"),
    (NOTE, INDEX, 0, LOST_KEYS),
    (WARNING, OFFSETS, 0, "guarantee.off.safety"),
]
Place = tuple[Severity, str, int, str]


def _judge(damage: Damage, *, is_crashed: bool = False) -> list[Place]:
    """What is found besides the usual, without its sentences."""
    files = crashed_files() if is_crashed else stopped_files()
    damage(files)
    found = [finding[:4] for finding in verify_files(files)]
    for usual in USUAL_CRASHED if is_crashed else USUAL_STOPPED:
        found.remove(usual)
    return found


def test_undamaged_store_gives_only_the_usual_findings() -> None:
    assert [finding[:4] for finding in verify_files(stopped_files())] == USUAL_STOPPED
    assert [finding[:4] for finding in verify_files(crashed_files())] == USUAL_CRASHED


@pytest.mark.parametrize("is_crashed", [False, True], ids=["stopped", "crashed"])
@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (flip(log_path(0), 88), [(ERROR, log_path(0), 8, CRC)]),
        (flip(log_path(0), 374 + 4), [(ERROR, log_path(0), 374 + 4, "store.record.magic")]),
        (flip(log_path(0), 35), [(ERROR, log_path(0), 0, PLACE)]),
        (flip(log_path(0), 374 + 12, 0x80), [(ERROR, log_path(0), 374, PLACE)]),
        (flip(log_path(1), 3), [(ERROR, log_path(1), 3090, "store.record.size-formula")]),
        (flip(log_path(1), 1, 0x10), [(ERROR, log_path(1), 0, "store.record.whole")]),
        (flip(log_path(0), 27, 0x40), [(ERROR, log_path(0), 0, ONE)]),
        (flip(log_path(0), 374 + 27, 0x40), [(ERROR, log_path(0), 374, ONE)]),
        (
            flip(log_path(0), 497 + 27, 0x02),
            [(ERROR, log_path(0), 497, "guarantee.sto.offset-assigned-once")],
        ),
        (flip(log_path(0), 374 + 60, 0x10), [(WARNING, log_path(0), 497, "store.record.patch-positions")]),
        (flip(log_path(1), 15_610 + 3), [(ERROR, log_path(1), 15_610, "store.blank.covers-the-rest")]),
        (
            put(log_path(1), 15_610, ">ii", 0, 0),
            [(ERROR, log_path(1), 15_610, "recovery.log.ends-at-first-non-record")],
        ),
        (cut(log_path(1), 16_000), [(ERROR, log_path(1), 16_000, SIZE)]),
        (cut(log_path(1), 15_610), [(ERROR, log_path(1), 15_610, SIZE)]),
        (
            cut(log_path(1), 10_000),
            [(ERROR, log_path(1), 10_000, SIZE), (ERROR, log_path(1), 9_366, "store.record.whole")],
        ),
        (remove(log_path(1)), [(ERROR, log_path(2), 0, "recovery.load.no-hole")]),
        (add("commitlog/readme", b"x"), [(ERROR, "commitlog/readme", 0, "store.file.name")]),
        (add(f"{log_path(9)}/x", b""), [(ERROR, log_path(9), 0, "store.file.name")]),
        (
            add(f"commitlog/{100:020d}", bytes(16_384)),
            [(ERROR, f"commitlog/{100:020d}", 0, "store.file.starts-are-multiples")],
        ),
        (add(log_path(5), bytes(16_384)), []),
        (add(log_path(5), b""), [(NOTE, log_path(5), 0, "recovery.load.empty-last-file")]),
        (add("consumequeue/T/0/x", b"x"), [(ERROR, "consumequeue/T/0/x", 0, "store.file.name")]),
        (
            add("consumequeue/T/zero/x", b"x"),
            [(NOTE, "consumequeue/T/zero", 0, "store.directory.queue-folders")],
        ),
        (add("readme", b"x"), [(NOTE, "readme", 0, "store.directory.names")]),
        (flip(T0, 47), [(ERROR, T0, 40, ONE)]),
        (flip(T0, 51), [(ERROR, T0, 40, ONE)]),
        (flip(T0, 59), [(ERROR, T0, 40, "store.queue.tag-code")]),
        (flip(T0, 52, 0xFF), [(ERROR, T0, 40, "store.queue.tag-code")]),
        (flip(DUE, 19), [(WARNING, DUE, 0, "store.queue.schedule-tag-is-due-time")]),
        (put(T0, 40, ">qiq", 0, 0, 0), [(ERROR, T0, 40, FOLLOWS)]),
        (
            remove(T0_SECOND),
            [(ERROR, T0_THIRD, 0, "recovery.load.no-hole"), (ERROR, T0_SECOND, 0, FOLLOWS)],
        ),
        (cut(T0_SECOND, 120), [(ERROR, T0_SECOND, 120, SIZE), (ERROR, T0_SECOND, 120, FOLLOWS)]),
        (add("index/x", b"1"), [(ERROR, "index/x", 0, "store.index.file-name")]),
        (flip("checkpoint", 5, 0x80), [(ERROR, "checkpoint", 0, SAFE)]),
        (cut("checkpoint", 100), [(ERROR, "checkpoint", 100, "store.checkpoint.layout")]),
        (flip("checkpoint", 0, 0x80), [(ERROR, "checkpoint", 0, "store.checkpoint.layout")]),
        (remove("checkpoint"), [(WARNING, "checkpoint", 0, "store.checkpoint.layout")]),
        (
            add("config/subscriptionGroup.json", b"{"),
            [(WARNING, "config/subscriptionGroup.json", 1, "store.config.load-falls-back")],
        ),
        (
            remove("config/subscriptionGroup.json"),
            [(WARNING, "config/subscriptionGroup.json", 0, "store.config.load-falls-back")],
        ),
        (
            add("config/topics.json.tmp", b"{"),
            [(NOTE, "config/topics.json.tmp", 0, "store.config.safe-write")],
        ),
        (
            add("config/delayOffset.json", b'{"offsetTable":{3:3}}'),
            [(WARNING, "config/delayOffset.json", 0, "broker.schedule.cursor-repaired-on-load")],
        ),
    ],
)
def test_damage_that_no_stop_explains_is_found_whatever_the_stop_was(
    damage: Damage, found: list[Place], *, is_crashed: bool
) -> None:
    assert _judge(damage, is_crashed=is_crashed) == found


@pytest.mark.parametrize(
    ("damage", "stopped", "crashed"),
    [
        (
            flip(log_path(4), 7_152 + 88),
            [
                (ERROR, log_path(4), 7_160, CRC),
                (ERROR, RETRY, 60, BEHIND),
                (ERROR, INDEX, 500, WITHIN),
            ],
            [(NOTE, log_path(4), 7_160, CRC), (NOTE, RETRY, 60, BEHIND), (NOTE, INDEX, 500, WITHIN)],
        ),
        (
            flip(log_path(4), 7_020 + 88),
            [
                (ERROR, log_path(4), 7_028, CRC),
                (ERROR, RETRY, 60, BEHIND),
                (ERROR, T0_THIRD, 180, BEHIND),
                (ERROR, INDEX, 480, WITHIN),
                (ERROR, "checkpoint", 8, SAFE),
            ],
            [
                (WARNING, log_path(4), 7_028, CRC),
                (NOTE, RETRY, 60, BEHIND),
                (NOTE, T0_THIRD, 180, BEHIND),
                (NOTE, INDEX, 480, WITHIN),
                (NOTE, "checkpoint", 8, SAFE),
            ],
        ),
        (
            flip(log_path(4), 12_000),
            [(ERROR, log_path(4), 12_000, "recovery.log.tail-is-zeroed")],
            [(NOTE, log_path(4), 12_000, "recovery.log.tail-is-zeroed")],
        ),
        (
            add(log_path(5), bytes(9_000) + b"x" + bytes(7_383)),
            [(ERROR, log_path(5), 9_000, "recovery.log.cut-files")],
            [(NOTE, log_path(5), 9_000, "recovery.log.cut-files")],
        ),
        (
            put(T0_THIRD, 180, ">qiq", 0, 0, 0),
            [(ERROR, T0_THIRD, 180, FOLLOWS)],
            [(NOTE, T0_THIRD, 180, FOLLOWS)],
        ),
        (put(T1, 0, ">qiq", 0, 0, 0), [(ERROR, T1, 0, FOLLOWS)], [(WARNING, T1, 0, FOLLOWS)]),
        (remove("consumequeue/T/0"), [(ERROR, T0, 0, FOLLOWS)], [(WARNING, T0, 0, FOLLOWS)]),
        (put(T1, 20, ">qiq", 80_000, 100, 0), [(ERROR, T1, 20, BEHIND)], [(NOTE, T1, 20, BEHIND)]),
        (put(T1, 20, ">qiq", 0, 123, 0), [(ERROR, T1, 20, ONE)], [(ERROR, T1, 20, ONE)]),
        (put(T1, 60, ">qiq", 0, 123, 0), [(WARNING, T1, 71, UNWRITTEN)], [(NOTE, T1, 71, UNWRITTEN)]),
        (
            flip("checkpoint", 13, 0x80),
            [(ERROR, "checkpoint", 8, SAFE)],
            [(NOTE, "checkpoint", 8, SAFE)],
        ),
    ],
)
def test_what_a_crash_leaves_is_wrong_only_after_a_clean_stop(
    damage: Damage, stopped: list[Place], crashed: list[Place]
) -> None:
    assert _judge(damage) == stopped
    assert _judge(damage, is_crashed=True) == crashed


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (flip(INDEX, ENTRIES_AT + 3 * 20 + 11), [(300, KEYS)]),
        (flip(INDEX, ENTRIES_AT + 3 * 20 + 3), [(300, KEYS), (316, CHAIN), (200, CHAIN), (204, CHAIN)]),
        (flip(INDEX, ENTRIES_AT + 3 * 20, 0x80), [(300, KEYS), (300, "store.index.key-hash"), (200, CHAIN)]),
        (flip(INDEX, ENTRIES_AT + 3 * 20 + 15), [(312, "store.index.seconds")]),
        (flip(INDEX, ENTRIES_AT + 3 * 20 + 19), [(316, CHAIN), (32, LAYOUT)]),
        (flip(INDEX, ENTRIES_AT + 13 * 20 + 11), [(500, KEYS), (24, LAYOUT)]),
        (flip(INDEX, 43), [(40, CHAIN)]),
        (flip(INDEX, 31), [(24, LAYOUT)]),
        (flip(INDEX, 35), [(32, LAYOUT)]),
        (flip(INDEX, 39, 2), [(56, CHAIN), (92, CHAIN), (32, LAYOUT), (24, LAYOUT), (0, LOST_KEYS)]),
        (flip(INDEX, 36, 1), [(36, LAYOUT)]),
        (flip(INDEX, 16, 0x80), [(16, LAYOUT)]),
        (flip(INDEX, 0, 0x80), [(0, LAYOUT)]),
        (flip(INDEX, 32, 1), [(32, LAYOUT)]),
    ],
)
def test_damaged_index_is_wrong_unless_recovery_drops_the_file(
    damage: Damage, found: list[tuple[int, str]]
) -> None:
    for is_crashed, severity in ((False, ERROR), (True, NOTE)):
        files = crashed_files() if is_crashed else stopped_files()
        damage(files)
        report = verify_store(MemoryDisk(files), Sizes(index_slots=50, index_entries=200))
        usual = USUAL_CRASHED if is_crashed else USUAL_STOPPED
        rest = [finding[:4] for finding in report.findings if finding[:4] not in usual]
        expected = [(severity, INDEX, at, clause) for at, clause in found]
        assert rest == [place for place in expected if place not in usual]


def test_a_record_that_states_another_queue_is_missed_in_its_own() -> None:
    assert _judge(flip(log_path(0), 374 + 15, 0x40)) == [
        (ERROR, log_path(0), 497, ONE),
        (ERROR, T0, 20, ONE),
        (ERROR, "consumequeue/T/64/00000000000000000000", 20, FOLLOWS),
        (NOTE, "consumequeue/T/64", 0, "store.directory.queue-folders"),
    ]


def test_sentence_names_what_was_found_and_what_was_expected() -> None:
    files = stopped_files()
    flip(T0, 51)(files)
    (finding,) = [finding for finding in verify_files(files) if finding.severity is ERROR]
    assert finding.sentence == (
        "the unit of offset 2 says position 497, size 122, tag code 65,"
        " its record says position 497, size 123, tag code 65"
    )


def test_more_than_two_files_ahead_are_pointed_out() -> None:
    files = stopped_files()
    for number in (5, 6, 7):
        files[log_path(number)] = bytes(16_384)
    found = [finding[:4] for finding in verify_files(files) if finding[:4] not in USUAL_STOPPED]
    assert found == [(WARNING, log_path(7), 0, "store.file.allocated-ahead")]


def test_offsets_of_groups_are_held_against_the_queues() -> None:
    damage = add(OFFSETS, b'{"offsetTable":{"T@G":{0:31,1:-1,5:0},"X@G":{0:0},"Y":{0:1}}}')
    assert _judge(damage) == [
        (WARNING, OFFSETS, 0, "guarantee.off.safety"),
        (WARNING, OFFSETS, 0, "guarantee.off.safety"),
        (NOTE, OFFSETS, 0, "broker.offset.key"),
        (WARNING, OFFSETS, 0, "store.config.offset-key"),
    ]


def test_tables_that_cannot_be_read_at_all_are_an_error() -> None:
    files = stopped_files()
    files["config/topics.json"], files["config/topics.json.bak"] = b"{", b""
    found = [finding[:4] for finding in verify_files(files) if finding[:4] not in USUAL_STOPPED]
    assert found == [(ERROR, "config/topics.json", 1, "store.config.unreadable-is-not-absent")]


def test_queues_of_unknown_topics_and_too_high_numbers_are_noted() -> None:
    topics = b'{"topicConfigTable":{"T":{"topicName":"T","readQueueNums":3,"writeQueueNums":3,"perm":6}}}'
    queues = ["%DLQ%SB/0", "%RETRY%SB/0", "OFFSET_MOVED_EVENT/0", "R/0"]
    queues += ["SCHEDULE_TOPIC_XXXX/2", "SCHEDULE_TOPIC_XXXX/17", "T/3"]
    assert _judge(add("config/topics.json", topics)) == [
        (NOTE, f"consumequeue/{queue}", 0, "store.directory.queue-folders") for queue in queues
    ]


def test_queues_without_a_log_are_one_finding() -> None:
    files = stopped_files()
    remove("commitlog")(files)
    files[log_path(0)] = b""
    assert [finding[:4] for finding in verify_files(files)] == [
        (NOTE, log_path(0), 0, "recovery.load.empty-last-file"),
        (ERROR, "consumequeue", 0, "recovery.state.no-log-no-queues"),
    ]


def test_units_of_retired_log_files_and_fillers_are_fine() -> None:
    files = stopped_files()
    remove(log_path(0))(files)
    put(T0, 0, ">qiq", 0, 0x7FFF_FFFF, 0)(files)
    found = [finding[:4] for finding in verify_files(files) if finding[:4] not in USUAL_STOPPED]
    # The group stands before the first message that is left.
    assert found == [(NOTE, OFFSETS, 0, MIN)]


def test_a_tag_code_may_be_an_address_where_there_is_an_extension() -> None:
    files = stopped_files()
    flip(T0, 52, 0xFF)(files)
    files["consumequeue_ext/T/0/00000000000000000000"] = b"x"
    found = [finding[:4] for finding in verify_files(files) if finding[:4] not in USUAL_STOPPED]
    assert found == [(NOTE, "consumequeue_ext", 0, "store.directory.names")]


def test_a_retired_unit_that_was_never_written_ends_its_queue() -> None:
    files = stopped_files()
    remove(log_path(0))(files)
    put(T0_SECOND, 20, ">qiq", 0, 0, 0)(files)
    found = [finding[:4] for finding in verify_files(files) if finding[:4] not in USUAL_STOPPED]
    assert found == [(ERROR, T0_SECOND, 20, UNWRITTEN), (NOTE, OFFSETS, 0, MIN)]
