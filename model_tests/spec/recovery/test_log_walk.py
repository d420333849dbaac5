import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.spec.recovery.sample import SHAPE, sample_log
from spec.layout.record import encode_record
from spec.layout.record_head import RecordHead
from spec.layout.record_walk import Stop, StopKind
from spec.recovery import log_walk
from spec.recovery.log_walk import APACHE, REFERENCE, LogEnd, derive_stale_tail, walk_file, walk_log
from spec.recovery.store_file import LoadedFile, arrange_files, check_file, found_bytes
from spec.rejection import Rejection
from spec.values.units import CommitLogPosition, QueueOffset


def _walk(
    data: bytes, scrutiny: log_walk.Scrutiny = REFERENCE, synced_ms: int = 0
) -> tuple[list[RecordHead], LogEnd]:
    files = arrange_files(sample_log().files(data), SHAPE.log_file_size)
    *records, end = walk_log(files, 0, scrutiny, synced_ms)
    assert isinstance(end, LogEnd)
    return [record for record in records if isinstance(record, RecordHead)], end


@pytest.mark.clause("recovery.log.ends-at-first-non-record", "recovery.log.blank-leads-on")
def test_whole_log_is_read_over_its_blank_records_up_to_the_zeros() -> None:
    log = sample_log(20)
    records, end = _walk(bytes(log.data))
    assert records == log.heads()
    assert end == LogEnd(CommitLogPosition(log.end), StopKind.ZERO, None)
    assert len(log.files()) == 4


@pytest.mark.clause("recovery.log.ends-at-first-non-record")
@given(st.data())
def test_log_cut_anywhere_ends_behind_its_last_whole_record(data: st.DataObject) -> None:
    log = sample_log(12)
    cut = data.draw(st.integers(0, len(log.data)))
    whole = [record for record in log.heads() if record.end <= cut]
    if not cut:
        return
    records, end = _walk(bytes(log.data[:cut]))
    assert records == whole
    assert end.position >= (whole[-1].end if whole else 0)


@pytest.mark.clause("recovery.log.ends-at-first-non-record")
@given(st.integers(0, 11), st.integers(88, 120), st.integers(1, 255))
def test_log_ends_before_a_record_with_a_damaged_body(number: int, at: int, change: int) -> None:
    log = sample_log(12)
    data = bytearray(log.data)
    data[log.records[number].position + at] ^= change
    records, end = _walk(bytes(data))
    assert records == log.heads()[:number]
    assert (end.position, end.kind) == (log.records[number].position, StopKind.DAMAGED)
    assert end.refusal is not None
    assert end.refusal.clause == "store.record.body-crc"


@pytest.mark.clause("recovery.log.record-states-its-place")
def test_record_that_states_another_place_ends_the_log_for_the_reference_only() -> None:
    log = sample_log(3)
    for change in ({"position": CommitLogPosition(7)}, {"queue_offset": QueueOffset(-1)}):
        stray = encode_record(log.records[1]._replace(**change))
        data = bytearray(log.data)
        data[log.records[1].position : log.records[1].end] = stray
        records, end = _walk(bytes(data))
        assert (len(records), end.position) == (1, log.records[1].position)
        assert end.refusal is not None
        assert end.refusal.clause == "recovery.log.record-states-its-place"
        assert len(_walk(bytes(data), APACHE)[0]) == 3


@pytest.mark.clause("recovery.log.blank-leads-on")
def test_blank_record_of_the_last_file_ends_the_log_where_it_stands() -> None:
    log = sample_log(7)
    records, end = _walk(bytes(log.data[:1_000]))
    assert len(records) == 6
    assert (end.position, end.kind) == (records[-1].end, StopKind.BLANK)


@pytest.mark.clause("recovery.log.blank-leads-on")
def test_blank_record_with_a_wrong_size_ends_the_log_for_the_reference_only() -> None:
    log = sample_log(12)
    data = bytearray(log.data)
    data[log.records[5].end + 3] ^= 1
    assert _walk(bytes(data))[1].position == log.heads()[5].end
    assert len(_walk(bytes(data), APACHE)[0]) == 12


@pytest.mark.clause("recovery.log.torn-text")
@pytest.mark.parametrize(
    ("torn", "synced_to", "count"),
    [
        pytest.param(11, -1, 11, id="the last record, nothing synced"),
        pytest.param(5, -1, 5, id="one in the midst, whole ones behind it"),
        pytest.param(5, 4, 5, id="everything before it is synced"),
        pytest.param(5, 5, 12, id="it was synced itself, so it was sent like this"),
    ],
)
def test_unsynced_record_whose_properties_are_zeros_ends_the_log(
    torn: int, synced_to: int, count: int
) -> None:
    log = sample_log(12)
    data = bytearray(log.data)
    data[log.records[torn].end - 3 : log.records[torn].end] = bytes(3)
    synced_ms = log.records[synced_to].stored_at_ms if synced_to >= 0 else 0
    records, end = _walk(bytes(data), synced_ms=synced_ms)
    assert len(records) == count
    assert records[:torn] == log.heads()[:count][:torn]
    if count == 12:
        assert end == LogEnd(CommitLogPosition(log.end), StopKind.ZERO, None)
    else:
        at = log.records[torn].position
        refusal = Rejection("recovery.log.torn-text", at, "zeros stand in the topic or the properties")
        assert end == LogEnd(at, StopKind.DAMAGED, refusal)


@pytest.mark.clause("recovery.log.torn-text")
def test_zeros_in_a_topic_end_the_log_too_and_apache_keeps_both() -> None:
    log = sample_log(3)
    zeroed = encode_record(log.records[1]._replace(topic="\0"))
    data = bytes(log.data[: log.records[1].position]) + zeroed + bytes(log.data[log.records[1].end :])
    assert [len(_walk(data, scrutiny)[0]) for scrutiny in (REFERENCE, APACHE)] == [1, 3]


def test_file_is_read_in_windows_and_a_large_record_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_walk, "WINDOW_SIZE", 50)
    log = sample_log(6)
    asked: list[int] = []

    def read(at: int, length: int) -> bytes:
        asked.append(length)
        return bytes(log.data[at : at + length]).ljust(min(length, 1_000 - at), b"\0")

    file = check_file(found_bytes("0" * 20, bytes(1_000)), 1_000)
    *records, stop = walk_file(LoadedFile(file.start, file.size, read))
    assert records == log.heads()
    assert stop == Stop(log.end, StopKind.ZERO)
    assert max(asked) <= max(record.size for record in log.records)


def test_reader_that_gives_less_than_it_should_ends_the_walk() -> None:
    data = bytes(sample_log(6).data)
    file = check_file(found_bytes("0" * 20, bytes(1_000)), 1_000)
    *records, stop = walk_file(
        LoadedFile(file.start, file.size, lambda at, length: data[at : at + min(length, 200)])
    )
    assert len(records) >= 1
    assert isinstance(stop, Stop)


@given(st.binary(max_size=300))
def test_any_file_ends_in_one_stop(data: bytes) -> None:
    padded = data.ljust(max(1, len(data)), b"\0")
    *records, stop = walk_file(check_file(found_bytes("0" * 20, padded), len(padded)))
    assert isinstance(stop, Stop)
    assert all(isinstance(record, RecordHead) for record in records)


@pytest.mark.clause("recovery.log.tail-is-zeroed")
def test_record_behind_the_end_comes_back_unless_the_tail_is_zeroed() -> None:
    log = sample_log(6)
    damaged = bytearray(log.data)
    damaged[log.records[2].position + 90] ^= 1
    end = _walk(bytes(damaged))[1].position
    assert end == log.heads()[2].position
    refilled = bytearray(damaged)
    refilled[end : log.records[2].end] = encode_record(log.records[2])
    assert len(_walk(bytes(refilled))[0]) == 6
    zeroed = bytearray(damaged[:end].ljust(end + derive_stale_tail(end, 1_000), b"\0"))
    zeroed[end : log.records[2].end] = encode_record(log.records[2])
    assert (len(zeroed), len(_walk(bytes(zeroed))[0])) == (1_000, 3)
