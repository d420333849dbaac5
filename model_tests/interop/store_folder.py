"""A store as it lies on disk: what a start finds there, and what its files hold."""

import shutil
import tarfile
from pathlib import Path

from spec.layout.checkpoint import Checkpoint, decode_checkpoint
from spec.layout.config.config_file import DELAY_OFFSETS, ConfigFile, TableT
from spec.layout.consume_queue import UNIT_SIZE
from spec.layout.directory import (
    ABORT_FILE,
    CHECKPOINT_FILE,
    COMMIT_LOG_FOLDER,
    CONFIG_FOLDER,
    INDEX_FOLDER,
    QUEUE_FOLDER,
    parse_queue_folder,
)
from spec.layout.index_chain import iter_chain
from spec.layout.index_file import (
    decode_entry,
    decode_header,
    decode_slot,
    derive_entry_position,
    derive_slot_position,
)
from spec.recovery.queue import QueueContent, read_queue
from spec.recovery.state import QueueName, StoppedStore, StoreShape
from spec.recovery.store_file import FoundFile, arrange_files, found_bytes
from spec.values.units import CommitLogPosition, Milliseconds, QueueOffset

_NO_TIMES = Checkpoint(Milliseconds(0), Milliseconds(0), Milliseconds(0))


def _files_in(folder: Path) -> list[FoundFile]:
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    return [found_bytes(path.name, path.read_bytes()) for path in paths if path.is_file()]


def find_queue_names(store: Path) -> list[QueueName]:
    """The queues that have a folder."""
    folders = (folder for topic in store.glob(f"{QUEUE_FOLDER}/*") for folder in topic.iterdir())
    found = ((folder.parent.name, parse_queue_folder(folder.name)) for folder in folders)
    return sorted(QueueName(topic, queue_id) for topic, queue_id in found if queue_id is not None)


def _files_of_queue(store: Path, name: QueueName) -> list[FoundFile]:
    return _files_in(store / QUEUE_FOLDER / name.topic / str(name.queue_id))


def read_stopped_store(store: Path) -> StoppedStore:
    """The store as a start finds it; everything is read into memory."""
    checkpoint = store / CHECKPOINT_FILE
    return StoppedStore(
        log=_files_in(store / COMMIT_LOG_FOLDER),
        queues={name: _files_of_queue(store, name) for name in find_queue_names(store)},
        index_files=_files_in(store / INDEX_FOLDER),
        checkpoint=decode_checkpoint(checkpoint.read_bytes()) if checkpoint.is_file() else _NO_TIMES,
        is_clean_stop=not (store / ABORT_FILE).exists(),
    )


def read_units(store: Path, shape: StoreShape) -> dict[QueueName, QueueContent]:
    """The units that the files of the queues hold, of the queues that hold any."""
    size = shape.units_per_file * UNIT_SIZE
    contents = {
        name: read_queue(arrange_files(_files_of_queue(store, name), size))
        for name in find_queue_names(store)
    }
    return {name: content for name, content in contents.items() if content.units}


def read_index(file: FoundFile, slots: int) -> list[tuple[int, CommitLogPosition]]:
    """The hash and the place of every key in an index file."""
    data = file.read(0, file.size)
    header = decode_header(data)
    return [
        (entry.key_hash, entry.position)
        for slot in range(slots)
        for entry in iter_chain(
            decode_slot(data, derive_slot_position(slot)),
            header.next_entry,
            lambda number: decode_entry(data, derive_entry_position(number, slots)),
        )
    ]


def read_config(store: Path, file: ConfigFile[TableT]) -> TableT | None:
    """The table in a configuration file; None where no file was written."""
    path = store / CONFIG_FOLDER / file.name
    return file.decode(path.read_bytes()) if path.is_file() else None


def read_delay_offset(store: Path, level: int) -> QueueOffset:
    """How far a delay level was delivered, by the file."""
    table = read_config(store, DELAY_OFFSETS)
    return (table.offset_table if table else {}).get(level, QueueOffset(0))


def copy_store(store: Path, target: Path) -> Path:
    """The target is a copy, with the files' times."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(store, target)
    return target


def unpack_store(archive: Path, target: Path) -> Path:
    """The store in an archive lies below the target, which held nothing before."""
    shutil.rmtree(target, ignore_errors=True)
    with tarfile.open(archive) as opened:
        opened.extractall(target, filter="data")
    return target / "store"
