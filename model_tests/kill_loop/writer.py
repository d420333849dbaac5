"""The process that is killed: it writes until then, and says what it acknowledges.

Run as `python -m model_tests.kill_loop.writer FOLDER --seed N --mode sync`. Syncs end in another
thread while appends go on, as in a broker. Now and then the store is closed and opened again, so
that a kill also meets a clean stop. Whoever reads its reports may go away: the next report fails,
and the writer ends.
"""

import argparse
import os
import signal
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from enum import Enum
from pathlib import Path
from random import Random
from typing import Final

from model_tests.kill_loop.load import derive_digest, draw_messages, encode_expected, settings_for
from model_tests.kill_loop.report import Acknowledged, Opened, Opening, Report, Retiring, encode_report
from refimpl.ports import DiskError
from refimpl.real.disk import RealDisk
from refimpl.store.commit_log import LogSync
from refimpl.store.message_store import MessageStore, open_store, run_guarded
from refimpl.store.new_message import NewMessage, derive_delayed, prepare
from spec.broker.send import PutStatus
from spec.layout.record_head import RecordHead
from spec.store.flush import FlushMode
from spec.values.units import Milliseconds, QueueOffset

LIFETIME_S: Final = 60
"""No writer lives longer, whatever became of its parent."""
KEPT_FILES: Final = 12
"""With more log files the oldest are removed."""
FAR_LATER_MS: Final = 10**12
"""By then every file is expired."""
REPORT_TO: Final = 1


class Promise(Enum):
    """When a message is acknowledged."""

    KEPT = "kept"
    EARLY = "early"
    """Before it is appended: wrong, and the loop must notice."""


def now_ms() -> int:
    """The time of this machine."""
    return time.time_ns() // 1_000_000


def say(*reports: Report) -> None:
    """The parent can read the reports, whatever becomes of this process."""
    for report in reports:
        os.write(REPORT_TO, encode_report(report))


class Writer:
    """One open store, and what is promised of it."""

    def __init__(self, store: MessageStore, pool: ThreadPoolExecutor) -> None:
        self.store = store
        self._pool = pool
        self._sync: tuple[LogSync, Future[DiskError | None]] | None = None
        self._unsettled: dict[int, list[Acknowledged]] = {}

    def append(self, messages: list[NewMessage], promise: Promise) -> None:
        """The messages are in the log, and acknowledged as soon as they may be."""
        if promise is Promise.EARLY:
            say(*_acknowledge(messages, _predict(self.store, messages)))
            time.sleep(0.005)
        appended = (
            self.store.append(messages[0], now_ms())
            if len(messages) == 1
            else self.store.append_batch(messages, now_ms())
        )
        if appended.status is not PutStatus.PUT_OK:
            raise SystemExit(f"an append was refused: {appended.detail}")
        reports = _acknowledge(messages, appended.records)
        if promise is Promise.EARLY:
            return
        if appended.ticket is None:
            say(*reports)
        else:
            self._unsettled[appended.ticket] = reports

    def flush(self, *, waits: bool = False) -> None:
        """Syncs go on, and what they settled is acknowledged."""
        if self._sync is not None and (waits or self._sync[1].done()):
            sync, outcome = self._sync
            self._sync = None
            self.store.end_log_flush(sync, outcome.result())
        if self._sync is None and (sync_now := self.store.begin_log_flush(now_ms())):
            self._sync = sync_now, self._pool.submit(run_guarded, sync_now.files.finish)
        for ticket, status in self.store.settle(now_ms()):
            reports = self._unsettled.pop(ticket)
            if status is PutStatus.PUT_OK:
                say(*reports)
        queue_flush = self.store.begin_queue_flush(now_ms())
        if queue_flush is not None:
            self.store.end_queue_flush(queue_flush, run_guarded(queue_flush.finish))

    def retire(self) -> None:
        """Old log files are gone, and the parent knew before that they may be."""
        starts = self.store.log.sequence.starts
        if len(starts) > KEPT_FILES:
            say(Retiring(starts[-1]))
            self.store.retention.clean(now_ms() + FAR_LATER_MS)

    def close(self) -> None:
        """The stop was a clean one."""
        while self._sync is not None:
            self.flush(waits=True)
        error = self.store.close(now_ms())
        if error is not None:
            raise SystemExit(f"the store did not close: {error}")

    @property
    def is_behind(self) -> bool:
        """Whether so many messages wait for a sync that more would not be news."""
        return len(self._unsettled) > 20


def _predict(store: MessageStore, messages: list[NewMessage]) -> list[RecordHead]:
    """What the heads of a single message will be."""
    (message,) = messages
    message = derive_delayed(message, len(store.settings.delays_ms))
    prepared = prepare(message, store.settings)
    offset = store.queues.next_offsets.get((message.topic, message.queue_id), QueueOffset(0))
    return [prepared.head(offset, store.log.plan(prepared.size), Milliseconds(now_ms()))]


def _acknowledge(messages: Iterable[NewMessage], heads: Iterable[RecordHead]) -> list[Acknowledged]:
    return [
        Acknowledged(
            head.topic,
            head.queue_id,
            head.queue_offset,
            head.position,
            head.size,
            derive_digest(encode_expected(message, head)),
            message.property_text.partition("KEYS\x01")[2].partition("\x02")[0],
        )
        for message, head in zip(messages, heads, strict=True)
    ]


def write_until_killed(folder: Path, seed: int, mode: FlushMode, promise: Promise) -> None:
    """Messages are written for ever; the store is closed and opened again now and then."""
    random = Random(seed)
    number = 0
    with ThreadPoolExecutor(1) as pool:
        while True:
            say(Opening())
            writer = Writer(open_store(RealDisk(folder), settings_for(mode), now_ms=now_ms()), pool)
            say(Opened())
            for _ in range(random.randint(20, 1_500)):
                number += 1
                messages = draw_messages(random, f"{seed}.{number}")
                writer.append(messages if promise is Promise.KEPT else messages[:1], promise)
                writer.flush(waits=writer.is_behind)
                if random.random() < 0.3:
                    writer.store.reput()
                writer.retire()
            writer.close()


def main() -> None:
    """The process writes as it was told, until it is killed."""
    parser = argparse.ArgumentParser(prog="python -m model_tests.kill_loop.writer")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--mode", choices=[mode.name for mode in FlushMode], required=True)
    parser.add_argument("--promise", choices=[promise.name for promise in Promise], default="KEPT")
    chosen = parser.parse_args()
    signal.alarm(LIFETIME_S)
    try:
        write_until_killed(chosen.folder, chosen.seed, FlushMode[chosen.mode], Promise[chosen.promise])
    except BrokenPipeError:
        # Nobody listens any more.
        os._exit(0)


if __name__ == "__main__":
    main()
