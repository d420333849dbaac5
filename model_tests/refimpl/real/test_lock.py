"""One process holds the lock, and one disk in it."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from refimpl.ports import DiskError, DiskReason
from refimpl.real.disk import RealDisk

TRY_TO_LOCK = """
import sys
from pathlib import Path
from refimpl.ports import DiskError
from refimpl.real.disk import RealDisk
try:
    RealDisk(Path(sys.argv[1])).lock("lock", sys.argv[2].encode())
except DiskError as error:
    print(error.reason.name)
else:
    print("LOCKED", flush=True)
    sys.stdin.read()
"""
ROOT = Path(__file__).parents[3]


def lock_in_another_process(folder: Path, content: str) -> str:
    """What a process gets that wants the lock and then ends."""
    done = subprocess.run(
        [sys.executable, "-c", TRY_TO_LOCK, str(folder), content],
        cwd=ROOT,
        input="",
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.strip()


def refusal_of(disk: RealDisk, path: str = "lock") -> DiskReason:
    with pytest.raises(DiskError) as refusal:
        disk.lock(path, b"mine")
    return refusal.value.reason


def test_another_process_is_kept_out_and_changes_nothing(tmp_path: Path) -> None:
    disk = RealDisk(tmp_path)
    disk.lock("lock", b"lock")
    assert lock_in_another_process(tmp_path, "other") == "BUSY"
    assert (tmp_path / "lock").read_bytes() == b"lock"


def test_this_process_is_kept_out_until_the_other_ends(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", TRY_TO_LOCK, str(tmp_path), "a longer content"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "LOCKED\n"
        disk = RealDisk(tmp_path)
        assert refusal_of(disk) is DiskReason.BUSY
        assert (tmp_path / "lock").read_bytes() == b"a longer content"
        other.kill()
        other.wait(timeout=60)
        disk.lock("lock", b"mine")
    assert (tmp_path / "lock").read_bytes() == b"mine"
    disk.unlock("lock")


def test_an_unlocked_file_stays_and_is_free_for_others(tmp_path: Path) -> None:
    disk = RealDisk(tmp_path)
    disk.lock("lock", b"lock")
    disk.unlock("lock")
    disk.unlock("lock")
    assert lock_in_another_process(tmp_path, "lock") == "LOCKED"
    assert (tmp_path / "lock").read_bytes() == b"lock"


def test_a_second_disk_of_this_process_is_kept_out_by_any_name_of_the_file(tmp_path: Path) -> None:
    first, second = RealDisk(tmp_path), RealDisk(tmp_path)
    first.lock("lock", b"lock")
    os.link(tmp_path / "lock", tmp_path / "link")
    reasons = [refusal_of(first), refusal_of(second), refusal_of(second, "link")]
    assert reasons == [DiskReason.BUSY] * 3
    second.unlock("lock")
    assert lock_in_another_process(tmp_path, "other") == "BUSY"
    first.unlock("lock")
    second.lock("lock", b"mine")
    second.unlock("lock")


@pytest.mark.parametrize("is_read_only", [True, False])
def test_reading_the_locked_file_does_not_lose_the_lock(tmp_path: Path, *, is_read_only: bool) -> None:
    disk = RealDisk(tmp_path)
    disk.lock("lock", b"lock")
    reader = RealDisk(tmp_path, is_read_only=is_read_only).open("lock")
    assert reader.read(0, 9) == b"lock"
    reader.close()
    assert lock_in_another_process(tmp_path, "other") == "BUSY"
    disk.unlock("lock")
    assert lock_in_another_process(tmp_path, "other") == "LOCKED"


def test_a_lock_whose_content_cannot_be_written_is_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = RealDisk(tmp_path)

    def fail(*_: object) -> int:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", fail)
        assert refusal_of(disk) is DiskReason.FULL
    disk.lock("lock", b"mine")
    disk.unlock("lock")
