"""A broker whose delays and transactions are looked at, and the words in which that is said."""

from collections.abc import Sequence
from random import Random

from model_tests.refimpl.broker.broker_world import BrokerWorld, Client
from refimpl.broker.broker import Broker
from refimpl.broker.schedule_service import ScheduleService
from refimpl.broker.send_desk import SendDesk
from refimpl.broker.transactions import Transactions
from refimpl.ports import DiskError
from spec.history.event import Event
from spec.history.kind import Kind
from spec.layout.record import decode_record
from spec.layout.record_head import RecordHead
from spec.layout.stored_message import StoredMessage
from spec.override import override
from spec.values.message import Message
from spec.wire.body.heartbeat import HeartbeatData, ProducerData
from spec.wire.code import RequestCode
from spec.wire.frame import Frame
from spec.wire.header.send import SendMessageResponseHeader
from spec.wire.header.transaction import CheckTransactionStateHeader, EndTransactionHeader

COMMIT, ROLLBACK, UNKNOWN = 8, 12, 0
GROUP = "interop-producer"
PERIOD_MS = 60_000


class TimedBroker(Broker):
    """A broker with the rooms that wait for the time."""

    @override
    def _furnish(self, entropy: Random, now_ms: int) -> None:
        super()._furnish(entropy, now_ms)
        self.schedule = ScheduleService(self.parts, self.agenda)
        self.transactions = Transactions(self.parts, self.agenda, self.producers, self.push)
        self.serve(SendDesk(self.parts, self.transactions.prepare).handlers())
        self.serve(self.transactions.handlers())
        holds = self._pulls.holds
        before = holds.on_arrivals

        def on_arrivals(arrived: Sequence[RecordHead], now_ms: int) -> None:
            before(arrived, now_ms)
            self.schedule.on_arrivals(arrived, now_ms)
            self.transactions.on_arrivals(arrived, now_ms)

        holds.on_arrivals = on_arrivals  # type: ignore[method-assign] # until the broker has these rooms

    @override
    def start(self, now_ms: int) -> None:
        super().start(now_ms)
        self.schedule.start(now_ms)
        self.transactions.start(now_ms)

    @override
    def shut(self, now_ms: int) -> DiskError | None:
        self.store.flush(now_ms, is_forced=True)
        self.transactions.persist(now_ms)
        self.schedule.persist(now_ms)
        return super().shut(now_ms)


class TimedWorld(BrokerWorld):
    """A world whose broker delays messages and ends transactions."""

    @override
    def _make(self, now_ms: int) -> Broker:
        broker = TimedBroker(self.settings, self.disk, Random(7), now_ms, history=self._history)
        broker.start(now_ms)
        return broker

    @property
    def now_ms(self) -> int:
        """The time."""
        return self.world.now_ms

    def notes(self) -> list[str]:
        """What the broker told whoever runs it."""
        return [told.note.text for told in self.world.notes]

    def stored(self, topic: str, queue_id: int = 0) -> list[StoredMessage]:
        """What can be read in a queue."""
        store = self.broker.store
        queue = store.queue(topic, queue_id)
        units = [queue.read_unit(offset) for offset in range(queue.min_offset, queue.max_offset)]
        messages = [store.query.by_position(unit.position) for unit in units if unit is not None]
        return [message for message in messages if message is not None]

    def bodies(self, topic: str, queue_id: int = 0) -> list[bytes]:
        """The bodies of what can be read in a queue."""
        return [message.body for message in self.stored(topic, queue_id)]


def delayed(level: int, body: bytes = b"late", topic: str = "T", **properties: str) -> Message:
    return Message(topic, body, 0, {"DELAY": str(level), **properties})


class Producer:
    """A transactional producer that does what it is told."""

    def __init__(self, world: TimedWorld, group: str = GROUP) -> None:
        self.world = world
        self.group = group
        self.client: Client = world.connect()
        self.heartbeat()

    def heartbeat(self) -> None:
        """The broker knows that the group is online."""
        body = HeartbeatData("p1", (ProducerData(self.group),), ()).encode()
        self.client.call(RequestCode.HEART_BEAT, None, body)

    def prepare(self, key: str, topic: str = "T", **properties: str) -> SendMessageResponseHeader:
        """A half message stands in the store; what the producer was told."""
        kept = {"TRAN_MSG": "true", "PGROUP": self.group, "UNIQ_KEY": key, **properties}
        message = Message(topic, b"body of " + key.encode(), 0, kept)
        return self.client.send(message, 0, system_flag=4, born_at_ms=self.world.now_ms)

    def decide(self, sent: SendMessageResponseHeader, kind: int, **changes: object) -> Frame:
        """The answer to a decision."""
        position = int(sent.msg_id[16:], 16)
        fields = {
            "producer_group": self.group,
            "tran_state_table_offset": sent.queue_offset,
            "commit_log_offset": position,
            "commit_or_rollback": kind,
            "msg_id": sent.msg_id,
        }
        header = EndTransactionHeader(**{**fields, **changes})  # type: ignore[arg-type] # each test knows its field
        return self.client.ask(RequestCode.END_TRANSACTION, header)

    def questions(self) -> list[tuple[CheckTransactionStateHeader, StoredMessage]]:
        """The checks that came since the last look."""
        pushes, self.client.caller.pushes = self.client.caller.pushes, []
        return [
            (CheckTransactionStateHeader.decode(push.extension_fields), decode_record(push.body))
            for push in pushes
            if push.code == RequestCode.CHECK_TRANSACTION_STATE
        ]


def describe(events: list[Event], *columns: str) -> list[tuple[object, ...]]:
    """The kind and these columns of each event."""
    return [(event.kind, *(getattr(event, column) for column in columns)) for event in events]


TRANSACTION_KINDS = (
    *(Kind.HALF, Kind.RESOLVE, Kind.ROUND, Kind.CHECK, Kind.REQUEUE, Kind.EXCEED),
    Kind.HALF_CURSOR,
)
