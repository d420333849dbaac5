"""Syncs of the store as tasks: the world finishes them, the store hears of their end."""

from typing import NamedTuple, TypeAlias

from refimpl.ports import DiskError
from refimpl.store.commit_log import LogSync
from refimpl.store.message_store import MessageStore
from refimpl.store.queue_flush import QueueFlush


class LogFlush(NamedTuple):
    """A sync of the log."""

    sync: LogSync

    def finish(self) -> None:
        """What the sync is about is durable."""
        self.sync.files.finish()

    def settle(self, store: MessageStore, error: DiskError | None) -> None:
        """The store knows how it ended."""
        store.end_log_flush(self.sync, error)


class QueuesFlush(NamedTuple):
    """A sync of queues, or of the checkpoint behind them."""

    flush: QueueFlush

    def finish(self) -> None:
        """What the sync is about is durable."""
        self.flush.finish()

    def settle(self, store: MessageStore, error: DiskError | None) -> None:
        """The store knows how it ended."""
        store.end_queue_flush(self.flush, error)


FlushTask: TypeAlias = LogFlush | QueuesFlush


def begin_flushes(store: MessageStore, now_ms: int) -> list[FlushTask]:
    """The flushes that are due and not under way."""
    tasks: list[FlushTask] = []
    sync = store.begin_log_flush(now_ms)
    if sync is not None:
        tasks.append(LogFlush(sync))
    flush = store.begin_queue_flush(now_ms)
    if flush is not None:
        tasks.append(QueuesFlush(flush))
    return tasks
