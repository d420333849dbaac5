"""The broker: its rooms, what happens in each turn, and what happens from time to time.

A turn is everything that arrived at once. Its appends share a flush and are dispatched together;
held pulls hear of them, appends that were settled are answered, changed tables are on disk before
an answer that rests on them leaves.
"""

from collections.abc import Callable
from datetime import UTC, tzinfo
from random import Random
from typing import Final

from refimpl.broker.client_desk import ClientDesk
from refimpl.broker.consumer_offset_desk import ConsumerOffsetDesk
from refimpl.broker.consumer_registry import ConsumerRegistry
from refimpl.broker.flush_task import LogFlush, QueuesFlush, begin_flushes
from refimpl.broker.group_table import GroupTable
from refimpl.broker.intake import Intake
from refimpl.broker.lock_desk import LockDesk
from refimpl.broker.lock_table import LockTable
from refimpl.broker.offset_table import OffsetTable
from refimpl.broker.parts import BrokerParts
from refimpl.broker.producer_registry import ProducerRegistry
from refimpl.broker.pull_desk import PullDesk
from refimpl.broker.query_desk import QueryDesk
from refimpl.broker.recorder import Recorder
from refimpl.broker.registration import Registration
from refimpl.broker.send_back_desk import SendBackDesk
from refimpl.broker.send_desk import SendDesk
from refimpl.broker.settings import BrokerSettings
from refimpl.broker.statistics import SAMPLE_MS, Statistics
from refimpl.broker.store_history import record_recovery, record_retention
from refimpl.broker.topic_table import TopicTable
from refimpl.effect import Finish, Severity, Task
from refimpl.history_log import HistoryLog
from refimpl.ports import Disk, DiskError
from refimpl.remoting.server import ServerCore
from refimpl.store.message_store import open_store, run_guarded
from spec.broker.long_poll import derive_sweep_ms
from spec.history.event import Event
from spec.history.kind import Kind
from spec.override import override
from spec.values.host import Host
from spec.wire.code import RequestCode
from spec.wire.header.client import ConsumerGroupHeader

TICK_MS: Final = 500
"""How often a broker to which nothing happens looks whether a flush is due."""

RETENTION_MS: Final = 10_000
"""How often expired files are looked for, Apache's `cleanResourceInterval`."""

ROUNDS: Final = 8
"""How often one turn goes on with what it caused itself; what is left then has a turn of its own."""


class Broker(ServerCore):
    """One broker on one store."""

    def __init__(
        self,
        settings: BrokerSettings,
        disk: Disk,
        entropy: Random,
        now_ms: int,
        *,
        history: HistoryLog | None = None,
        zone: tzinfo = UTC,
    ) -> None:
        super().__init__(now_ms)
        self.settings = settings
        self._zone = zone
        self.recorder = Recorder(history, settings.name, settings.name)
        self.store = open_store(disk, settings.store, now_ms=now_ms, zone=zone)
        try:
            self._furnish(entropy, now_ms)
        except BaseException:
            self.store.close(now_ms)
            raise

    def _furnish(self, entropy: Random, now_ms: int) -> None:
        """The rooms are there, and what they had saved is in them."""
        settings, store, recorder = self.settings, self.store, self.recorder
        self.parts = BrokerParts(
            settings=settings,
            store=store,
            recorder=recorder,
            topics=TopicTable(settings, store.config, self.note),
            groups=GroupTable(settings, store.config, self.note),
            offsets=OffsetTable(store.config, recorder, self.note),
            consumers=ConsumerRegistry(settings, recorder, self._notify, self.note),
            statistics=Statistics(settings.cluster, now_ms, self._zone),
            intake=Intake(store, recorder),
            entropy=entropy,
            answer=self.answer,
            respond=self.respond,
            note=self.note,
        )
        parts = self.parts
        parts.topics.load(now_ms)
        parts.groups.load(now_ms)
        parts.offsets.load()
        self.producers = ProducerRegistry(settings)
        self.registration = Registration(settings, parts.topics, self, self.note)
        self._pulls = PullDesk(parts)
        self._clients = ClientDesk(parts, self.producers, self.close)
        for desk in (
            SendDesk(parts, lambda new, _: new),
            SendBackDesk(parts),
            self._pulls,
            QueryDesk(parts),
            self._clients,
            ConsumerOffsetDesk(parts),
            LockDesk(LockTable(settings, recorder)),
        ):
            self.serve(desk.handlers())

    def start(self, now_ms: int) -> None:
        """The broker makes itself known and does from now on what it does from time to time."""
        settings, parts = self.settings, self.parts
        self._record_node(Kind.UP, "broker", now_ms)
        record_recovery(self.store, self.recorder, now_ms)
        every = self.agenda.every
        sweep_ms = derive_sweep_ms(is_long_polling=settings.is_long_polling)
        every(now_ms + TICK_MS, TICK_MS, lambda _: None)
        every(now_ms + sweep_ms, sweep_ms, self._pulls.holds.sweep)
        every(now_ms + settings.member_scan_ms, settings.member_scan_ms, self._scan)
        every(now_ms + settings.first_flush_ms, settings.offset_flush_ms, self._persist_offsets)
        every(now_ms + RETENTION_MS, RETENTION_MS, self._clean)
        every(now_ms + SAMPLE_MS, SAMPLE_MS, parts.statistics.sample)
        self.registration.start(now_ms)

    @property
    def is_registered(self) -> bool:
        """Whether clients can find the broker."""
        return self.registration.is_registered

    # What the world feeds

    @override
    def on_open(self, connection: int, peer: Host, now_ms: int) -> None:
        super().on_open(connection, peer, now_ms)
        self.registration.on_open(connection, now_ms)

    @override
    def on_close(self, connection: int, now_ms: int) -> None:
        super().on_close(connection, now_ms)
        self._pulls.holds.drop_connection(connection)
        self.parts.consumers.drop_connection(connection, now_ms)
        self.producers.drop_connection(connection)
        self.registration.on_close(connection, now_ms)

    @override
    def on_finished(self, task: Task, error: DiskError | None, now_ms: int) -> None:  # noqa: ARG002 - a turn follows
        match task:
            case LogFlush() | QueuesFlush():
                task.settle(self.store, error)
                if error is not None:
                    self.note(Severity.ERROR, f"flushing failed: {error}")
            case _:
                raise TypeError(f"{task!r} is no task of a broker")

    @override
    def end_turn(self, now_ms: int) -> None:
        for _ in range(ROUNDS):
            self.effects.extend(Finish(task) for task in begin_flushes(self.store, now_ms))
            arrived = self.store.reput_all()
            if self.recorder.is_on:
                for head in arrived:
                    self.parts.intake.record_dispatch(head, now_ms)
            self._pulls.holds.on_arrivals(arrived, now_ms)
            self.parts.intake.settle(now_ms)
            if not arrived:
                break
        else:
            self.agenda.at(now_ms, lambda _: None)
        self._guarded("tables", self.parts.topics.persist)
        self._guarded("tables", self.parts.groups.persist)
        self.registration.end_turn(now_ms)

    # What happens from time to time

    def _scan(self, now_ms: int) -> None:
        """Clients that fell silent are gone.

        Clause: broker.member.expiry-is-strict
        """
        self._clients.scan(now_ms)

    def _persist_offsets(self, _now_ms: int) -> None:
        self._guarded("offsets", self.parts.offsets.persist)

    def _clean(self, now_ms: int) -> None:
        def clean() -> None:
            removed = self.store.clean(now_ms)
            if removed is not None:
                record_retention(removed, self.recorder, now_ms)

        self._guarded("expired files", clean)

    def _guarded(self, what: str, action: Callable[[], None]) -> None:
        """The action is done; a disk that refuses is told of, and the next time comes."""
        error = run_guarded(action)
        if error is not None:
            self.note(Severity.ERROR, f"{what}: {error}")

    # Ending

    def stop(self, now_ms: int) -> None:
        """Name servers hear that the broker goes; when `is_stopped`, it can be closed."""
        self.registration.end(now_ms)

    @property
    def is_stopped(self) -> bool:
        """Whether nothing is left to wait for."""
        return self.registration.is_ended and self.parts.intake.waiting_count == 0

    def shut(self, now_ms: int) -> DiskError | None:
        """Everything is on disk, and another process may open the store; the first error otherwise."""
        tables = (self.parts.topics.persist, self.parts.groups.persist, self.parts.offsets.persist)
        errors = [run_guarded(persist) for persist in tables]
        errors.append(self.store.close(now_ms))
        self._record_node(Kind.DOWN, "graceful", now_ms)
        return next((error for error in errors if error is not None), None)

    # What rooms use

    def _notify(self, connection: int, group: str) -> None:
        fields = ConsumerGroupHeader(group).encode()
        self.push(connection, RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, fields)

    def _record_node(self, kind: Kind, status: str, now_ms: int) -> None:
        node = Event("", 0, now_ms, self.recorder.node, kind, status=status)
        self.recorder.add(node)
