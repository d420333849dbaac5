"""`mqspec decode`: every kind of input, for people and for programs, with the right exit code."""

import errno
import io
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model_tests.vectors.test_wire import BINARY_FRAME, JSON_FRAME
from refimpl.cli.entry import run
from refimpl.cli.hex_text import HexError, HexText
from spec.layout.batch import BatchEntry, encode_batch
from spec.layout.record import encode_record
from spec.layout.stored_message import make_record
from spec.override import override
from spec.values.host import host_of
from spec.values.message import Message
from spec.values.units import Milliseconds, QueueId
from spec.wire.frame import Frame, encode_frame
from spec.wire.remoting_header import Serialization

CAPTURES: Final = Path(__file__).parents[1] / "vectors" / "captures"
SCRIPT: Final = Path(sys.executable).with_name("mqspec")
ROUTE_DATA: Final = {
    "source": "argument",
    "position": 0,
    "length": 131,
    "serialization": "JSON",
    "headerLength": 123,
    "kind": "request",
    "code": 105,
    "codeName": "GET_ROUTEINFO_BY_TOPIC",
    "language": "JAVA",
    "version": 399,
    "versionName": "V4_9_3",
    "opaque": 7,
    "flag": 0,
    "remark": None,
    "extFields": {"topic": "T"},
    "header": {"topic": "T"},
    "headerNote": None,
    "bodyLength": 0,
    "bodyKind": "none",
    "bodyNote": None,
    "body": None,
}

SHORT_SEND: Final = {
    "a": "PG",
    "b": "T",
    "c": "TBW102",
    "d": "4",
    "e": "0",
    "f": "0",
    "g": "1700000000000",
    "h": "0",
    "i": "TAGS\x01a\x02",
    "k": "false",
}

Output = pytest.CaptureFixture[str]


def _frames(output: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in output.splitlines()]


def _decode(frame: Frame, capsys: Output) -> dict[str, object]:
    assert run(["decode", "--json", encode_frame(frame).hex()]) == 0
    (found,) = _frames(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    "argument",
    [
        JSON_FRAME.hex(),
        JSON_FRAME.hex().upper(),
        JSON_FRAME.hex(" "),
        JSON_FRAME.hex(":", 4),
        "0x" + JSON_FRAME.hex("\n", 16) + "\n",
        " ".join(f"0x{byte:02x}," for byte in JSON_FRAME),
    ],
)
def test_hex_is_taken_as_people_paste_it(argument: str, capsys: Output) -> None:
    assert run(["decode", "--json", argument]) == 0
    captured = capsys.readouterr()
    assert (_frames(captured.out), captured.err) == ([ROUTE_DATA], "")


def test_a_frame_is_shown_for_people(capsys: Output) -> None:
    assert run(["decode", BINARY_FRAME.hex()]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out.split("\n") == [
        "argument at 0  request GET_ROUTEINFO_BY_TOPIC (105)",
        "  43 bytes, ROCKETMQ header of 35, body of 0",
        "  opaque 7, flag 0, language JAVA, version 399 (V4_9_3)",
        "  remark  rm",
        "  fields",
        "    topic  T",
        "",
        "",
    ]


def test_bodies_are_shown_as_what_they_are(capsys: Output) -> None:
    frames = [
        Frame(0, None, 1, 1, 1, extension_fields={}, body=b'{0:"a"}'),
        Frame(318, flag=2, body=b"a=b\nc=d"),
        Frame(77_777, body=bytes(range(20))),
    ]
    assert run(["decode", b"".join(map(encode_frame, frames)).hex()]) == 0
    first, second, third, rest = capsys.readouterr().out.split("\n\n")
    assert first.splitlines() == [
        "argument at 0  response SUCCESS (0)",
        "  121 bytes, JSON header of 106, body of 7",
        "  opaque 1, flag 1, language not known, version 1",
        "  fields  none, but the table is there",
        "  body (json)",
        "    {",
        '      "0": "a"',
        "    }",
    ]
    assert second.splitlines()[0] == "argument at 121  oneway request UPDATE_NAMESRV_CONFIG (318)"
    assert second.splitlines()[-3:] == ["  body (text)", "    a=b", "    c=d"]
    assert third.splitlines()[0].endswith("request unknown code (77777)")
    assert third.splitlines()[-3:] == [
        "  body (binary)",
        "    00000000  00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f  ................",
        "    00000010  10 11 12 13                                      ....",
    ]
    assert rest == ""


def test_what_a_peer_sent_cannot_steer_the_terminal(capsys: Output) -> None:
    frame = Frame(
        10, remark="a\x1b[2Jb", extension_fields={"\x9bK": "[red]TAGS\x01x"}, body='["\x9b31m"]'.encode()
    )
    assert run(["decode", encode_frame(frame).hex()]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\x9b" not in shown
    assert "  remark  a\\x1b[2Jb\n" in shown
    assert "    \\x9bK  [red]TAGS\\x01x\n" in shown


def test_long_values_and_bodies_are_cut_for_people_only(capsys: Output) -> None:
    body = json.dumps(list(range(500))).encode()
    frame = Frame(10, remark="r" * 2_000, body=body)
    assert run(["decode", encode_frame(frame).hex()]) == 0
    shown = capsys.readouterr().out
    assert "r... (2000 characters)" in shown
    assert "... 442 lines more, --json shows them" in shown
    found = _decode(frame, capsys)
    assert (found["remark"], found["body"]) == ("r" * 2_000, list(range(500)))
    assert run(["decode", encode_frame(Frame(10, body=bytes(1_000))).hex()]) == 0
    assert "... 744 bytes more" in capsys.readouterr().out


def test_messages_of_a_pull_are_shown_with_their_fields(capsys: Output) -> None:
    host = host_of("127.0.0.1", 10911)
    record = make_record(
        Message("T1", b"hello0", 0, {"TAGS": "a"}),
        queue_id=QueueId(3),
        born_at_ms=Milliseconds(5),
        born_host=host,
        stored_at_ms=Milliseconds(6),
        store_host=host,
    )
    found = _decode(Frame(0, flag=1, remark="FOUND", body=encode_record(record) * 2), capsys)
    assert found["bodyKind"] == "messages"
    message = {
        "topic": "T1",
        "queueId": 3,
        "queueOffset": 0,
        "commitLogPosition": 0,
        "bornAtMs": 5,
        "bornHost": str(host),
        "storedAtMs": 6,
        "storeHost": str(host),
        "flag": 0,
        "sysFlag": 0,
        "reconsumeTimes": 0,
        "properties": {"TAGS": "a"},
        "bodyKind": "text",
        "bodyNote": None,
        "body": "hello0",
    }
    assert (found["body"], found["bodyNote"]) == ([message, message], "2 messages")
    broken = _decode(Frame(0, flag=1, body=encode_record(record) + encode_record(record)[:-1]), capsys)
    assert broken["bodyKind"] == "binary"
    assert str(broken["bodyNote"]).startswith(
        f"refused as records at its byte {len(encode_record(record))}: "
    )


def test_the_letters_of_a_short_send_are_shown_with_their_names_and_types(capsys: Output) -> None:
    frame = Frame(310, extension_fields=SHORT_SEND, body=b"hello")
    found = _decode(frame, capsys)
    assert found["header"] == {
        "producerGroup": "PG",
        "topic": "T",
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": 4,
        "queueId": 0,
        "sysFlag": 0,
        "bornTimestamp": 1_700_000_000_000,
        "flag": 0,
        "properties": {"TAGS": "a"},
        "unitMode": False,
    }
    assert run(["decode", encode_frame(frame).hex()]) == 0
    shown = capsys.readouterr().out
    assert "    a  producerGroup          PG\n" in shown
    assert '    i  properties             {"TAGS": "a"}\n' in shown


def test_fields_that_the_reference_would_refuse_are_named(capsys: Output) -> None:
    frame = Frame(310, extension_fields=SHORT_SEND | {"e": "x"})
    found = _decode(frame, capsys)
    assert found["header"] is None
    assert str(found["headerNote"]).startswith("refused: e: ")
    assert run(["decode", encode_frame(frame).hex()]) == 0
    assert f"  fields {found['headerNote']}\n" in capsys.readouterr().out


def test_a_compressed_body_is_expanded(capsys: Output) -> None:
    fields = SHORT_SEND | {"f": "1"}
    body = zlib.compress(b"hello" * 1_000)
    found = _decode(Frame(310, extension_fields=fields, body=body), capsys)
    assert (found["bodyKind"], found["body"]) == ("text", "hello" * 1_000)
    assert found["bodyNote"] == f"expanded from {len(body)} bytes to 5000"
    broken = _decode(Frame(310, extension_fields=fields, body=b"hello"), capsys)
    assert (broken["bodyKind"], broken["body"]) == ("text", "hello")
    assert str(broken["bodyNote"]).startswith("compressed: not a zlib stream")


def test_compressed_bodies_of_one_frame_have_a_bound_together(capsys: Output) -> None:
    host = host_of("127.0.0.1", 10911)
    large = zlib.compress(bytes(40_000_000))
    record = make_record(
        Message("T1", large, 0, {}),
        queue_id=QueueId(3),
        born_at_ms=Milliseconds(5),
        born_host=host,
        stored_at_ms=Milliseconds(6),
        store_host=host,
        system_flag=1,
    )
    assert run(["decode", encode_frame(Frame(0, flag=1, body=encode_record(record) * 2)).hex()]) == 0
    shown = capsys.readouterr().out
    assert f"expanded from {len(large)} bytes to 40000000" in shown
    assert "[store.body.bounded-expansion]" in shown


def test_the_messages_of_a_batch_are_shown(capsys: Output) -> None:
    fields = SHORT_SEND | {"m": "true"}
    entries = [BatchEntry(0, b"one", "TAGS\x01a\x02"), BatchEntry(7, b"\xff", "")]
    found = _decode(Frame(320, extension_fields=fields, body=encode_batch(entries)), capsys)
    assert (found["bodyKind"], found["bodyNote"]) == ("messages", "2 messages")
    assert found["body"] == [
        {"flag": 0, "properties": {"TAGS": "a"}, "bodyKind": "text", "bodyNote": None, "body": "one"},
        {"flag": 7, "properties": {}, "bodyKind": "binary", "bodyNote": None, "body": "ff"},
    ]


@pytest.mark.parametrize(
    ("body", "note"),
    [
        (b'{"clientID":"c","consumerDataSet":[],"producerDataSet":[]}', "HeartbeatData"),
        (
            b'{"clientID":"c","consumerDataSet":5,"producerDataSet":[]}',
            "refused as HeartbeatData: consumerDataSet",
        ),
    ],
)
def test_a_json_body_is_held_against_its_record(body: bytes, note: str, capsys: Output) -> None:
    assert str(_decode(Frame(34, body=body), capsys)["bodyNote"]).startswith(note)


def test_a_boolean_that_java_reads_otherwise_is_pointed_out(capsys: Output) -> None:
    assert run(["decode", encode_frame(Frame(310, extension_fields=SHORT_SEND | {"m": "1"})).hex()]) == 0
    assert "    m  batch                  1 (reads as false)\n" in capsys.readouterr().out


def test_a_file_that_cannot_be_read_is_wrong_usage(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    class Failing(io.BytesIO):
        @override
        def read(self, _size: int | None = -1) -> bytes:
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Failing()))
    assert run(["decode", "-"]) == 64
    line = "mqspec decode: cannot read stdin: Input/output error. See `mqspec decode --help`.\n"
    assert capsys.readouterr() == ("", line)


def test_a_value_with_nothing_to_see_is_quoted(capsys: Output) -> None:
    assert run(["decode", encode_frame(Frame(105, remark="", extension_fields={"topic": " "})).hex()]) == 0
    shown = capsys.readouterr().out
    assert '  remark  ""\n' in shown
    assert '    topic  " "\n' in shown


@pytest.mark.parametrize("body", [b"{broken", b"[" * 1_000, b'{"a":"\\ud800"}'])
def test_a_body_that_only_begins_like_json_is_text(body: bytes, capsys: Output) -> None:
    found = _decode(Frame(10, body=body), capsys)
    assert (found["bodyKind"], found["body"]) == ("text", body.decode())


@pytest.mark.parametrize(
    "content",
    [
        JSON_FRAME + BINARY_FRAME,
        (JSON_FRAME + BINARY_FRAME).hex().encode(),
        b"\n " + JSON_FRAME.hex(" ").encode() + b"\n\n" + BINARY_FRAME.hex(":").encode() + b"\n",
        (
            f'{{"ev":"open"}}\n{{"hex":"{JSON_FRAME.hex()}"}}\n\n{{"hex":"{BINARY_FRAME.hex()}","code":1}}'
        ).encode(),
    ],
    ids=["frames", "hex", "spaced hex", "capture"],
)
def test_a_file_holds_frames_hex_or_a_capture(content: bytes, tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "input"
    path.write_bytes(content)
    assert run(["decode", "--json", str(path)]) == 0
    found = _frames(capsys.readouterr().out)
    assert [(frame["serialization"], frame["length"]) for frame in found] == [("JSON", 131), ("ROCKETMQ", 43)]
    is_capture = content.startswith(b"{")
    assert [frame["position"] for frame in found] == ([0, 0] if is_capture else [0, 131])
    places = [f"{path}:2", f"{path}:4"] if is_capture else [str(path)] * 2
    assert [frame["source"] for frame in found] == places


def test_standard_input_is_read_like_a_file(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    for content in (JSON_FRAME, JSON_FRAME.hex().encode(), f'{{"hex":"{JSON_FRAME.hex()}"}}'.encode()):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert run(["decode", "--json", "-"]) == 0
        (found,) = _frames(capsys.readouterr().out)
        assert found["codeName"] == "GET_ROUTEINFO_BY_TOPIC"


@pytest.mark.parametrize("capture", sorted(CAPTURES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_captures_of_real_clients_decode(capture: Path, capsys: Output) -> None:
    rows = [json.loads(line) for line in capture.read_text("utf-8").splitlines()]
    requests = [row for row in rows if "hex" in row]
    assert run(["decode", "--json", str(capture)]) == 0
    captured = capsys.readouterr()
    assert [frame["codeName"] for frame in _frames(captured.out)] == [row["name"] for row in requests]
    assert captured.err == f"{len(requests)} frames; {len(rows) - len(requests)} rows hold no frame\n"
    assert run(["decode", str(capture)]) == 0


@pytest.mark.parametrize(
    ("argument", "line"),
    [
        (JSON_FRAME[:-1].hex(), "argument: byte 130: the bytes end after 130, expected a frame of 131"),
        ("00000004 02000000", "argument: byte 4: header type 2, expected 0 (JSON) or 1 (ROCKETMQ)"),
        ("00000006 00000002 5b5d", "argument: byte 8: header JSON: expected a JSON object"),
        ("160301", "argument: byte 0: first byte 0x16 is a TLS hello"),
        (JSON_FRAME.hex() + "ff", "argument: byte 131: first byte 0xff, expected 0x00"),
    ],
)
def test_a_broken_frame_ends_with_1_and_one_line(argument: str, line: str, capsys: Output) -> None:
    assert run(["decode", "--json", argument]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(line)
    assert captured.err.count("\n") == 1
    assert captured.err.endswith("]\n")
    assert len(_frames(captured.out)) == argument.startswith(JSON_FRAME.hex())


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2"),
        (b"GET / HTTP/1.1\r\n\r\n", "HTTP"),
        (b"DELETE / HTTP/1.1\r\n\r\n", "HTTP"),
    ],
)
def test_a_stranger_s_bytes_in_a_file_are_named(
    content: bytes, name: str, tmp_path: Path, capsys: Output
) -> None:
    path = tmp_path / "input"
    path.write_bytes(content)
    assert run(["decode", str(path)]) == 1
    assert capsys.readouterr().err.startswith(f"{path}: byte 0: this is {name}")


def test_a_capture_goes_on_after_a_broken_row(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "capture.jsonl"
    path.write_text(f'{{"hex":"00"}}\n{{"hex":"{JSON_FRAME.hex()}"}}\n')
    assert run(["decode", "--json", str(path)]) == 1
    captured = capsys.readouterr()
    assert (
        captured.err == f"{path}:1: byte 1: the bytes end after 1, expected at least 8 [wire.frame.whole]\n"
    )
    assert len(_frames(captured.out)) == 1


@pytest.mark.parametrize(
    ("argument", "line"),
    [
        ("", "the argument is empty: give hex digits, a file or - for standard input."),
        (" : ", "the argument is empty: give hex digits, a file or - for standard input."),
        ("00000", "'00000' is no file, and no hex either: 5 hex digits, expected an even number."),
        ("00zz", "'00zz' is no file, and no hex either: character 'z' at 2 is not a hex digit."),
        (
            "no/such/file",
            "'no/such/file' is no file, and no hex either: character 'n' at 0 is not a hex digit.",
        ),
        (
            "é" * 50,
            f"'{'é' * 40}...' is no file, and no hex either: character '\\xc3' at 0 is not a hex digit.",
        ),
        (".", "cannot read .: Is a directory."),
        (
            "0" * 9_999,
            f"'{'0' * 40}...' is no file, and no hex either: 9999 hex digits, expected an even number.",
        ),
    ],
)
def test_an_argument_that_holds_no_frame_is_wrong_usage(argument: str, line: str, capsys: Output) -> None:
    assert run(["decode", argument]) == 64
    assert capsys.readouterr() == ("", f"mqspec decode: {line} See `mqspec decode --help`.\n")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("", "{} is empty: expected frames, hex text or a capture."),
        (" \n", "{} is empty: expected frames, hex text or a capture."),
        ("hello", "{} is neither frames nor hex nor a capture: character 'h' at 0 is not a hex digit."),
        ("00 0", "{} is neither frames nor hex nor a capture: 3 hex digits, expected an even number."),
        ('{"hex":"0"}', "{}:1: hex: 1 hex digits, expected an even number."),
        ('{"hex":5}', "{}:1: hex must be a text with the digits of a frame."),
        ('{"hex":""}', "{}:1: hex must be a text with the digits of a frame."),
        ('{"a":1}\nb', "{}:2 is not a JSON object, expected one on every line."),
        ('{"a":' + "[" * 10_000, "{}:1 is not a JSON object, expected one on every line."),
        ('{"a":1}\n', "{} has no row with a frame: expected the digits of one under hex."),
    ],
)
def test_a_file_that_holds_no_frame_is_wrong_usage(
    content: str, line: str, tmp_path: Path, capsys: Output
) -> None:
    path = tmp_path / "input"
    path.write_text(content)
    assert run(["decode", str(path)]) == 64
    assert capsys.readouterr() == (
        "",
        f"mqspec decode: {line.format(path)} See `mqspec decode --help`.\n",
    )


def test_white_space_without_end_is_not_kept(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "input"
    path.write_bytes(b" \n" * 50_000 + b"g")
    assert run(["decode", str(path)]) == 64
    assert "character 'g' at 100000 is not a hex digit" in capsys.readouterr().err
    path.write_bytes(b" \n" * 10_000_000 + b"g")
    assert run(["decode", str(path)]) == 64
    assert capsys.readouterr().err == (
        f"mqspec decode: {path} begins with more than 1048576 bytes of white space:"
        " expected frames, hex text or a capture. See `mqspec decode --help`.\n"
    )


def test_standard_input_that_is_closed_is_wrong_usage() -> None:
    ended = subprocess.run(
        ["sh", "-c", 'exec "$0" decode - <&-', SCRIPT], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (64, "")
    assert ended.stderr == "mqspec decode: standard input is closed. See `mqspec decode --help`.\n"


def test_a_large_file_is_read_block_by_block(tmp_path: Path) -> None:
    frame = encode_frame(Frame(310, serialization=Serialization.ROCKETMQ, body=bytes(16_000_000)))
    path = tmp_path / "input"
    path.write_text(f"{frame.hex()}\n" * 2)
    done = subprocess.run([SCRIPT, "decode", path], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("... 15999744 bytes more") == 2


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_that_goes_away_is_no_broken_frame(options: list[str], tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(JSON_FRAME * 20_000)
    with subprocess.Popen(
        [SCRIPT, "decode", *options, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_output_that_cannot_say_a_character_escapes_it() -> None:
    frame = Frame(10, remark="ü\U0001f600")
    done = subprocess.run(
        [SCRIPT, "decode", encode_frame(frame).hex()],
        check=False,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"  remark  \\xfc\\U0001f600\n" in done.stdout


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=12), st.sampled_from(["", " ", ":", "0x", "\n0X"]), st.integers(1, 5))
def test_hex_text_gives_the_same_bytes_for_every_cut(data: bytes, separator: str, step: int) -> None:
    text = "".join(separator + f"{byte:02x}" for byte in data).encode()
    reader = HexText()
    found = [reader.feed(text[start : start + step]) for start in range(0, len(text), step)]
    found.append(reader.feed(b"", is_last=True))
    assert (b"".join(found), reader.digits) == (data, 2 * len(data))


def test_hex_text_says_where_a_strange_character_stands() -> None:
    reader = HexText()
    assert reader.feed(b"00 0x11:2") == b"\x00\x11"
    with pytest.raises(HexError, match="character 'g' at 11 is not a hex digit"):
        reader.feed(b"2 g")
