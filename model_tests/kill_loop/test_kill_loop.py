"""Killed processes lose nothing that they acknowledged, and the loop would notice if they did."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from model_tests.kill_loop.circle import run_circle
from model_tests.kill_loop.executioner import Moment, run_writer
from model_tests.kill_loop.inspection import find_loss, inspect_folder
from model_tests.kill_loop.ledger import Ledger
from model_tests.kill_loop.load import settings_for
from model_tests.kill_loop.report import Acknowledged, Opening, Retiring, decode_report, encode_report
from model_tests.kill_loop.writer import Promise, now_ms
from refimpl.real.disk import RealDisk
from refimpl.store.message_store import open_store
from spec.store.flush import FlushMode

KILLS = 20


@pytest.mark.clause(
    "store.flush.acknowledged-is-stored",
    "recovery.state.follows-from-log",
    "recovery.start.abort-file",
    "recovery.index.rebuilt-from-last-kept",
)
def test_twenty_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    figures = run_circle(tmp_path, KILLS, seed=7)
    assert (figures.lost, figures.wrong) == ((), ())
    assert figures.kills == KILLS
    assert figures.acknowledged > 100 * KILLS
    assert 0 < figures.kills_while_opening < KILLS


def test_the_loop_notices_messages_that_are_acknowledged_before_they_are_appended(tmp_path: Path) -> None:
    figures = run_circle(tmp_path, KILLS, seed=1, promise=Promise.EARLY)
    assert len(figures.lost) >= 1
    assert figures.kills < KILLS


def killed_folder(tmp_path: Path) -> tuple[Path, Ledger]:
    """A folder after a kill, and what was acknowledged there."""
    ledger = Ledger()
    moment = Moment(Acknowledged, 40, 0)
    ledger.add(run_writer(tmp_path / "store", 1, FlushMode.ASYNC, moment))
    return tmp_path / "store", ledger


def test_every_difference_from_what_was_acknowledged_is_a_loss(tmp_path: Path) -> None:
    folder, ledger = killed_folder(tmp_path)
    assert inspect_folder(folder, tmp_path / "copy", ledger)[:2] == ((), ())
    report = next(iter(ledger.held.values()))
    what = f"{report.topic}/{report.queue_id} offset {report.queue_offset}"
    store = open_store(RealDisk(folder), settings_for(FlushMode.ASYNC), now_ms=now_ms())
    record = f"{what}: the record at {report.position} is not the one that was acknowledged"
    assert find_loss(store, report, 0) is None
    assert find_loss(store, report._replace(digest="00"), 0) == record
    assert find_loss(store, report._replace(key="other"), 0) == f"{what}: it is not found by its key other"
    unit = store.queue(report.topic, report.queue_id).read_unit(report.queue_offset + 1)
    assert find_loss(store, report._replace(queue_offset=report.queue_offset + 1), 0) == (
        f"{report.topic}/{report.queue_id} offset {report.queue_offset + 1}: its unit is {unit}"
    )
    gone = f"{what}: its log file is gone and nobody removed it"
    assert (find_loss(store, report._replace(position=-1), -1), find_loss(store, report, 0)) == (gone, None)
    assert find_loss(store, report._replace(position=-1), 0) is None
    assert store.close(now_ms()) is None


def test_an_offset_that_is_acknowledged_twice_is_found() -> None:
    report = Acknowledged("T", 0, 5, 100, 10, "d", "k")
    ledger = Ledger()
    assert ledger.add([report, report._replace(queue_offset=6), Retiring(64)]) == []
    assert ledger.add([report]) == ["('T', 0): offset 5 was acknowledged twice"]
    assert (ledger.count, ledger.retired) == (3, 64)


@pytest.mark.parametrize(
    "report", [Opening(), Acknowledged("T", 0, 5, 100, 10, "d", "k"), Retiring(65_536)], ids=str
)
def test_a_report_is_read_as_it_was_written(report: Acknowledged | Opening | Retiring) -> None:
    line = encode_report(report).decode()
    assert line.endswith("\n")
    assert decode_report(line.removesuffix("\n")) == report


def test_a_writer_ends_when_nobody_listens(tmp_path: Path) -> None:
    module = "model_tests.kill_loop.writer"
    command = [sys.executable, "-m", module, str(tmp_path / "store"), "--seed=1", "--mode=ASYNC"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"Opening\n"
        process.stdout.close()
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()


def find_writers(folder: Path) -> list[int]:
    """The processes whose command names the folder."""
    return [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and str(folder).encode() in _command_of(entry)
    ]


def _command_of(entry: Path) -> bytes:
    try:
        return (entry / "cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_a_loop_that_is_stopped_leaves_no_process_behind(tmp_path: Path, number: int) -> None:
    # Whoever runs the tests in the background of a shell has them ignore interrupts, which is inherited.
    program = (
        "import pathlib, signal, sys; from model_tests.kill_loop.circle import run_circle; "
        "signal.signal(signal.SIGINT, signal.default_int_handler); "
        "run_circle(pathlib.Path(sys.argv[1]), 1000, 1)"
    )
    loop = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stderr=subprocess.DEVNULL)
    try:
        _wait_until(lambda: len(find_writers(tmp_path)) > 1)
    finally:
        os.kill(loop.pid, number)
        loop.wait(20)
    _wait_until(lambda: not find_writers(tmp_path))


def _wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(400):
        if condition():
            return
        time.sleep(0.05)
    raise TimeoutError("20 seconds were not enough")
