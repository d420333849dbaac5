"""Where `mqspec decode` finds frames: in hex, in files of frames, in captures.

A plain frame starts with a zero byte, hex and captures are text, so the first bytes tell the
kinds apart. Everything is read block by block: a file may be larger than memory.
"""

import io
import json
import string
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, TypeAlias

import click

from refimpl.cli.hex_text import HexError, HexText
from spec.rejection import Rejection
from spec.wire.frame import FRAME_LIMIT, Frame, FrameReader

_BLOCK: Final = 1 << 16
_LINE_LIMIT: Final = 4 * FRAME_LIMIT
"""Longest line of a capture: the largest frame in hex takes half of it."""

_TEXT: Final = frozenset(string.printable.encode())
_SPACE: Final = string.whitespace.encode()
_HTTP: Final = (b"PRI ", b"GET ", b"POST", b"PUT ", b"HEAD", b"OPTI", b"DELE", b"PATC", b"CONN")
_EXPECTED: Final = "expected frames, hex text or a capture"
_BLANK_LIMIT: Final = 1 << 20
"""Most white space before anything else; it is kept, since positions and line numbers count it."""


class Found(NamedTuple):
    """A frame, where it stands and how many bytes it takes."""

    place: str
    position: int
    size: int
    frame: Frame


class Broken(NamedTuple):
    """Bytes that are no frame: where, and why."""

    place: str
    rejection: Rejection


class NoFrame(NamedTuple):
    """A row of a capture that tells of something else."""

    place: str


Item: TypeAlias = Found | Broken | NoFrame


class InputError(click.UsageError):
    """Input that cannot hold frames at all."""

    exit_code = 64


def read_items(argument: str) -> Iterator[Item]:
    """What the argument holds: `-` is standard input, a path is a file, anything else must be hex."""
    if argument == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed.")
        yield from _read_stream("stdin", sys.stdin.buffer)
        return
    path = Path(argument)
    try:
        is_path = argument != "" and path.exists()
    except (OSError, ValueError):
        is_path = False  # too long, or with a NUL: no name of a file
    if not is_path:
        yield from _read_argument(argument)
        return
    try:
        stream = path.open("rb")
    except OSError as error:
        raise InputError(f"cannot read {argument}: {error.strerror}.") from None
    with stream:
        yield from _read_stream(argument, stream)


def _read_argument(argument: str) -> Iterator[Item]:
    content = argument.encode("utf-8", "replace")
    try:
        data = HexText().feed(content, is_last=True)
    except HexError as error:
        shown = argument if len(argument) <= 40 else argument[:40] + "..."  # noqa: PLR2004 - a line's worth
        raise InputError(f"{shown!r} is no file, and no hex either: {error}.") from None
    if not data:
        raise InputError("the argument is empty: give hex digits, a file or - for standard input.")
    yield from _read_frames("argument", iter([data]))


def _read_stream(name: str, stream: BinaryIO) -> Iterator[Item]:
    blocks = _read_blocks(name, stream)
    start = _read_start(name, blocks)
    content = _chain(start, blocks)
    first = start.lstrip(_SPACE)
    if first.startswith(b"{"):
        yield from _read_capture(name, content)
    elif _TEXT.issuperset(first) and not start.startswith(_HTTP):
        yield from _read_frames(name, _read_hex(name, content))
    else:
        yield from _read_frames(name, content)


def _read_start(name: str, blocks: Iterator[bytes]) -> bytes:
    """The first blocks, up to one that holds more than white space."""
    blanks: list[bytes] = []
    size = 0
    for block in blocks:
        if block.strip(_SPACE):
            return b"".join((*blanks, block))
        blanks.append(block)
        size += len(block)
        if size > _BLANK_LIMIT:
            raise InputError(
                f"{name} begins with more than {_BLANK_LIMIT} bytes of white space: {_EXPECTED}."
            )
    raise InputError(f"{name} is empty: {_EXPECTED}.")


def _read_blocks(name: str, stream: BinaryIO) -> Iterator[bytes]:
    # A pipe gives what it has, so that frames show as they come.
    read = stream.read1 if isinstance(stream, io.BufferedReader) else stream.read
    while block := _read_block(name, read):
        yield block


def _read_block(name: str, read: Callable[[int], bytes]) -> bytes:
    try:
        return read(_BLOCK)
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror}.") from None


def _chain(start: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    yield start
    yield from blocks


def _read_hex(name: str, blocks: Iterator[bytes]) -> Iterator[bytes]:
    text = HexText()
    try:
        for block in blocks:
            yield text.feed(block)
        yield text.feed(b"", is_last=True)
    except HexError as error:
        raise InputError(f"{name} is neither frames nor hex nor a capture: {error}.") from None


def _read_frames(place: str, blocks: Iterator[bytes]) -> Iterator[Found | Broken]:
    reader = FrameReader()
    position = 0
    try:
        for block in blocks:
            for frame in reader.feed(block):
                yield Found(place, position, reader.position - position, frame)
                position = reader.position
        reader.finish()
    except Rejection as rejection:
        yield Broken(place, rejection)


def _read_capture(name: str, blocks: Iterator[bytes]) -> Iterator[Item]:
    """The frames of a capture: JSON lines, a frame as digits under `hex`."""
    has_frame = False
    for number, line in enumerate(_read_lines(name, blocks), 1):
        place = f"{name}:{number}"
        if not line.strip():
            continue
        try:
            row: object = json.loads(line)
        except (ValueError, RecursionError):
            raise InputError(f"{place} is not a JSON object, expected one on every line.") from None
        digits = row.get("hex") if isinstance(row, dict) else None
        if digits is None:
            yield NoFrame(place)
        elif not isinstance(digits, str) or not digits:
            raise InputError(f"{place}: hex must be a text with the digits of a frame.")
        else:
            has_frame = True
            yield from _read_frames(place, iter([_decode_row(place, digits)]))
    if not has_frame:
        raise InputError(f"{name} has no row with a frame: expected the digits of one under hex.")


def _decode_row(place: str, digits: str) -> bytes:
    try:
        return HexText().feed(digits.encode("utf-8", "replace"), is_last=True)
    except HexError as error:
        raise InputError(f"{place}: hex: {error}.") from None


def _read_lines(name: str, blocks: Iterator[bytes]) -> Iterator[bytes]:
    rest: list[bytes] = []
    size = 0
    for block in blocks:
        *lines, last = block.split(b"\n")
        for line in lines:
            yield b"".join((*rest, line))
            rest.clear()
            size = 0
        rest.append(last)
        size += len(last)
        if size > _LINE_LIMIT:
            raise InputError(f"{name}: a line of more than {_LINE_LIMIT} bytes, too long for a frame.")
    yield b"".join(rest)
