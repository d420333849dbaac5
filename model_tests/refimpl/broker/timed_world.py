"""A broker whose delays and transactions are looked at, and the words in which that is said."""

from model_tests.refimpl.broker.broker_world import BrokerWorld, Client
from spec.history.event import Event
from spec.history.kind import Kind
from spec.layout.record import decode_record
from spec.layout.stored_message import StoredMessage
from spec.values.message import Message
from spec.values.units import Milliseconds, QueueId
from spec.wire.body.heartbeat import HeartbeatData, ProducerData
from spec.wire.code import RequestCode
from spec.wire.frame import Frame
from spec.wire.header.send import SendMessageHeader, SendMessageResponseHeader
from spec.wire.header.transaction import CheckTransactionStateHeader, EndTransactionHeader

COMMIT, ROLLBACK, UNKNOWN = 8, 12, 0
GROUP = "interop-producer"
PERIOD_MS = 60_000


class TimedWorld(BrokerWorld):
    """A world in which time matters."""

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
        return self.client.ask(RequestCode.END_TRANSACTION, self._make(sent, kind, changes))

    def begin(self, sent: SendMessageResponseHeader, kind: int) -> int:
        """A decision is on its way; its opaque."""
        return self.client.caller.request(RequestCode.END_TRANSACTION, self._make(sent, kind, {}))

    def _make(
        self, sent: SendMessageResponseHeader, kind: int, changes: dict[str, object]
    ) -> EndTransactionHeader:
        fields = {
            "producer_group": self.group,
            "tran_state_table_offset": sent.queue_offset,
            "commit_log_offset": int(sent.msg_id[16:], 16),
            "commit_or_rollback": kind,
            "msg_id": sent.msg_id,
        }
        return EndTransactionHeader(**{**fields, **changes})  # type: ignore[arg-type] # each test knows its field

    def ask_to_store(self, body: bytes) -> Frame:
        """The answer to an ordinary send."""
        zero = Milliseconds(0)
        header = SendMessageHeader(self.group, "Other", "TBW102", 4, QueueId(0), 0, zero, 0, "")
        return self.client.ask(RequestCode.SEND_MESSAGE_V2, header, body)

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
