"""What a crash does to the contents of files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.refimpl.simulated.outcomes import list_outcomes, new_disk, read_all
from refimpl.ports import DiskError, DiskReason, Sync, sync_file
from refimpl.simulated.disk import SimulatedDisk
from refimpl.simulated.disk_file import SimulatedFile


def durable_file(disk: SimulatedDisk, size: int = 8) -> SimulatedFile:
    """A file of zeros whose name and length no crash can take."""
    file = disk.create("f", size)
    sync_file(file)
    disk.sync_folder("")
    return file


def test_a_write_of_two_sectors_may_be_torn_either_way() -> None:
    disk = new_disk()
    durable_file(disk).write(2, b"abcd")
    assert [repr(change) for change in disk.pending()] == ["<write f sector 0>", "<write f sector 1>"]
    assert list_outcomes(disk) == [
        {"f": b"\0\0\0\0\0\0\0\0"},
        {"f": b"\0\0\0\0cd\0\0"},
        {"f": b"\0\0ab\0\0\0\0"},
        {"f": b"\0\0abcd\0\0"},
    ]


def test_a_kept_write_of_a_sector_contains_the_lost_ones_before_it() -> None:
    disk = new_disk()
    file = durable_file(disk, 4)
    for at in range(3):
        file.write(at, b"x")
    assert [read_all(disk.image(kept)) for kept in ((), (0,), (1,), (0, 2), (2, 1))] == [
        {"f": b"\0\0\0\0"},
        {"f": b"x\0\0\0"},
        {"f": b"xx\0\0"},
        {"f": b"xxx\0"},
        {"f": b"xxx\0"},
    ]


def test_a_new_file_may_be_missing_or_empty_or_whole() -> None:
    disk = new_disk()
    disk.create("f", 4).write(0, b"abcd")
    assert [repr(change) for change in disk.pending()] == ["<create f>", "<size f 4>", "<write f sector 0>"]
    assert list_outcomes(disk) == [{}, {"f": b""}, {"f": b"\0\0\0\0"}, {"f": b"abcd"}]
    assert [disk.image(kept).usage().used_bytes for kept in ((0, 2), (0, 1, 2))] == [0, 4]


def test_a_synced_file_without_a_synced_name_may_be_missing_and_is_whole_otherwise() -> None:
    disk = new_disk()
    file = disk.create("f", 4)
    file.write(0, b"abcd")
    sync_file(file)
    assert list_outcomes(disk) == [{}, {"f": b"abcd"}]


def test_a_synced_name_without_a_synced_file_may_be_empty() -> None:
    disk = new_disk()
    disk.create("f", 4).write(0, b"abcd")
    disk.sync_folder("")
    assert list_outcomes(disk) == [{"f": b""}, {"f": b"\0\0\0\0"}, {"f": b"abcd"}]


def test_zeros_are_pending_for_each_sector_that_was_written() -> None:
    disk = new_disk()
    file = durable_file(disk, 1 << 30)
    file.write(0, b"abcdefgh")
    sync_file(file)
    file.zero_from(2)
    assert [repr(change) for change in disk.pending()] == ["<write f sector 0>", "<zero f sector 1>"]
    heads = [disk.image(kept).open("f").read(0, 9) for kept in ((), (0,), (1,), (0, 1))]
    assert heads == [b"abcdefgh\0", b"ab\0\0efgh\0", b"abcd\0\0\0\0\0", b"ab" + bytes(7)]
    assert disk.usage().used_bytes == 4


def test_a_sync_reaches_what_was_written_before_its_start_and_nothing_later() -> None:
    disk = new_disk()
    file = durable_file(disk)
    file.write(0, b"abcdefgh")
    sync = file.start_sync()
    file.write(3, b"X")
    sync.finish()
    assert list_outcomes(disk) == [{"f": b"abcXefgh"}, {"f": b"abcdefgh"}]


def test_overlapping_syncs_may_finish_in_any_order() -> None:
    disk = new_disk()
    file = durable_file(disk)
    file.write(0, b"1111")
    first = file.start_sync()
    file.write(0, b"2222")
    second = file.start_sync()
    file.write(4, b"3333")
    second.finish()
    first.finish()
    assert list_outcomes(disk) == [{"f": b"2222\0\0\0\0"}, {"f": b"22223333"}]


def test_a_sync_that_outlives_a_crash_does_nothing() -> None:
    disk = new_disk()
    file = durable_file(disk)
    file.write(0, b"lost")
    sync = file.start_sync()
    disk.crash()
    disk.open("f").write(0, b"late")
    counted = disk.syncs_count
    sync.finish()
    assert disk.syncs_count == counted
    assert list_outcomes(disk) == [{"f": bytes(8)}, {"f": b"late\0\0\0\0"}]


def test_a_sync_can_be_finished_once() -> None:
    sync = durable_file(new_disk()).start_sync()
    sync.finish()
    with pytest.raises(ValueError, match="f: this sync was finished before"):
        sync.finish()


def test_handles_and_locks_do_not_outlive_a_crash() -> None:
    disk = new_disk()
    file = durable_file(disk)
    disk.lock("lock", b"lock")
    disk.crash()
    for use in (
        lambda: file.read(0, 1),
        lambda: file.write(0, b""),
        lambda: file.zero_from(0),
        file.start_sync,
    ):
        with pytest.raises(DiskError) as refusal:
            use()
        assert (refusal.value.reason, refusal.value.path) == (DiskReason.BROKEN, "f")
    file.close()
    disk.lock("lock", b"lock")


def test_a_file_is_as_old_as_the_last_write_that_survived() -> None:
    time = [10]
    disk = SimulatedDisk(1, clock=lambda: time[0])
    file = durable_file(disk)
    time[0] = 20
    file.write(0, b"a")
    assert [disk.list_folder("")[0].modified_ms, disk.image().list_folder("")[0].modified_ms] == [20, 10]
    assert disk.image([0]).list_folder("")[0].modified_ms == 20


writes = st.tuples(st.just("write"), st.integers(0, 23), st.binary(min_size=1, max_size=8))
other_calls = st.tuples(st.sampled_from(["start", "finish", "zero"]), st.integers(0, 23), st.just(b""))


@given(st.lists(writes | other_calls, max_size=25), st.integers(0, 2**32))
def test_after_a_crash_every_byte_is_the_synced_one_or_one_written_later(
    calls: list[tuple[str, int, bytes]], seed: int
) -> None:
    disk = SimulatedDisk(seed, sector_size=4, clock=lambda: 0)
    file = durable_file(disk, 32)
    seen = [bytes(32)]
    syncs: list[tuple[Sync, int]] = []
    synced = 0
    for method, at, data in calls:
        if method == "write":
            file.write(at, data)
        elif method == "zero":
            file.zero_from(at)
        elif method == "start":
            syncs.append((file.start_sync(), len(seen) - 1))
        elif syncs:
            sync, version = syncs.pop(at % len(syncs))
            sync.finish()
            synced = max(synced, version)
        seen.append(file.read(0, 32))
    disk.crash_randomly()
    after = disk.open("f").read(0, 32)
    allowed = [{version[byte] for version in seen[synced:]} for byte in range(32)]
    assert [byte for byte in range(32) if after[byte] not in allowed[byte]] == []
