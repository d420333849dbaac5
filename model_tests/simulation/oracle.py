"""What the specification says about the files on a disk, before a store looks at them."""

from functools import partial

from refimpl.ports import Disk
from refimpl.store.settings import StoreSettings
from spec.layout.checkpoint import Checkpoint, decode_checkpoint
from spec.layout.directory import (
    ABORT_FILE,
    CHECKPOINT_FILE,
    COMMIT_LOG_FOLDER,
    INDEX_FOLDER,
    QUEUE_FOLDER,
    parse_queue_folder,
)
from spec.recovery.state import QueueName, RecoveredStore, RecoveryRule, StoppedStore
from spec.recovery.store import recover_store
from spec.recovery.store_file import FoundFile
from spec.rejection import Rejection


def _read(disk: Disk, path: str, at: int, length: int) -> bytes:
    return disk.open(path).read(at, length)


def find_files(disk: Disk, folder: str) -> list[FoundFile]:
    return [
        FoundFile(entry.name, entry.size, partial(_read, disk, f"{folder}/{entry.name}"))
        for entry in disk.list_folder(folder)
    ]


def _find_queues(disk: Disk) -> dict[QueueName, list[FoundFile]]:
    return {
        QueueName(topic.name, queue_id): find_files(disk, f"{QUEUE_FOLDER}/{topic.name}/{entry.name}")
        for topic in disk.list_folder(QUEUE_FOLDER)
        for entry in disk.list_folder(f"{QUEUE_FOLDER}/{topic.name}")
        if (queue_id := parse_queue_folder(entry.name)) is not None
    }


def _find_checkpoint(disk: Disk) -> Checkpoint:
    if not disk.has(CHECKPOINT_FILE):
        return Checkpoint()
    try:
        return decode_checkpoint(_read(disk, CHECKPOINT_FILE, 0, 4096))
    except Rejection:
        return Checkpoint()


def derive_recovered(disk: Disk, settings: StoreSettings) -> RecoveredStore:
    """The one state in which the store on this disk may come back."""
    stopped = StoppedStore(
        find_files(disk, COMMIT_LOG_FOLDER),
        _find_queues(disk),
        find_files(disk, INDEX_FOLDER),
        _find_checkpoint(disk),
        is_clean_stop=not disk.has(ABORT_FILE),
    )
    return recover_store(stopped, settings.shape(), rule=RecoveryRule(scrutiny=settings.scrutiny))
