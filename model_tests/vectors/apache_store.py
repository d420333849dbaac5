"""The store of a real Apache 4.9.3 broker that was killed, read from its archive.

The broker ran with small files: commit-log files of 16384 bytes, consume-queue files of 10 units,
index files of 50 slots and 200 entries.
"""

import tarfile
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final

from spec.broker.schedule import DELAY_LEVELS
from spec.layout.checkpoint import decode_checkpoint
from spec.layout.index_file import derive_file_size
from spec.recovery.state import QueueName, StoppedStore, StoreShape
from spec.recovery.store_file import FoundFile, found_bytes
from spec.values.units import QueueId

ARCHIVE: Final = Path(__file__).parent / "stores" / "apache-4.9.3-crashed.tar.gz"
SLOTS: Final = 50
ENTRIES: Final = 200
SHAPE: Final = StoreShape(
    log_file_size=16_384,
    units_per_file=10,
    index_file_size=derive_file_size(SLOTS, ENTRIES),
    delays_ms=DELAY_LEVELS,
)


@cache
def read_archive() -> dict[str, bytes]:
    """Every file of the archive by its path."""
    with tarfile.open(ARCHIVE) as archive:
        files = ((member.name, archive.extractfile(member)) for member in archive if member.isfile())
        return {name: content.read() for name, content in files if content is not None}


def files_under(prefix: str) -> list[FoundFile]:
    """The files of one directory, in the order of their names."""
    parent = PurePosixPath(prefix)
    return [
        found_bytes(PurePosixPath(path).name, content)
        for path, content in sorted(read_archive().items())
        if PurePosixPath(path).parent == parent
    ]


def queue_names() -> list[QueueName]:
    """The queues that have a directory."""
    parts = [PurePosixPath(path).parts for path in sorted(read_archive())]
    found = {(part[2], int(part[3])) for part in parts if part[:2] == ("store", "consumequeue")}
    return [QueueName(topic, QueueId(queue_id)) for topic, queue_id in sorted(found)]


def stopped_store() -> StoppedStore:
    """The store as a start finds it."""
    return StoppedStore(
        log=files_under("store/commitlog"),
        queues={
            name: files_under(f"store/consumequeue/{name.topic}/{name.queue_id}") for name in queue_names()
        },
        index_files=files_under("store/index"),
        checkpoint=decode_checkpoint(read_archive()["store/checkpoint"]),
        is_clean_stop="store/abort" not in read_archive(),
    )
