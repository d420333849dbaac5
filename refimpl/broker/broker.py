"""The broker: its rooms, what happens in each turn, and what happens from time to time.

A turn is everything that arrived at once. Its appends share a flush and are dispatched together;
held pulls hear of them, appends that were settled are answered, changed tables are on disk before
an answer that rests on them leaves.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, tzinfo
from random import Random
from typing import Final

from refimpl.broker.access_guard import AccessGuard
from refimpl.broker.account_desk import AccountDesk
from refimpl.broker.account_store import AccountStore
from refimpl.broker.administration import Administration, Doors
from refimpl.broker.check_request import CheckRequest
from refimpl.broker.client_desk import ClientDesk
from refimpl.broker.consumer_offset_desk import ConsumerOffsetDesk
from refimpl.broker.consumer_registry import ConsumerRegistry
from refimpl.broker.end_transaction import EndTransactionDesk
from refimpl.broker.flush_task import LogFlush, QueuesFlush, begin_flushes
from refimpl.broker.group_table import GroupTable
from refimpl.broker.half_ledger import HalfLedger
from refimpl.broker.half_store import HalfStore
from refimpl.broker.intake import Intake
from refimpl.broker.lock_desk import LockDesk
from refimpl.broker.lock_table import LockTable
from refimpl.broker.offset_table import OffsetTable
from refimpl.broker.parts import BrokerParts
from refimpl.broker.producer_registry import ProducerRegistry
from refimpl.broker.pull_desk import PullDesk
from refimpl.broker.query_desk import QueryDesk
from refimpl.broker.recorder import Recorder
from refimpl.broker.registration import Outward, Registration
from refimpl.broker.reply_desk import ReplyDesk
from refimpl.broker.resume_check_desk import ResumeCheckDesk
from refimpl.broker.schedule_service import ScheduleService
from refimpl.broker.send_back_desk import SendBackDesk
from refimpl.broker.send_desk import SendDesk
from refimpl.broker.settings import BrokerSettings
from refimpl.broker.statistics import SAMPLE_MS, Statistics
from refimpl.broker.store_history import record_recovery, record_retention
from refimpl.broker.topic_table import TopicTable
from refimpl.broker.transaction_check import TransactionCheck
from refimpl.effect import Finish, Severity, Task
from refimpl.history_log import HistoryLog
from refimpl.ports import Disk, DiskError
from refimpl.remoting.request import Handler, Reply, Request, refuse
from refimpl.remoting.server import ServerCore
from refimpl.store.message_store import open_store, run_guarded
from spec.broker.long_poll import derive_sweep_ms
from spec.history.event import Event
from spec.history.kind import Kind
from spec.override import override
from spec.values.host import Host
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.client import ConsumerGroupHeader

TICK_MS: Final = 500
"""How often a broker to which nothing happens looks whether a flush is due."""

RETENTION_MS: Final = 10_000
"""How often expired files are looked for, Apache's `cleanResourceInterval`."""

MESSAGE_CODES: Final = frozenset(
    {
        *(RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE),
        *(RequestCode.SEND_REPLY_MESSAGE, RequestCode.SEND_REPLY_MESSAGE_V2),
    }
)
"""Requests whose bodies are messages."""

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
        # Administrators may change some of them: this broker has its own.
        self.settings = replace(settings)
        self._zone = zone
        self.recorder = Recorder(history, settings.name, settings.name)
        self.store = open_store(disk, settings.store, now_ms=now_ms, zone=zone)
        try:
            self._furnish(disk, entropy, now_ms)
        except BaseException:
            self.store.close(now_ms)
            raise

    def _furnish(self, disk: Disk, entropy: Random, now_ms: int) -> None:
        """The rooms are there, and what they had saved is in them."""
        settings, store, recorder = self.settings, self.store, self.recorder
        self.parts = parts = BrokerParts(
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
        parts.topics.load(now_ms)
        parts.groups.load(now_ms)
        parts.offsets.load()
        self.accounts = (
            AccountStore(disk, settings.account_file, self.note) if settings.account_file else None
        )
        self._access = AccessGuard(self.accounts, self.note) if self.accounts is not None else None
        self.producers = ProducerRegistry(settings)
        self.schedule = ScheduleService(parts, self.agenda)
        self.halves = HalfStore(store, recorder, settings.host)
        ledger = HalfLedger()
        requests = CheckRequest(self.producers, self.push)
        self.transaction_check = TransactionCheck(parts, self.agenda, self.halves, ledger, requests)
        self.pulls = PullDesk(parts)
        self._clients = ClientDesk(parts, self.producers, self.close)
        doors = Doors(
            producers=self.producers,
            delay_table=self.schedule.table,
            delay_progress=lambda: self.schedule.progress,
            on_permission=self._register_anew,
            push=self.push,
            call=self.call,
            peers=self.peers,
        )
        administration = Administration(parts, doors, now_ms)
        outward = Outward(self.agenda, self.connect, self.call)
        self.registration = Registration(parts, outward, administration.filter_servers.addresses)
        for desk in (
            SendDesk(parts, self.halves.prepare),
            SendBackDesk(parts),
            self.pulls,
            QueryDesk(parts),
            self._clients,
            ConsumerOffsetDesk(parts),
            LockDesk(LockTable(settings, recorder)),
            ReplyDesk(parts, self.producers, self.call),
            EndTransactionDesk(parts, self.agenda, self.halves, ledger),
            ResumeCheckDesk(parts),
            AccountDesk(settings, self.accounts),
            administration,
        ):
            self.serve(desk.handlers())

    def start(self, now_ms: int) -> None:
        """The broker makes itself known and does from now on what it does from time to time."""
        settings, every = self.settings, self.agenda.every
        self._record_node(Kind.UP, "broker", now_ms)
        record_recovery(self.store, self.recorder, now_ms)
        sweep_ms = derive_sweep_ms(is_long_polling=settings.is_long_polling)
        every(now_ms + TICK_MS, TICK_MS, lambda _: None)
        every(now_ms + sweep_ms, sweep_ms, self.pulls.holds.sweep)
        every(now_ms + settings.member_scan_ms, settings.member_scan_ms, self._clients.scan)
        every(now_ms + settings.first_flush_ms, settings.offset_flush_ms, self._persist)
        every(now_ms + RETENTION_MS, RETENTION_MS, self._clean)
        every(now_ms + SAMPLE_MS, SAMPLE_MS, self.parts.statistics.sample)
        if self.accounts is not None and self._access is not None:
            every(now_ms + settings.account_look_ms, settings.account_look_ms, self.accounts.look)
            every(now_ms + settings.account_look_ms, settings.account_look_ms, self._access.tell)
        self.schedule.start(now_ms)
        self.transaction_check.start(now_ms)
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
        self.pulls.holds.drop_connection(connection)
        self.parts.consumers.drop_connection(connection, now_ms)
        self.producers.drop_connection(connection)
        self.registration.on_close(connection, now_ms)

    @override
    def handle(self, handler: Handler, request: Request) -> Reply | None:
        refused = self._check_size(request)
        if refused is None and self._access is not None:
            refused = self._access.check(request)
        return handler(request) if refused is None else refused

    def _check_size(self, request: Request) -> Reply | None:
        """The refusal of a body that would take too long to read; messages are taken as they are."""
        size, limit = len(request.frame.body), self.settings.json_byte_limit
        if size <= limit or request.frame.code in MESSAGE_CODES:
            return None
        excess = f"a body of {size} bytes is refused, {limit} are the limit where no message is sent"
        self.note(Severity.WARNING, f"request {request.frame.code} from {request.peer}: {excess}")
        return refuse(ResponseCode.SYSTEM_ERROR, excess)

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
            self.halves.on_arrivals(arrived, now_ms)
            self.schedule.on_arrivals(arrived, now_ms)
            self.pulls.holds.on_arrivals(arrived, now_ms)
            self.parts.intake.settle(now_ms)
            if not arrived:
                break
        else:
            self.agenda.at(now_ms, lambda _: None)
        self._guarded("tables", self.parts.topics.persist)
        self._guarded("tables", self.parts.groups.persist_urgent)
        self.registration.end_turn(now_ms)

    # What happens from time to time

    def _persist(self, _now_ms: int) -> None:
        self._guarded("offsets", self.parts.offsets.persist)
        self._guarded("tables", self.parts.groups.persist)

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
        tables = (
            self.parts.topics.persist,
            self.parts.groups.persist,
            lambda: self.transaction_check.persist(now_ms),
            self.parts.offsets.persist,
            lambda: self.schedule.persist(now_ms),
        )
        # Cursors are saved only as far as the log is on disk.
        errors = [self.store.flush(now_ms, is_forced=True), *map(run_guarded, tables)]
        errors.append(self.store.close(now_ms))
        self._record_node(Kind.DOWN, "graceful", now_ms)
        return next((error for error in errors if error is not None), None)

    # What rooms use

    def _register_anew(self, now_ms: int) -> None:
        self.registration.begin_anew(now_ms)

    def _notify(self, connection: int, group: str) -> None:
        fields = ConsumerGroupHeader(group).encode()
        self.push(connection, RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, fields)

    def _record_node(self, kind: Kind, status: str, now_ms: int) -> None:
        node = Event("", 0, now_ms, self.recorder.node, kind, status=status)
        self.recorder.add(node)
