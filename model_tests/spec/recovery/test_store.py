import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.spec.recovery.sample import FIRST_STORED_AT_MS, SHAPE, Log, queue_files, sample_log
from spec.layout.consume_queue import FILLER, Unit
from spec.layout.record_walk import StopKind
from spec.recovery.queue import NO_UNITS, QueueContent
from spec.recovery.state import APACHE_RULE, QueueName, RecoveredStore
from spec.recovery.store import keep_units, recover_store
from spec.recovery.store_file import LoadedFile, arrange_files, found_bytes
from spec.rejection import Rejection
from spec.values.units import ByteCount, CommitLogPosition, QueueId, QueueOffset, TagCode

SAFE = FIRST_STORED_AT_MS + 13 * 10_000 + 3_000
"""A checkpoint behind the first message of the third file and before that of the fourth."""


def _units(recovered: RecoveredStore) -> dict[QueueName, list[Unit]]:
    return {
        name: list(queue.content.units) for name, queue in recovered.queues.items() if queue.content.units
    }


@pytest.mark.clause("recovery.state.follows-from-log")
@given(st.data())
def test_any_cut_of_the_log_gives_the_queues_of_what_is_left(data: st.DataObject) -> None:
    log = sample_log(20)
    cut = data.draw(st.integers(1, len(log.data)))
    left = Log()
    left.records = [record for record in log.records if record.end <= cut]
    # A checkpoint vouches for nothing that is lost.
    last_ms = left.records[-1].stored_at_ms if left.records else 0
    times = [time for time in (0, FIRST_STORED_AT_MS + 3_000, SAFE) if time < last_ms + 10_000]
    checkpoint_ms = data.draw(st.sampled_from(times))
    stopped = log.stopped(checkpoint_ms=checkpoint_ms)._replace(log=log.files(bytes(log.data[:cut])))
    recovered = recover_store(stopped, SHAPE)
    assert _units(recovered) == left.units()
    assert [key.position for key in recovered.indexed_keys] == [record.position for record in left.records]


@pytest.mark.clause("recovery.state.follows-from-log", "recovery.start.gap-starts-over")
@given(st.data())
def test_queues_come_back_whole_whatever_the_disk_kept_of_them(data: st.DataObject) -> None:
    log = sample_log(20)
    kept = {
        name: queue_files(units[: data.draw(st.integers(0, len(units)))])
        for name, units in log.units().items()
        if data.draw(st.booleans())
    }
    recovered = recover_store(log.stopped(queues=kept, checkpoint_ms=SAFE), SHAPE)
    assert recovered.walk_start == 2_000
    assert _units(recovered) == log.units()
    assert {name: (queue.min_offset, queue.max_offset) for name, queue in recovered.queues.items()} == {
        name: (0, len(units)) for name, units in log.units().items()
    }


@pytest.mark.clause("recovery.start.gap-starts-over", "store.queue.offset-is-place")
def test_apache_misplaces_units_when_the_checkpoint_claims_too_much() -> None:
    log = sample_log(20)
    kept = {name: queue_files(units[:1]) for name, units in log.units().items()}
    apache = recover_store(log.stopped(queues=kept, checkpoint_ms=SAFE), SHAPE, rule=APACHE_RULE)
    assert _units(apache) != log.units()


@pytest.mark.clause("recovery.queue.ends-with-its-own-message")
def test_units_of_a_former_log_do_not_come_back() -> None:
    log = sample_log(20)
    units = log.units()
    name = QueueName("A", QueueId(0))
    record = next(record for record in log.records if record.topic == "B")
    stale = Unit(record.position, record.size, units[name][0].tag_code)
    files = {**{other: queue_files(own) for other, own in units.items()}}
    files[name] = queue_files([*units[name][:2], stale, stale])
    recovered = recover_store(log.stopped(queues=files, checkpoint_ms=SAFE), SHAPE)
    assert _units(recovered) == units


@pytest.mark.clause("recovery.start.clean-stop", "recovery.start.abort-file", "recovery.log.cut-files")
def test_clean_stop_rereads_three_files_and_crash_goes_by_the_checkpoint() -> None:
    log = sample_log(30)
    assert len(log.files()) == 5
    clean = recover_store(log.stopped(is_clean_stop=True), SHAPE)
    crashed = recover_store(log.stopped(checkpoint_ms=0), SHAPE)
    assert (clean.walk_start, crashed.walk_start) == (2_000, 0)
    assert clean.queues == crashed.queues
    assert clean.kept_files == (0, 1_000, 2_000, 3_000, 4_000)


@pytest.mark.clause("recovery.log.cut-files", "recovery.log.ends-at-first-non-record")
def test_files_behind_the_end_are_dropped_and_an_allocated_one_is_kept() -> None:
    log = sample_log(30)
    data = bytearray(log.data)
    data[log.records[8].position + 90] ^= 1
    recovered = recover_store(log.stopped()._replace(log=log.files(bytes(data))), SHAPE)
    assert (recovered.log_end.position, recovered.log_end.kind) == (log.records[8].position, StopKind.DAMAGED)
    assert (recovered.kept_files, recovered.dropped_files) == ((0, 1_000), (2_000, 3_000, 4_000))
    ahead = [*sample_log(3).files(), found_bytes(f"{1_000:020d}", bytes(1_000))]
    allocated = recover_store(sample_log(3).stopped()._replace(log=ahead), SHAPE)
    assert (allocated.kept_files, allocated.dropped_files) == ((0,), (1_000,))


@pytest.mark.clause("recovery.log.torn-text")
@pytest.mark.parametrize(
    ("checkpoint_ms", "is_clean_stop", "count"),
    [(0, False, 4), (FIRST_STORED_AT_MS + 40_000, False, 8), (0, True, 8)],
    ids=["unsynced", "synced", "clean stop"],
)
def test_zeros_in_a_text_end_the_log_only_where_the_checkpoint_does_not_vouch_for_it(
    checkpoint_ms: int,
    is_clean_stop: bool,  # noqa: FBT001 - a column
    count: int,
) -> None:
    log = sample_log(8)
    data = bytearray(log.data)
    data[log.records[4].end - 1] = 0
    stopped = log.stopped(checkpoint_ms=checkpoint_ms, is_clean_stop=is_clean_stop)
    recovered = recover_store(stopped._replace(log=log.files(bytes(data))), SHAPE)
    assert recovered.log_end.position == (log.records[4].position if count == 4 else log.end)
    assert [key.position for key in recovered.indexed_keys] == [
        record.position for record in log.records[:count]
    ]
    assert sum(queue.max_offset for queue in recovered.queues.values()) == count


@pytest.mark.clause("recovery.state.no-log-no-queues")
def test_without_a_log_there_are_no_queues() -> None:
    recovered = recover_store(sample_log(5).stopped()._replace(log=[]), SHAPE)
    assert (recovered.queues, recovered.kept_files, recovered.log_end.position) == ({}, (), 0)


@pytest.mark.clause("recovery.queue.min-offset", "store.queue.filler")
def test_queue_whose_older_messages_are_gone_begins_where_the_log_does() -> None:
    log = sample_log(20)
    files = log.files()[1:]
    recovered = recover_store(log.stopped()._replace(log=files), SHAPE)
    assert recovered.log_min == 1_000
    for name, units in log.units().items():
        queue = recovered.queues[name]
        assert queue.content.units == tuple(units)
        assert units[queue.min_offset].position >= 1_000 > units[queue.min_offset - 1].position
    bare = recover_store(log.stopped(queues={})._replace(log=files), SHAPE)
    for name, queue in bare.queues.items():
        later = [unit for unit in log.units()[name] if unit.position >= 1_000]
        first = len(log.units()[name]) - len(later)
        assert queue.content == QueueContent(QueueOffset(0), (*[FILLER] * first, *later))
        assert (queue.min_offset, queue.max_offset) == (first, first + len(later))


@pytest.mark.clause("store.queue.transaction-halves-have-no-unit")
def test_prepared_and_rolled_back_messages_take_no_place_in_a_queue() -> None:
    log = Log()
    for flag in (0x00, 0x04, 0x0C, 0x08):
        log.append("T", b"", system_flag=flag)
    recovered = recover_store(log.stopped(queues={}), SHAPE)
    assert _units(recovered) == {("T", 0): [*log.units()[QueueName("T", QueueId(0))]]}
    assert recovered.queues[QueueName("T", QueueId(0))].max_offset == 2


@pytest.mark.clause("recovery.load.file-size")
def test_store_with_a_strange_file_is_refused() -> None:
    log = sample_log(5)
    for files in ([found_bytes("0" * 20, bytes(999))], [*log.files(), found_bytes("x", b"")]):
        with pytest.raises(Rejection):
            recover_store(log.stopped()._replace(log=files), SHAPE)


@pytest.mark.clause("recovery.index.drops-unsafe-file")
@given(st.binary(min_size=260, max_size=260), st.booleans())
def test_any_index_file_gets_a_verdict(content: bytes, is_clean_stop: bool) -> None:  # noqa: FBT001 - drawn
    index = [found_bytes("20261118055841126", content)]
    recovered = recover_store(sample_log(3).stopped(index_files=index, is_clean_stop=is_clean_stop), SHAPE)
    (verdict,) = recovered.index_files
    assert (verdict.header is None) == (verdict.refusal is not None)


@given(st.binary(min_size=1, max_size=1_000), st.binary(max_size=80))
def test_any_bytes_are_recovered_or_refused(log: bytes, queue: bytes) -> None:
    files = [found_bytes("0" * 20, log.ljust(1_000, b"\0"))]
    queues = {QueueName("T", QueueId(0)): [found_bytes("0" * 20, queue.ljust(80, b"\0"))]}
    recovered = recover_store(sample_log(1).stopped(queues=queues)._replace(log=files), SHAPE)
    assert 0 <= recovered.log_end.position <= CommitLogPosition(1_000)


@pytest.mark.clause("recovery.queue.ends-with-its-own-message")
@pytest.mark.parametrize("unit", [FILLER, Unit(CommitLogPosition(0), ByteCount(2**31 - 2), TagCode(0))])
def test_units_that_name_a_giant_size_do_not_have_the_log_read_once_each(unit: Unit) -> None:
    log = sample_log()
    read_lengths: list[int] = []

    def counted(file: LoadedFile) -> LoadedFile:
        def read(at: int, length: int) -> bytes:
            read_lengths.append(length)
            return file.read(at, length)

        return file._replace(read=read)

    files = [counted(file) for file in arrange_files(log.files(), SHAPE.log_file_size)]
    content = QueueContent(QueueOffset(0), (unit,) * 1_000)
    assert keep_units(QueueName("A", QueueId(0)), content, files, files[-1].start) == NO_UNITS
    assert sum(read_lengths) <= 1_000 * 36
