"""Every accident that can be switched on."""

from collections.abc import Callable
from functools import partial

import pytest

from model_tests.refimpl.simulated.outcomes import list_outcomes, new_disk, read_all
from refimpl.ports import DiskError, DiskReason, Usage, sync_file
from refimpl.simulated.disk import SimulatedDisk
from refimpl.simulated.disk_file import SimulatedFile
from spec.values.units import ByteCount


def refusal_of(act: Callable[[], object]) -> DiskReason:
    with pytest.raises(DiskError) as refusal:
        act()
    return refusal.value.reason


def synced_file(disk: SimulatedDisk, content: bytes = bytes(8)) -> SimulatedFile:
    file = disk.create("f", len(content))
    file.write(0, content)
    sync_file(file)
    disk.sync_folder("")
    return file


def test_a_full_disk_takes_what_fits_and_what_has_its_space() -> None:
    disk = new_disk(capacity=10)
    file = disk.create("f", 1 << 30)
    assert disk.usage() == Usage(ByteCount(0), ByteCount(10))
    assert refusal_of(lambda: file.write(2, b"abcdefgh")) is DiskReason.FULL
    assert file.read(0, 12) == b"\0\0abcdef\0\0\0\0"
    assert disk.usage() == Usage(ByteCount(8), ByteCount(10))
    file.write(0, b"12345678")
    file.zero_from(4)
    disk.create("g", 4).write(0, b"g")
    assert refusal_of(lambda: file.write(4, b"x")) is DiskReason.FULL
    disk.remove("g")
    file.write(4, b"x")
    assert file.read(0, 8) == b"1234x\0\0\0"
    disk.capacity = None
    file.write(100, b"y")
    assert disk.usage().used_bytes == 12


def test_a_lock_that_does_not_fit_is_not_held() -> None:
    disk = new_disk(capacity=0)
    assert refusal_of(lambda: disk.lock("lock", b"lock")) is DiskReason.FULL
    disk.capacity = None
    disk.lock("lock", b"lock")
    assert refusal_of(lambda: disk.lock("lock", b"lock")) is DiskReason.BUSY


def test_a_disk_that_becomes_read_only_fails_the_syncs_under_way() -> None:
    disk = new_disk()
    file = synced_file(disk)
    file.write(0, b"abcd")
    sync = file.start_sync()
    disk.is_read_only = True
    assert refusal_of(sync.finish) is DiskReason.READ_ONLY
    assert list_outcomes(disk) == [{"f": bytes(8)}, {"f": b"abcd\0\0\0\0"}]
    disk.is_read_only = False
    sync_file(file)
    assert list_outcomes(disk) == [{"f": b"abcd\0\0\0\0"}]


def test_a_failed_write_has_written_some_first_part() -> None:
    found = set()
    for seed in range(60):
        disk = SimulatedDisk(seed, sector_size=4, clock=lambda: 0)
        file = synced_file(disk, bytes(5))
        disk.fail_writes(1)
        assert refusal_of(partial(file.write, 0, b"abcde")) is DiskReason.BROKEN
        found.add(file.read(0, 5))
        file.write(0, b"12345")
        assert file.read(0, 5) == b"12345"
    assert found == {b"abcde"[:length].ljust(5, b"\0") for length in range(6)}


def test_every_kind_of_change_can_fail_and_then_changes_nothing() -> None:
    disk = new_disk()
    file = synced_file(disk, b"abcd")
    changes: tuple[Callable[[], object], ...] = (
        lambda: file.zero_from(0),
        lambda: disk.create("g", 1),
        lambda: disk.remove("f"),
        lambda: disk.rename("f", "g"),
        lambda: disk.lock("lock", b"lock"),
    )
    disk.fail_writes(len(changes))
    assert [refusal_of(change) for change in changes] == [DiskReason.BROKEN] * 5
    assert (read_all(disk), disk.pending()) == ({"f": b"abcd"}, ())


def test_a_failed_read_gives_nothing_and_the_next_one_all() -> None:
    disk = new_disk()
    file = synced_file(disk, b"abcd")
    disk.fail_reads(2)
    assert [refusal_of(lambda: file.read(0, 4)) for _ in range(2)] == [DiskReason.BROKEN] * 2
    assert file.read(0, 4) == b"abcd"


def test_what_a_failed_sync_was_to_sync_is_forgotten_unless_written_again() -> None:
    disk = new_disk()
    file = synced_file(disk)
    file.write(0, b"abcdefgh")
    disk.fail_syncs(1)
    assert refusal_of(lambda: sync_file(file)) is DiskReason.BROKEN
    sync_file(file)
    assert file.read(0, 8) == b"abcdefgh"
    assert read_all(disk.image()) == {"f": bytes(8)}
    file.write(1, b"X")
    sync_file(file)
    assert list_outcomes(disk) == [{"f": b"aXcd\0\0\0\0"}, {"f": b"aXcdefgh"}]


def test_a_disk_that_remembers_syncs_it_the_next_time() -> None:
    disk = new_disk()
    disk.forgets_after_failed_sync = False
    file = synced_file(disk)
    file.write(0, b"abcdefgh")
    disk.fail_syncs(1)
    assert refusal_of(lambda: sync_file(file)) is DiskReason.BROKEN
    assert read_all(disk.image()) == {"f": bytes(8)}
    sync_file(file)
    assert list_outcomes(disk) == [{"f": b"abcdefgh"}]


def test_a_failed_sync_of_a_folder_leaves_its_names_pending() -> None:
    disk = new_disk()
    disk.create("f", 0)
    disk.fail_syncs(1)
    assert refusal_of(lambda: disk.sync_folder("")) is DiskReason.BROKEN
    assert list_outcomes(disk) == [{}, {"f": b""}]
    disk.sync_folder("")
    assert list_outcomes(disk) == [{"f": b""}]


def test_ignored_syncs_are_counted_and_make_nothing_durable() -> None:
    disk = new_disk()
    disk.is_sync_ignored = True
    synced_file(disk, b"abcd")
    assert disk.syncs_count == 2
    disk.crash()
    assert read_all(disk) == {}


def test_a_failed_sync_is_not_counted() -> None:
    disk = new_disk()
    file = synced_file(disk)
    disk.fail_syncs(1)
    assert refusal_of(lambda: sync_file(file)) is DiskReason.BROKEN
    assert disk.syncs_count == 2


def test_a_rotten_bit_stays_through_syncs_and_crashes() -> None:
    disk = new_disk()
    file = synced_file(disk, b"abcdefgh")
    file.write(5, b"F")
    disk.flip_bit("f", 5, 0)
    disk.flip_bit("f", 0, 7)
    assert file.read(0, 8) == b"\xe1bcdeGgh"
    assert list_outcomes(disk) == [{"f": b"\xe1bcdeGgh"}, {"f": b"\xe1bcdeggh"}]
    sync_file(file)
    assert list_outcomes(disk) == [{"f": b"\xe1bcdeGgh"}]


def test_rot_needs_a_byte_of_a_file() -> None:
    disk = new_disk()
    synced_file(disk)
    assert refusal_of(lambda: disk.flip_bit("g", 0, 0)) is DiskReason.MISSING
    with pytest.raises(ValueError, match="1 bytes at 8 are not inside its 8 bytes"):
        disk.flip_bit("f", 8, 0)
