"""Every frame that real clients sent is decoded, written back, and its signature recomputed."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from spec.wire.code import RequestCode
from spec.wire.frame import Frame, FrameReader, decode_frame, encode_frame
from spec.wire.language import Language
from spec.wire.remoting_header import Serialization
from spec.wire.signature import is_signature_valid

CAPTURES: Final = Path(__file__).parent / "captures"

ROWS: Final = {"open": 14, "req": 192, "reply": 184, "push": 6, "close": 14}
"""How many rows of each kind there are; only `req` rows hold frames."""

SECRETS: Final = {"ak": "sk", "": ""}
"""Access keys in the captures and their secrets; the C++ client signs with empty ones."""

SIGNED: Final = {"ak": 52, "": 103, None: 37}
"""How many frames each access key signed; None is not signed."""


class Row(NamedTuple):
    """One line of a capture."""

    place: str
    members: dict[str, object]


def _rows() -> Iterator[Row]:
    for path in sorted(CAPTURES.glob("*.jsonl")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            yield Row(f"{path.name}:{number}", json.loads(line))


def _requests() -> list[Row]:
    return [row for row in _rows() if row.members["ev"] == "req"]


def _data(row: Row) -> bytes:
    digits = row.members["hex"]
    assert isinstance(digits, str)
    return bytes.fromhex(digits)


def _coerce(value: object) -> str:
    """A recorded extension value as text, by a way of its own: JSON's spelling of it."""
    return value if isinstance(value, str) else json.dumps(value)


def _expected(row: Row) -> Frame:
    """The frame as the recorder understood it."""
    header, text = row.members["header"], row.members["body"]
    assert isinstance(header, dict)
    assert isinstance(text, str)
    return Frame(
        header["code"],
        Language[header["language"]],
        header["version"],
        header["opaque"],
        header["flag"],
        header.get("remark"),
        {key: _coerce(value) for key, value in header["extFields"].items()},
        Serialization.JSON,
        text.encode("latin-1"),  # recorded a character a byte: three bodies are compressed
    )


def test_the_captures_hold_the_rows_that_are_counted_on() -> None:
    assert Counter(row.members["ev"] for row in _rows()) == ROWS
    assert [row.place for row in _rows() if ("hex" in row.members) != (row.members["ev"] == "req")] == []


def test_no_connection_closed_inside_a_frame() -> None:
    """A close row holds what was left of a frame; a capture that has some needs a test of its own."""
    partial = [row.members["partial"] for row in _rows() if row.members["ev"] == "close"]
    assert partial == [""] * ROWS["close"]


@pytest.mark.clause(
    "wire.json-header.extension-coerced", "wire.json-header.object", "wire.json-header.defaults"
)
def test_every_frame_decodes_to_the_recorded_header_and_body() -> None:
    checked = Counter[str]()
    for row in _requests():
        frame = decode_frame(_data(row))
        assert frame == _expected(row), row.place
        assert (len(frame.body), frame.serialization) == (row.members["bodylen"], row.members["ser"])
        assert RequestCode(frame.code).name == row.members["name"], row.place
        checked["none" if frame.language is None else frame.language.name] += 1
    assert checked == {"JAVA": 89, "CPP": 103}


def test_the_captures_exercise_what_makes_these_clients_special() -> None:
    kinds = Counter[str]()
    newlines = 0
    for row in _requests():
        header, raw = row.members["header"], row.members["rawheader"]
        assert isinstance(header, dict)
        kinds.update(type(value).__name__ for value in header["extFields"].values())
        newlines += isinstance(raw, str) and raw.endswith("\n")
    assert kinds == {"str": 996, "int": 381, "bool": 9}
    assert newlines == 103


@pytest.mark.clause("wire.frame.whole", "wire.frame.body")
def test_every_frame_written_back_decodes_equal_in_both_formats() -> None:
    checked = Counter[Serialization]()
    for row in _requests():
        frame = decode_frame(_data(row))
        assert decode_frame(encode_frame(frame)) == frame, row.place
        binary = frame._replace(serialization=Serialization.ROCKETMQ)
        # The binary format cannot tell an empty remark (C++) or an empty table (JS, unsigned) from none.
        assert decode_frame(encode_frame(binary)) == binary._replace(
            remark=frame.remark or None, extension_fields=frame.extension_fields or None
        ), row.place
        checked.update(Serialization)
    assert checked == {Serialization.JSON: ROWS["req"], Serialization.ROCKETMQ: ROWS["req"]}


@pytest.mark.clause("wire.signature.hmac", "wire.signature.all-fields", "wire.signature.content")
def test_every_signature_recomputes() -> None:
    checked = Counter[str | None]()
    for row in _requests():
        frame = decode_frame(_data(row))
        fields = frame.extension_fields or {}
        access_key = fields.get("AccessKey")
        if access_key is None:
            assert "Signature" not in fields, row.place
        else:
            secret_key = SECRETS[access_key]
            assert is_signature_valid(fields, frame.body, secret_key), row.place
            assert not is_signature_valid(fields, frame.body, secret_key + "x"), row.place
        checked[access_key] += 1
    assert checked == SIGNED


@pytest.mark.clause("wire.frame.any-cut")
@pytest.mark.parametrize("step", [1, 7, 1_000, 1 << 20])
def test_each_connection_is_one_stream_however_it_is_cut(step: int) -> None:
    for path in sorted(CAPTURES.glob("*.jsonl")):
        rows = [row for row in _requests() if row.place.startswith(path.name + ":")]
        stream = b"".join(map(_data, rows))
        reader = FrameReader()
        found = [
            frame
            for start in range(0, len(stream), step)
            for frame in reader.feed(stream[start : start + step])
        ]
        reader.finish()
        assert found == [_expected(row) for row in rows], path.name
