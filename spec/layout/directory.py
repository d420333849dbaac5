"""The directory of a store: which name holds what.

    commitlog/<start>                       the log
    consumequeue/<topic>/<queue id>/<start> the queues
    index/<local time>                      the key index
    config/*.json                           the tables, see `spec.layout.config`
    checkpoint                              times up to which everything is on disk
    abort                                   there while a broker runs, and after it was killed
    lock                                    held by the broker that runs

Another broker must find a store by these names, and two brokers must never run on one. Names that
come from outside (topics, groups, client ids) become folders, so a name that would lead out of its
folder is refused.
"""

from datetime import datetime
from typing import Final

from spec.layout.commit_log_file import encode_file_name
from spec.rejection import Rejection
from spec.values.java_literal import decode_int32
from spec.values.units import QueueId

COMMIT_LOG_FOLDER: Final = "commitlog"
QUEUE_FOLDER: Final = "consumequeue"
INDEX_FOLDER: Final = "index"
CONFIG_FOLDER: Final = "config"
CHECKPOINT_FILE: Final = "checkpoint"
ABORT_FILE: Final = "abort"
LOCK_FILE: Final = "lock"

LOCK_CONTENT: Final = b"lock"
"""What Apache writes into the lock file; the lock itself is on its first byte."""


def check_folder_name(name: str, clause: str) -> str:
    """The name, if it can be that of a folder below the one it stands in."""
    if not name or name in {".", ".."} or "/" in name or "\0" in name:
        raise Rejection(clause, 0, f"{name[:80]!r} is no name of a folder")
    return name


def derive_queue_path(topic: str, queue_id: QueueId, start: int) -> tuple[str, str, str, str]:
    """The parts of the path of a queue's file that begins at byte `start` of the queue.

    Clause: store.directory.queue-folders
    """
    folder = check_folder_name(topic, "store.directory.queue-folders")
    return QUEUE_FOLDER, folder, str(queue_id), encode_file_name(start)


def parse_queue_folder(name: str) -> QueueId | None:
    """The queue whose folder has this name; None for a name that is no number, which is passed over.

    Clause: store.directory.queue-folders
    """
    try:
        return QueueId(decode_int32(name))
    except Rejection:
        return None


def encode_index_name(moment: datetime) -> str:
    """The name of an index file begun at this local time: year to milliseconds, 17 digits.

    Clause: store.index.file-name
    """
    return f"{moment:%Y%m%d%H%M%S}".rjust(14, "0") + f"{moment.microsecond // 1000:03d}"
