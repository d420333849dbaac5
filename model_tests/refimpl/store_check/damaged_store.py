"""The store of a real broker, and small damages to it."""

import struct
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from model_tests.refimpl.store_check.memory_disk import MemoryDisk
from model_tests.vectors.apache_store import read_archive
from refimpl.store_check.finding import Finding
from refimpl.store_check.verify import verify_store

Files: TypeAlias = dict[str, bytes]
Damage: TypeAlias = Callable[[Files], None]

INDEX: Final = "index/20261118055841126"
ENTRIES_AT: Final = 40 + 50 * 4
"""Where entry 0 of the index file stands: it has 50 slots."""


def log_path(number: int) -> str:
    return f"commitlog/{number * 16_384:020d}"


def crashed_files() -> Files:
    """The store as the broker left it when it was killed."""
    archive = read_archive().items()
    return {path.removeprefix("store/"): content for path, content in archive if path.startswith("store/")}


def stopped_files() -> Files:
    """The same store, claiming a clean stop, without the one offset that was written into it by hand."""
    files = crashed_files()
    del files["abort"]
    files["config/consumerOffset.json"] = b'{"offsetTable":{"T@PYG":{0:11,1:1}}}'
    return files


def verify_files(files: Files) -> Sequence[Finding]:
    return verify_store(MemoryDisk(files)).findings


def flip(path: str, at: int, bits: int = 0x01) -> Damage:
    """One byte is another one."""

    def apply(files: Files) -> None:
        content = bytearray(files[path])
        content[at] ^= bits
        files[path] = bytes(content)

    return apply


def put(path: str, at: int, form: str, *values: int) -> Damage:
    """Numbers are written over what stands at a byte."""

    def apply(files: Files) -> None:
        content = bytearray(files[path])
        struct.pack_into(form, content, at, *values)
        files[path] = bytes(content)

    return apply


def cut(path: str, size: int) -> Damage:
    """The file ends after so many bytes."""

    def apply(files: Files) -> None:
        files[path] = files[path][:size]

    return apply


def remove(path: str) -> Damage:
    """The file, or all files of the folder, are gone."""

    def apply(files: Files) -> None:
        for name in [name for name in files if name == path or name.startswith(f"{path}/")]:
            del files[name]

    return apply


def add(path: str, content: bytes) -> Damage:
    """There is a file more, or with another content."""

    def apply(files: Files) -> None:
        files[path] = content

    return apply
