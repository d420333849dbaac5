"""The ways in which a store writes, each set up so that little is pending when it begins."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from model_tests.simulation.crash_image import Budget, CrashImages, Figures, WatchedDisk
from model_tests.simulation.player import StorePlayer
from model_tests.simulation.scene import ASYNC, DAY_MS, NOW, Clock, kill_process, message
from refimpl.store.message_store import open_store
from refimpl.store.settings import StoreSettings
from spec.store.flush import FlushMode

LARGE: Final = "K\1" + "v" * 1_100 + "\2TAGS\1a\2"
"""Properties over three sectors."""

SMALL: Final = replace(ASYNC, log_file_size=2_048, index_slots=8, index_entries=30)
WIDE: Final = replace(SMALL, log_file_size=8_192)


@dataclass(frozen=True, slots=True)
class CrashPath:
    """A way of writing: what stands before, and what is done while crashes are tried."""

    prepare: Callable[[StorePlayer], None]
    act: Callable[[StorePlayer], None]
    settings: StoreSettings = SMALL


def fill(player: StorePlayer, count: int, size: int = 20, queues: int = 1) -> None:
    for number in range(count):
        player.clock.now_ms += 1
        body = bytes([number]) * size
        player.append(message(body, queue_id=number % queues, properties=f"KEYS\1k{number} shared\2"))
    player.flush()


def start(player: StorePlayer) -> None:
    fill(player, 2)


def append_small(player: StorePlayer) -> None:
    for number in range(3):
        player.append(message(b"n" * 40, queue_id=number % 2, properties=f"KEYS\1n{number}\2"))
    player.begin_log_flush(is_forced=True)
    player.append(message(b"between", properties="KEYS\1between\2"))
    player.end_log_flush()
    player.settle()
    player.reput()


def append_large(player: StorePlayer) -> None:
    player.append(message(b"n" * 600, properties=LARGE))
    player.append(message(b"", properties=LARGE.replace("v", "w")))
    player.append(message(player.ledger.entries[0].data))


def append_batch(player: StorePlayer) -> None:
    player.append(*(message(bytes([number]) * 300, properties=f"KEYS\1b{number}\2") for number in range(5)))
    player.begin_log_flush(is_forced=True)
    player.end_log_flush()
    player.reput()


def roll_log(player: StorePlayer) -> None:
    for number in range(3):
        player.append(message(bytes([number + 1]) * 1_200))
    player.begin_log_flush(is_forced=True)
    player.append(message(b"r" * 1_200))
    player.end_log_flush()
    player.settle()


def roll_queue(player: StorePlayer) -> None:
    for number in range(9):
        player.append(message(bytes([number + 1])))
    player.begin_log_flush(is_forced=True)
    player.end_log_flush()
    player.reput()
    player.begin_queue_flush(is_forced=True)
    player.end_queue_flush()


def roll_index(player: StorePlayer) -> None:
    for number in range(15):
        player.clock.now_ms += 1_000
        player.append(message(properties=f"KEYS\1i{number} j{number}\2"))
    player.begin_log_flush(is_forced=True)
    player.end_log_flush()
    player.reput()


def write_checkpoint(player: StorePlayer) -> None:
    player.clock.now_ms += 10_000
    player.append(message(b"c" * 500, properties="KEYS\1c\2"))
    player.begin_log_flush(is_forced=True)
    player.end_log_flush()
    player.reput()
    player.append(message(b"unsynced" * 50, properties=LARGE))
    player.begin_queue_flush(is_forced=True)
    player.end_queue_flush()


def stop_cleanly(player: StorePlayer) -> None:
    player.append(message(b"last", properties="KEYS\1last\2"))
    player.close()


def prepare_retention(player: StorePlayer) -> None:
    fill(player, 14, 500, queues=2)
    player.clock.now_ms += 1


def remove_old(player: StorePlayer) -> None:
    player.append(message(b"n" * 500))
    player.clean(30 * DAY_MS)
    player.flush()


def prepare_torn(player: StorePlayer) -> None:
    """A crash kept the later half of what was pending: recovery has to cut."""
    fill(player, 9, 200, queues=2)
    for number in range(5):
        player.append(message(bytes([number + 1]) * 700, properties=f"KEYS\1t{number}\2"))
    player.reput()
    player.disk.crash(range(len(player.disk.pending()) // 3, len(player.disk.pending())))


def prepare_killed(player: StorePlayer) -> None:
    fill(player, 9, 200, queues=2)
    player.append(message(b"t" * 700, properties=LARGE))
    player.append(message(b"u" * 700, properties="KEYS\1u\2"))
    player.reput()
    kill_process(player.disk)


def recover(player: StorePlayer) -> None:
    """Only the start: the ledger is as it was before the crash."""
    open_store(player.disk, player.settings, now_ms=player.now_ms)


PATHS: Final[Mapping[str, CrashPath]] = {
    "append": CrashPath(start, append_small, WIDE),
    "append of large properties": CrashPath(start, append_large, WIDE),
    "append of a batch": CrashPath(start, append_batch, WIDE),
    "roll of the log": CrashPath(start, roll_log),
    "roll of a queue": CrashPath(start, roll_queue, WIDE),
    "roll of the index": CrashPath(start, roll_index, WIDE),
    "checkpoint": CrashPath(start, write_checkpoint, WIDE),
    "clean stop": CrashPath(start, stop_cleanly),
    "retention": CrashPath(prepare_retention, remove_old),
    "recovery after a power cut": CrashPath(prepare_torn, recover),
    "recovery after a kill": CrashPath(prepare_killed, recover),
}


def run_path(
    path: CrashPath,
    mode: FlushMode,
    budget: Budget,
    *,
    settings: StoreSettings | None = None,
    ignores_syncs: bool = False,
) -> Figures:
    """What was found when every crash on the way was tried."""
    clock = Clock(NOW)
    disk = WatchedDisk(1, clock=clock)
    chosen = replace(settings or path.settings, flush_mode=mode)
    player = StorePlayer(disk, chosen, clock)
    path.prepare(player)
    disk.is_sync_ignored = ignores_syncs
    images = CrashImages(disk, chosen, clock, budget)
    images.watch(player.ledger)
    path.act(player)
    return images.stop(player.ledger)
