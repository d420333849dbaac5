"""`mqspec store`: a real store judged and shown, with the right exit code, and nothing written."""

import json
import os
import pty
import subprocess
import sys
import tarfile
import zlib
from pathlib import Path
from typing import Final

import pytest

from model_tests.vectors.apache_store import ARCHIVE
from refimpl.cli.entry import run
from refimpl.real.disk import RealDisk
from refimpl.store.message_store import open_store
from refimpl.store.new_message import NewMessage
from refimpl.store.settings import StoreSettings
from spec.layout.consume_queue import Unit, encode_unit
from spec.layout.record import encode_record
from spec.layout.stored_message import make_record
from spec.values.host import host_of
from spec.values.message import Message
from spec.values.units import ByteCount, CommitLogPosition, QueueId, QueueOffset, TagCode

Output = pytest.CaptureFixture[str]
SCRIPT: Final = Path(sys.executable).with_name("mqspec")
INDEX: Final = "index/20261118055841126"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The store of a killed Apache broker, in a folder of its own."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path / "store"


def _snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def _rows(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_good_store_is_summed_up(store: Path, capsys: Output) -> None:
    assert run(["store", "verify", str(store)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        (
            "warning  config/consumerOffset.json: byte 0: T@PYG queue 1 is at 3, the queue has 0 to 1"
            " [guarantee.off.safety]"
        ),
        (
            f"note     {INDEX}: byte 8: recovery drops the file: it reaches 1794981522672, safe is 0"
            " [recovery.index.drops-unsafe-file]"
        ),
        (
            f"note     {INDEX}: byte 0: keys of messages from position 123 on lie before"
            " the first index file: 18 [recovery.index.rebuilt-from-last-kept]"
        ),
        (
            "29 files, 60 records of 72143 bytes, 10 queues, 31 keys; no clean stop (there is an abort file);"
            " 0 errors, 1 warnings, 2 notes"
        ),
    ]


def test_a_program_gets_one_json_object(store: Path, capsys: Output) -> None:
    assert run(["store", "verify", "--json", str(store)]) == 0
    found = json.loads(capsys.readouterr().out)
    findings = found.pop("findings")
    assert found == {
        "schemaVersion": 1,
        "directory": str(store),
        "isCleanStop": False,
        "summary": {
            "files": 29,
            "records": 60,
            "recordBytes": 72_143,
            "logBytes": 81_920,
            "logEnd": 75_934,
            "queues": 10,
            "keys": 31,
            "messages": {"error": 0, "warning": 1, "note": 2},
            "leftOut": 0,
        },
    }
    assert findings[0] == {
        "severity": "note",
        "file": INDEX,
        "position": 8,
        "clause": "recovery.index.drops-unsafe-file",
        "sentence": "recovery drops the file: it reaches 1794981522672, safe is 0",
    }
    assert len(findings) == 3


def test_a_damaged_store_is_violated(store: Path, capsys: Output) -> None:
    _flip(store / "commitlog" / f"{0:020d}", 88)
    assert run(["store", "verify", str(store)]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first == (
        "error    commitlog/00000000000000000000: byte 8: CRC 15126957 is stated, the body has 436068588"
        " [store.record.body-crc]"
    )
    assert run(["store", "verify", "--json", str(store)]) == 1


def test_a_hundred_findings_are_shown_and_the_others_counted(store: Path, capsys: Output) -> None:
    for number in range(150):
        (store / "commitlog" / f"foreign{number}").write_bytes(b"")
    assert run(["store", "verify", str(store)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 102
    assert lines[100] == "... 53 more: --json shows them"
    assert run(["store", "verify", "--json", str(store)]) == 1
    assert len(json.loads(capsys.readouterr().out)["findings"]) == 153


@pytest.mark.parametrize("command", [["verify"], ["dump", "--topic", "T", "--queue", "0"]])
def test_a_directory_that_is_no_store_is_inconclusive(
    command: list[str], tmp_path: Path, capsys: Output
) -> None:
    assert run(["store", *command, str(tmp_path)]) == 2
    line = f"mqspec store {command[0]}: {tmp_path}: not a store: it has no folder commitlog\n"
    assert capsys.readouterr() == ("", line)
    (tmp_path / "commitlog").mkdir()
    assert run(["store", *command, str(tmp_path)]) == 2
    line = f"mqspec store {command[0]}: {tmp_path}: the store is empty: its log has no files\n"
    assert capsys.readouterr() == ("", line)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["store"], "mqspec store: Missing command. See `mqspec store --help`.\n"),
        (
            ["store", "verify", "/no/such/folder"],
            (
                "mqspec store verify: Invalid value for 'DIR': Directory '/no/such/folder' does not exist."
                " See `mqspec store verify --help`.\n"
            ),
        ),
    ],
)
def test_wrong_usage_ends_with_64(arguments: list[str], line: str, capsys: Output) -> None:
    assert run(arguments) == 64
    assert capsys.readouterr() == ("", line)


def test_nothing_is_written_locked_or_created(store: Path) -> None:
    before = _snapshot(store.parent)
    assert run(["store", "verify", str(store)]) == 0
    assert run(["store", "dump", str(store), "--topic", "T", "--queue", "0"]) == 0
    assert run(["store", "dump", str(store), "--topic", "T", "--queue", "0", "--from-log"]) == 0
    assert _snapshot(store.parent) == before


def test_a_terminal_sees_how_far_the_log_was_read(store: Path) -> None:
    reader, writer = pty.openpty()
    done = subprocess.run(
        [SCRIPT, "store", "verify", store], stdout=subprocess.PIPE, stderr=writer, check=True
    )
    os.close(writer)
    shown = os.read(reader, 65_536)
    os.close(reader)
    assert b"reading the log" in shown
    assert b"reading the log" not in done.stdout
    quiet = subprocess.run([SCRIPT, "store", "verify", store], capture_output=True, check=True)
    assert (quiet.stdout, quiet.stderr) == (done.stdout, b"")


def test_messages_of_a_queue_are_dumped_in_order(store: Path, capsys: Output) -> None:
    assert run(["store", "dump", str(store), "--topic", "T", "--queue", "0"]) == 0
    rows = _rows(capsys.readouterr().out)
    assert [row["queueOffset"] for row in rows] == list(range(30))
    assert rows[1] == {
        "queueOffset": 1,
        "commitLogPosition": 374,
        "size": 123,
        "topic": "T",
        "queueId": 0,
        "offsetMessageId": "7F000001000051AF0000000000000176",
        "bornAtMs": 1_794_981_091_486,
        "bornHost": "127.0.0.1:57332",
        "storedAtMs": 1_794_981_091_488,
        "storeHost": "127.0.0.1:20911",
        "flag": 0,
        "sysFlag": 0,
        "reconsumeTimes": 0,
        "preparedPosition": 0,
        "uniqueId": None,
        "keys": [],
        "tag": "B",
        "properties": {"CLUSTER": "DefaultCluster", "TAGS": "B"},
        "bodyKind": "text",
        "bodyNote": None,
        "body": "x1",
    }
    assert run(["store", "dump", str(store), "--topic", "T", "--queue", "0", "--from-log"]) == 0
    assert _rows(capsys.readouterr().out) == rows


@pytest.mark.parametrize("from_log", [[], ["--from-log"]])
@pytest.mark.parametrize(
    ("options", "offsets"),
    [
        (["--from", "27"], [27, 28, 29]),
        (["--to", "2"], [0, 1]),
        (["--from", "9", "--to", "12"], [9, 10, 11]),
        (["--from", "9", "--count", "2"], [9, 10]),
        (["--count", "0"], []),
        (["--from", "30"], []),
        (["--from", "1000"], []),
    ],
)
def test_a_part_of_a_queue_is_dumped(
    options: list[str], offsets: list[int], from_log: list[str], store: Path, capsys: Output
) -> None:
    assert run(["store", "dump", str(store), "--topic", "T", "--queue", "0", *options, *from_log]) == 0
    assert [row["queueOffset"] for row in _rows(capsys.readouterr().out)] == offsets


def test_an_unknown_queue_is_wrong_usage_and_the_known_ones_are_named(store: Path, capsys: Output) -> None:
    assert run(["store", "dump", str(store), "--topic", "T", "--queue", "9"]) == 64
    assert capsys.readouterr().err == (
        "mqspec store dump: the store has no queue 9 of topic T: there are %DLQ%SB (0), %RETRY%SB (0),"
        " OFFSET_MOVED_EVENT (0), R (0), SCHEDULE_TOPIC_XXXX (2, 17), T (0, 1, 2, 3);"
        " --from-log looks into the log instead. See `mqspec store dump --help`.\n"
    )


def test_a_queue_without_files_is_dumped_from_the_log(store: Path, capsys: Output) -> None:
    (store / "consumequeue/T/1" / f"{0:020d}").unlink()
    arguments = ["store", "dump", str(store), "--topic", "T", "--queue", "1"]
    assert run(arguments) == 64
    assert capsys.readouterr().err == (
        "mqspec store dump: consumequeue/T/1 has no files: --from-log looks into the log instead."
        " See `mqspec store dump --help`.\n"
    )
    assert run([*arguments, "--from-log"]) == 0
    assert [row["queueOffset"] for row in _rows(capsys.readouterr().out)] == [0]


def test_a_message_that_cannot_be_read_is_told_and_the_others_are_shown(store: Path, capsys: Output) -> None:
    _flip(store / "commitlog" / f"{0:020d}", 374 + 88)
    assert run(["store", "dump", str(store), "--topic", "T", "--queue", "0", "--to", "4"]) == 1
    captured = capsys.readouterr()
    assert [row["queueOffset"] for row in _rows(captured.out)] == [0, 2, 3]
    assert captured.err.startswith("offset 1, position 374: CRC ")
    assert captured.err.endswith(" [store.record.body-crc]\n")


def test_a_record_that_states_another_position_is_not_shown(store: Path, capsys: Output) -> None:
    _flip(store / "commitlog" / f"{0:020d}", 35)
    assert run(["store", "dump", str(store), "--topic", "T", "--queue", "0", "--count", "1"]) == 1
    line = "offset 0, position 0: the record states position 1 [recovery.log.record-states-its-place]\n"
    assert capsys.readouterr() == ("", line)


def test_a_unit_that_leads_to_another_message_is_told(store: Path, capsys: Output) -> None:
    path = store / "consumequeue/T/1" / f"{0:020d}"
    content = path.read_bytes()
    units = [Unit(CommitLogPosition(at), ByteCount(123), TagCode(0)) for at in (0, 1, 10**9)]
    path.write_bytes(b"".join(map(encode_unit, units)) + content[60:])
    assert run(["store", "dump", str(store), "--topic", "T", "--queue", "1"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert lines[0] == (
        "offset 0, position 0: the unit leads to a message of queue 0 of T, offset 0"
        " [guarantee.sto.one-message-per-offset]"
    )
    assert lines[1].startswith("offset 1, position 1: ")
    assert (
        lines[2]
        == "offset 2, position 1000000000: no log file holds position 1000000000 [recovery.queue.min-offset]"
    )


def test_bodies_are_expanded_and_bytes_become_base64(tmp_path: Path, capsys: Output) -> None:
    host = host_of("127.0.0.1", 10_911)
    log, at = bytearray(4_096), 0
    bodies = ((b"\xff\x00", 0), (zlib.compress(b"hello" * 9), 1), (b"broken", 1), (zlib.compress(b"\xff"), 1))
    units = b""
    for number, (body, flag) in enumerate(bodies):
        record = make_record(
            Message("T", body, 0, {}), queue_id=QueueId(0), born_host=host, store_host=host, system_flag=flag
        )._replace(queue_offset=QueueOffset(number), position=CommitLogPosition(at))
        log[at : at + record.size] = encode_record(record)
        units += encode_unit(Unit(CommitLogPosition(at), record.size, TagCode(0)))
        at += record.size
    (tmp_path / "commitlog").mkdir()
    (tmp_path / "commitlog" / f"{0:020d}").write_bytes(log)
    (tmp_path / "consumequeue/T/0").mkdir(parents=True)
    (tmp_path / "consumequeue/T/0" / f"{0:020d}").write_bytes(units.ljust(400, b"\0"))
    assert run(["store", "dump", str(tmp_path), "--topic", "T", "--queue", "0"]) == 0
    shown = [(row["bodyKind"], row["body"], row["bodyNote"]) for row in _rows(capsys.readouterr().out)]
    assert shown[0] == ("base64", "/wA=", None)
    assert shown[1] == ("text", "hello" * 9, f"expanded from {len(bodies[1][0])} bytes to 45")
    assert shown[2][:2] == ("text", "broken")
    assert str(shown[2][2]).startswith("compressed: not a zlib stream")
    assert shown[3] == ("base64", "/w==", "expanded from 9 bytes to 1")


@pytest.fixture
def rolled(tmp_path: Path) -> Path:
    """A store of ours, stopped cleanly: ten messages in three log files, eight of them in two queue files."""
    settings = StoreSettings(log_file_size=1_000, units_per_file=4, index_slots=4, index_entries=20)
    engine = open_store(RealDisk(tmp_path / "rolled"), settings, now_ms=1_700_000_000_000)
    here = host_of("127.0.0.1", 10911)
    for number in range(10):
        engine.append(
            NewMessage("T", QueueId(number // 8), b"%d" % number * 100, here, here), 1_700_000_000_000
        )
    assert engine.close(1_700_000_000_000) is None
    return tmp_path / "rolled"


def test_records_behind_a_damaged_one_are_judged_and_dumped(rolled: Path, capsys: Output) -> None:
    log = rolled / "commitlog" / f"{0:020d}"
    record = log.read_bytes().index(b"1" * 100)
    _flip(log, record)
    _flip(log, log.read_bytes().index(b"3" * 100))
    assert run(["store", "verify", str(rolled), "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    errors = [finding["clause"] for finding in data["findings"] if finding["severity"] == "error"]
    assert (data["summary"]["records"], errors) == (8, ["store.record.body-crc"] * 2)
    assert run(["store", "dump", str(rolled), "--topic", "T", "--queue", "0", "--from-log"]) == 1
    output = capsys.readouterr()
    assert [row["queueOffset"] for row in _rows(output.out)] == [0, 2, 4, 5, 6, 7]
    places = [line.split(": ")[0] for line in output.err.splitlines()]
    assert places == [f"commitlog/{0:020d}, byte {number * 192} to {(number + 1) * 192}" for number in (1, 3)]


def test_units_behind_a_hole_are_told(rolled: Path, capsys: Output) -> None:
    queue = rolled / "consumequeue" / "T" / "0" / f"{0:020d}"
    content = queue.read_bytes()
    queue.write_bytes(content[:40] + bytes(20) + content[60:])
    assert run(["store", "dump", str(rolled), "--topic", "T", "--queue", "0"]) == 1
    output = capsys.readouterr()
    assert [row["queueOffset"] for row in _rows(output.out)] == [0, 1]
    assert output.err.startswith("offset 2: the unit is not written, and behind it consumequeue/T/0/")


def test_a_closed_standard_error_is_no_reason_to_fail(rolled: Path) -> None:
    command = f'exec "{SCRIPT}" store verify "{rolled}" 2>&-'
    ended = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, "10 records" in ended.stdout) == (0, True)


def test_a_name_with_control_characters_stays_on_its_line(rolled: Path, capsys: Output) -> None:
    (rolled / "commitlog" / "a\nb\x1b[31m").write_bytes(b"")
    assert run(["store", "verify", str(rolled)]) == 1
    assert "commitlog/a\\nb\\x1b[31m: byte 0" in capsys.readouterr().out
