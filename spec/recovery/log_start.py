"""Where recovery begins to read the log.

Reading a large log from its beginning takes long, and most of it was on disk long ago. After a
clean stop Apache begins at the third-last file. After a crash it looks for the newest file whose
first message was stored before the checkpoint's safe time: everything before that file was on
disk when the checkpoint was written. If no file qualifies it begins at the first.
"""

import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

from spec.layout.record import BORN_HOST_AT, SYSTEM_FLAG_AT
from spec.layout.record_patch import derive_stored_at_position
from spec.layout.stored_message import Magic
from spec.recovery.store_file import LoadedFile
from spec.values.host import IPV6_HOST_SIZE
from spec.values.units import Index, Milliseconds

FILES_REREAD: Final = 3
"""How many of the last files are read again after a clean stop; Apache's choice."""

_MAGIC: Final = struct.Struct(">I")
_FLAG: Final = struct.Struct(">i")
_TIME: Final = struct.Struct(">q")
_HEAD_SIZE: Final = BORN_HOST_AT + IPV6_HOST_SIZE + _TIME.size


class FileHead(NamedTuple):
    """What the first record of a file says about the file."""

    magic: int
    stored_at_ms: Milliseconds


def read_file_head(file: LoadedFile) -> FileHead:
    """Magic and store time at the start of a file; zeros where the file is too short for them."""
    data = file.read(0, _HEAD_SIZE).ljust(_HEAD_SIZE, b"\0")
    system_flag: int = _FLAG.unpack_from(data, SYSTEM_FLAG_AT)[0]
    stored_at_ms: int = _TIME.unpack_from(data, derive_stored_at_position(system_flag))[0]
    return FileHead(_MAGIC.unpack_from(data, 4)[0], Milliseconds(stored_at_ms))


def derive_clean_start(file_count: int) -> Index:
    """The number of the file at which recovery begins after a clean stop.

    Clause: recovery.start.clean-stop
    """
    return Index(max(0, file_count - FILES_REREAD))


def is_safe_start(magic: int, stored_at_ms: int, safe_time_ms: int) -> bool:
    """Whether everything before a file with this first record was on disk at the checkpoint.

    Clause: recovery.start.crash
    """
    return magic in (Magic.MESSAGE, Magic.MESSAGE_V2) and 0 < stored_at_ms <= safe_time_ms


def derive_crash_start(heads: Sequence[FileHead], safe_time_ms: int) -> Index:
    """The number of the file at which recovery begins after a crash.

    Clause: recovery.start.crash
    """
    for number in range(len(heads) - 1, 0, -1):
        if is_safe_start(heads[number].magic, heads[number].stored_at_ms, safe_time_ms):
            return Index(number)
    return Index(0)
