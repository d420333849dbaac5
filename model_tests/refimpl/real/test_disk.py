"""What only the real disk has: the operating system's errors, holes, space and time."""

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from refimpl.ports import Disk, DiskError, DiskReason, Entry, Usage, sync_file
from refimpl.real.disk import RealDisk
from refimpl.real.failure import derive_disk_error
from spec.values.units import ByteCount, Milliseconds


def failing(number: int) -> Callable[..., NoReturn]:
    """A call of the system that ends with this error."""

    def fail(*_: object) -> NoReturn:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, DiskReason.FULL),
        (errno.EDQUOT, DiskReason.FULL),
        (errno.EROFS, DiskReason.READ_ONLY),
        (errno.EACCES, DiskReason.DENIED),
        (errno.EPERM, DiskReason.DENIED),
        (errno.ENOENT, DiskReason.MISSING),
        (errno.EEXIST, DiskReason.EXISTS),
        (errno.ENOTEMPTY, DiskReason.EXISTS),
        (errno.EIO, DiskReason.BROKEN),
        (errno.EBADF, DiskReason.BROKEN),
        (errno.ENOTDIR, DiskReason.BROKEN),
    ],
)
def test_every_error_of_the_system_has_its_reason(number: int, reason: DiskReason) -> None:
    error = derive_disk_error(OSError(number, "said so"), "f")
    assert (error.reason, error.path, error.detail) == (reason, "f", "said so")


def test_a_new_file_is_sparse_and_has_its_length_and_its_folders(tmp_path: Path) -> None:
    disk: Disk = RealDisk(tmp_path / "deep" / "root")
    file = disk.create("commitlog/0", 1 << 30)
    status = (tmp_path / "deep/root/commitlog/0").stat()
    assert (file.size, status.st_size, status.st_blocks) == (1 << 30, 1 << 30, 0)
    file.close()


def test_a_file_that_cannot_get_its_length_is_removed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = RealDisk(tmp_path)
    monkeypatch.setattr(os, "ftruncate", failing(errno.ENOSPC))
    with pytest.raises(DiskError, match="f: no space is left") as refusal:
        disk.create("f", 8)
    assert (refusal.value.reason, list(tmp_path.iterdir())) == (DiskReason.FULL, [])


def test_a_short_write_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = RealDisk(tmp_path).create("f", 10)
    whole = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: whole(fd, bytes(data)[:3], at))
    file.write(1, memoryview(b"abcdefgh"))
    assert file.read(0, 10) == b"\0abcdefgh\0"
    monkeypatch.setattr(os, "pwrite", lambda *_: 0)
    with pytest.raises(DiskError, match="a write wrote nothing"):
        file.write(0, b"x")
    file.close()


def test_a_short_read_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = RealDisk(tmp_path).create("f", 10)
    file.write(0, b"abcdefghij")
    whole = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, length, at: whole(fd, min(length, 3), at))
    assert file.read(1, 20) == b"bcdefghij"
    monkeypatch.undo()
    os.truncate(tmp_path / "f", 4)
    assert file.read(1, 20) == b"bcd"
    file.close()


@pytest.mark.parametrize("call", ["pwrite", "pread", "fsync"])
def test_an_error_in_the_middle_is_the_error_of_that_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    file = RealDisk(tmp_path).create("f", 10)
    monkeypatch.setattr(os, call, failing(errno.EIO))
    uses: dict[str, Callable[[], object]] = {
        "pwrite": lambda: file.write(0, b"x"),
        "pread": lambda: file.read(0, 1),
        "fsync": lambda: sync_file(file),
    }
    with pytest.raises(DiskError) as refusal:
        uses[call]()
    assert (refusal.value.reason, refusal.value.path) == (DiskReason.BROKEN, "f")
    file.close()


@pytest.mark.parametrize("has_holes", [True, False])
def test_zeros_to_the_end_free_the_space_and_keep_the_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_holes: bool
) -> None:
    if not has_holes:
        monkeypatch.setattr("refimpl.real.hole._find_punch", lambda: None)
    file = RealDisk(tmp_path).create("f", 1 << 20)
    file.write(0, b"x" * (1 << 20))
    sync_file(file)
    file.zero_from(4_099)
    sync_file(file)
    assert file.read(0, 1 << 20) == b"x" * 4_099 + bytes((1 << 20) - 4_099)
    status = (tmp_path / "f").stat()
    assert (status.st_size, status.st_blocks * 512 < 64 << 10) == (1 << 20, True)
    file.close()


def test_a_hole_never_cuts_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = RealDisk(tmp_path).create("f", 8)
    file.write(0, b"abcdefgh")
    monkeypatch.setattr(os, "ftruncate", failing(errno.EIO))
    file.zero_from(3)
    assert file.read(0, 8) == b"abc" + bytes(5)
    file.close()


def test_a_sync_may_finish_after_its_file_was_closed(tmp_path: Path) -> None:
    file = RealDisk(tmp_path).create("f", 8)
    sync, unfinished = file.start_sync(), file.start_sync()
    descriptor = unfinished._descriptor
    file.close()
    sync.finish()
    with pytest.raises(ValueError, match="f: this sync was finished before"):
        sync.finish()
    del unfinished
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_usage_is_that_of_df(tmp_path: Path) -> None:
    status = os.statvfs(tmp_path)
    used, total = RealDisk(tmp_path).usage()
    assert total - used == pytest.approx(status.f_bavail * status.f_frsize, rel=0.01)
    assert used == pytest.approx((status.f_blocks - status.f_bfree) * status.f_frsize, rel=0.01)


def test_usage_counts_no_space_that_only_root_may_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = RealDisk(tmp_path)
    status = os.statvfs_result((4096, 1024, 100, 40, 30, 0, 0, 0, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: status)
    assert disk.usage() == Usage(ByteCount(60 << 10), ByteCount(90 << 10))


def test_a_listing_has_sizes_and_times(tmp_path: Path) -> None:
    disk = RealDisk(tmp_path)
    disk.create("b", 5).close()
    disk.create("a/c", 6).close()
    os.utime(tmp_path / "b", ns=(0, 1_234_567_891_999_999))
    folder, file = disk.list_folder("")
    assert file == Entry("b", ByteCount(5), Milliseconds(1_234_567_891))
    assert folder[:2] + folder[3:] == ("a", 0, True)
    assert abs(folder.modified_ms - time.time() * 1_000) < 60_000


def test_a_name_that_disappears_while_it_is_listed_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    assert RealDisk(tmp_path).list_folder("") == ()


def test_a_disk_that_cannot_tell_does_not_say_that_a_file_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = RealDisk(tmp_path)
    monkeypatch.setattr(os, "scandir", failing(errno.EIO))
    with pytest.raises(DiskError, match="the disk failed"):
        disk.list_folder("")
    monkeypatch.setattr(Path, "stat", failing(errno.EIO))
    with pytest.raises(DiskError, match="abort: the disk failed"):
        disk.has("abort")


def test_a_read_only_disk_makes_nothing_not_even_its_root(tmp_path: Path) -> None:
    disk = RealDisk(tmp_path / "root", is_read_only=True)
    assert disk.list_folder("") == ()
    with pytest.raises(DiskError, match="there is no such file"):
        disk.usage()
    assert list(tmp_path.iterdir()) == []


def test_a_file_on_a_read_only_file_system_can_still_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = RealDisk(tmp_path)
    disk.create("f", 4).close()
    system_open = os.open

    def open_for_reading(path: Path, flags: int) -> int:
        if flags & os.O_RDWR:
            raise OSError(errno.EROFS, "read-only")
        return system_open(path, flags)

    monkeypatch.setattr(os, "open", open_for_reading)
    file = disk.open("f")
    assert file.read(0, 9) == bytes(4)
    with pytest.raises(DiskError) as refusal:
        file.write(0, b"x")
    assert refusal.value.reason is DiskReason.READ_ONLY
    file.close()


def test_a_root_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    with pytest.raises(DiskError, match="Not a directory"):
        RealDisk(tmp_path / "f")


def test_folders_are_synced_from_the_inside_to_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = RealDisk(tmp_path)
    disk.create("a/b/f", 0).close()
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    disk.sync_folder("a/b")
    assert synced == [(tmp_path / folder).stat().st_ino for folder in ("a/b", "a", "")]


@pytest.mark.parametrize("is_read_only", [False, True])
def test_a_pipe_in_place_of_a_file_is_refused_at_once(tmp_path: Path, *, is_read_only: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DiskError, match="Not a regular file"):
        RealDisk(tmp_path, is_read_only=is_read_only).open("pipe")
