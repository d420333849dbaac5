"""The file that configures a broker: Apache's `broker.conf`, or TOML with the same keys.

A key that nobody knows is warned about once and passed over, as Apache does silently; a value that
cannot be used ends the start, because a broker that runs with another one than was written would
be worse than none.
"""

import difflib
import logging
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import click

from refimpl.cli.broker_key import KEYS, WITHOUT_EFFECT, BrokerFile
from refimpl.cli.properties_text import Entry, parse_properties
from refimpl.cli.setting_text import read_addresses
from refimpl.real.event_log import ROOT, tell
from spec.layout.directory import ABORT_FILE, CHECKPOINT_FILE, COMMIT_LOG_FOLDER, INDEX_FOLDER, QUEUE_FOLDER

STORE_PLACES: Final = {
    "storePathCommitLog": COMMIT_LOG_FOLDER,
    "storePathConsumeQueue": QUEUE_FOLDER,
    "storePathIndex": INDEX_FOLDER,
    "storeCheckpoint": CHECKPOINT_FILE,
    "abortFile": ABORT_FILE,
}
"""Apache lets each part of a store be elsewhere; here a store is one folder."""

STORE: Final = "~/store"
"""Apache's `storePathRootDir`."""

SIMILAR: Final = 0.75
"""How alike a known key must be to be what was probably meant; a decision."""

_LOGGER: Final = logging.getLogger(f"{ROOT}.settings")


class BrokerFileError(click.ClickException):
    """The file cannot be used; one line says where and why."""

    exit_code = 64


def read_broker_file(path: Path) -> BrokerFile:
    """What the file says."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise BrokerFileError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BrokerFileError(f"{path}: byte {error.start} is not UTF-8") from error
    try:
        entries = _parse_toml(text) if path.suffix == ".toml" else parse_properties(text)
    except ValueError as error:
        raise BrokerFileError(f"{path}: {error}") from error
    return _apply(path, entries)


def read_name_servers(addresses: Sequence[str]) -> tuple[str, ...]:
    """The addresses of an option that may be repeated, each several divided by `;`."""
    if not addresses:
        return ()
    try:
        return read_addresses(";".join(addresses))
    except ValueError as error:
        raise click.BadParameter(f"{';'.join(addresses)!r}, expected {error}.") from error


def _apply(path: Path, entries: Sequence[Entry]) -> BrokerFile:
    file = BrokerFile()
    seen: set[str] = set()
    places: list[Entry] = []
    for entry in entries:
        where = f"{path}, line {entry.line}" if entry.line else str(path)
        if entry.key in seen:
            tell(_LOGGER, logging.WARNING, "key given again, the last one counts", key=entry.key, where=where)
        elif entry.key not in KEYS and entry.key not in STORE_PLACES:
            _tell_unused(entry.key, where)
        seen.add(entry.key)
        if entry.key in STORE_PLACES:
            places.append(entry)
        elif entry.key in KEYS:
            try:
                file = KEYS[entry.key](file, entry.value)
            except ValueError as error:
                raise BrokerFileError(f"{where}: {entry.key} is {entry.value!r}, expected {error}") from error
    _check_places(path, file, places)
    return file


def _tell_unused(key: str, where: str) -> None:
    if key in WITHOUT_EFFECT:
        tell(_LOGGER, logging.INFO, "key without effect here", key=key, where=where)
        return
    known = [*KEYS, *STORE_PLACES, *WITHOUT_EFFECT]
    close = difflib.get_close_matches(key, known, 1, SIMILAR)
    fields = {"did_you_mean": close[0]} if close else {}
    tell(_LOGGER, logging.WARNING, "unknown key", key=key, where=where, **fields)


def _check_places(path: Path, file: BrokerFile, places: Sequence[Entry]) -> None:
    root = file.store or Path(STORE).expanduser()
    for entry in places:
        expected = root / STORE_PLACES[entry.key]
        if Path(entry.value).expanduser() != expected:
            raise BrokerFileError(
                f"{path}: {entry.key} is {entry.value!r}, expected {str(expected)!r}:"
                " a store is one folder here, given by storePathRootDir"
            )


def _parse_toml(text: str) -> tuple[Entry, ...]:
    return tuple(_iter_toml(tomllib.loads(text), ""))


def _iter_toml(table: Mapping[str, object], prefix: str) -> Iterator[Entry]:
    """The values as they would stand in a `broker.conf`; a table's name is the first part of its keys."""
    for name, value in table.items():
        key = prefix + name
        match value:
            case dict():
                yield from _iter_toml(value, f"{key}.")
            case list():
                yield Entry(key, ";".join(_write(key, item) for item in value), 0)
            case _:
                yield Entry(key, _write(key, value), 0)


def _write(key: str, value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | str():
            return str(value)
        case _:
            raise ValueError(f"{key} is {value!r}, expected a text, a whole number, true or false")
