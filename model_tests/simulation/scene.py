"""A small store on a simulated disk: the words in which crash tests speak."""

from collections.abc import Callable
from typing import Final

from refimpl.ports import DiskError
from refimpl.simulated.crash import Pending
from refimpl.simulated.disk import SimulatedDisk
from refimpl.store.message_store import MessageStore, open_store
from refimpl.store.new_message import NewMessage
from refimpl.store.settings import StoreSettings
from spec.layout.directory import LOCK_FILE
from spec.store.flush import FlushMode
from spec.values.host import Host, host_of
from spec.values.units import Milliseconds, QueueId

NOW: Final = 1_700_000_000_000
DAY_MS: Final = 86_400_000
HOST: Final = host_of("127.0.0.1", 10911)
IPV6_HOST: Final = host_of("::1", 10911)
ALL_TIME: Final = 1 << 50

ASYNC: Final = StoreSettings(log_file_size=1024, units_per_file=4, index_slots=5, index_entries=8)
"""Files so small that everything rolls: a message of 700 bytes fills a log file."""
SYNC: Final = StoreSettings(
    log_file_size=4096, units_per_file=4, index_slots=5, index_entries=8, flush_mode=FlushMode.SYNC
)


class Clock:
    """The time, as the disk and the store see it."""

    def __init__(self, now_ms: int = NOW) -> None:
        self.now_ms = now_ms

    def __call__(self) -> int:
        """Now."""
        return self.now_ms


def new_disk(seed: int = 1, clock: Clock | None = None) -> SimulatedDisk:
    return SimulatedDisk(seed, clock=clock or Clock())


def message(
    body: bytes = b"x", queue_id: int = 0, topic: str = "T", properties: str = "", *, host: Host = HOST
) -> NewMessage:
    return NewMessage(topic, QueueId(queue_id), body, host, HOST, properties, born_at_ms=Milliseconds(NOW))


def open_small(disk: SimulatedDisk, settings: StoreSettings = ASYNC, now_ms: int = NOW) -> MessageStore:
    return open_store(disk, settings, now_ms=now_ms)


def flush_log(store: MessageStore, now_ms: int = NOW) -> None:
    """The log is on disk; the queues are not touched."""
    sync = store.begin_log_flush(now_ms, is_forced=True)
    assert sync is not None
    sync.files.finish()
    store.end_log_flush(sync, None)


def flush_all(store: MessageStore, now_ms: int = NOW) -> DiskError | None:
    """Everything that was appended can be read and is on disk."""
    error = store.flush(now_ms, is_forced=True)
    store.reput_all()
    return error or store.flush(now_ms, is_forced=True)


def kill_process(disk: SimulatedDisk) -> None:
    """The store is gone, and the system still has in memory what it wrote."""
    disk.unlock(LOCK_FILE)


def find_pending(disk: SimulatedDisk, is_meant: Callable[[str], bool]) -> list[int]:
    """The indices of the pending changes that are spelled so."""
    return [number for number, change in enumerate(disk.pending()) if is_meant(spell(change))]


def spell(change: Pending) -> str:
    """The change in words, as `<write commitlog/… sector 0>`."""
    return repr(change)
