"""What a test says to a name server or a broker, whichever way the frames travel.

It says only what a case makes it say: no heartbeat, no retries, no route. Headers and bodies are
those of `spec.wire`, so every answer is also read by the specification.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, TypeVar

from spec.broker.topic import TopicConfig
from spec.layout.batch import BatchEntry, encode_batch
from spec.layout.record_walk import Stop, StopKind, iter_records
from spec.layout.stored_message import StoredMessage
from spec.values.message import Message
from spec.values.name import AUTO_CREATE_TOPIC
from spec.values.property import encode_properties
from spec.values.pull_flag import PullFlag
from spec.values.units import CommitLogPosition, Milliseconds, QueueId, QueueOffset
from spec.wire.body.group import GroupConfigTable
from spec.wire.body.offset import ConsumerOffsetTable, DelayOffsetTable
from spec.wire.body.record import JsonRecord
from spec.wire.body.route import KvTable, TopicRouteData
from spec.wire.body.topic import TopicConfigTable
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.frame import Frame
from spec.wire.header.admin import CreateTopicHeader
from spec.wire.header.codec import CustomHeader
from spec.wire.header.nameserver import RouteHeader
from spec.wire.header.offset import (
    OffsetResponseHeader,
    QueryConsumerOffsetHeader,
    QueueHeader,
    SearchOffsetHeader,
    UpdateConsumerOffsetHeader,
)
from spec.wire.header.pull import (
    PullMessageHeader,
    PullMessageResponseHeader,
    QueryMessageHeader,
    ViewMessageHeader,
)
from spec.wire.header.send import SendMessageHeader, SendMessageResponseHeader

PULL_COUNT: Final = 32
PRODUCER_GROUP: Final = "interop-producer"
CONSUMER_GROUP: Final = "interop-consumer"
ANY_TIME: Final = Milliseconds(2**62)

_Table = TypeVar("_Table", bound=JsonRecord)


class RefusedError(Exception):
    """The peer answered, but not with what was asked for."""

    def __init__(self, request: RequestCode, answer: Frame) -> None:
        super().__init__(f"{request.name} was answered with {answer.code}: {answer.remark}")
        self.answer = answer


class Pulled(NamedTuple):
    """The answer to one pull."""

    code: int
    bounds: PullMessageResponseHeader
    messages: tuple[StoredMessage, ...]


def read_messages(body: bytes) -> tuple[StoredMessage, ...]:
    """The messages of a body, which holds nothing else."""
    *records, stop = iter_records(body)
    assert stop == Stop(len(body), StopKind.END), stop
    return tuple(record for record in records if isinstance(record, StoredMessage))


class Dialogue(ABC):
    """One side of a connection to one name server or broker."""

    @abstractmethod
    def ask(self, code: RequestCode, header: CustomHeader | None = None, body: bytes = b"") -> Frame:
        """The answer, whatever it says; pushes by the server that arrive before it are passed over."""

    def call(self, code: RequestCode, header: CustomHeader | None = None, body: bytes = b"") -> Frame:
        """The answer, which is a success."""
        answer = self.ask(code, header, body)
        if answer.code != ResponseCode.SUCCESS:
            raise RefusedError(code, answer)
        return answer

    def fetch(self, code: RequestCode, table: type[_Table], header: CustomHeader | None = None) -> _Table:
        """The table in the body of the answer."""
        return table.decode(self.call(code, header).body)

    def route(self, topic: str) -> TopicRouteData | None:
        """Where a topic is, by a name server; None when it does not know."""
        answer = self.ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, RouteHeader(topic))
        return TopicRouteData.decode(answer.body) if answer.code == ResponseCode.SUCCESS else None

    def runtime_info(self) -> Mapping[str, str]:
        """What a broker says about itself."""
        return self.fetch(RequestCode.GET_BROKER_RUNTIME_INFO, KvTable).table

    def topics(self) -> TopicConfigTable:
        """All topics of a broker."""
        return self.fetch(RequestCode.GET_ALL_TOPIC_CONFIG, TopicConfigTable)

    def groups(self) -> GroupConfigTable:
        """All consumer groups of a broker."""
        return self.fetch(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, GroupConfigTable)

    def consumer_offsets(self) -> ConsumerOffsetTable:
        """All committed offsets of a broker."""
        return self.fetch(RequestCode.GET_ALL_CONSUMER_OFFSET, ConsumerOffsetTable)

    def delay_offsets(self) -> DelayOffsetTable:
        """How far each delay level is delivered."""
        return self.fetch(RequestCode.GET_ALL_DELAY_OFFSET, DelayOffsetTable)

    def create_topic(self, config: TopicConfig) -> None:
        """The broker has the topic."""
        header = CreateTopicHeader(
            config.name,
            AUTO_CREATE_TOPIC,
            config.read_queue_count,
            config.write_queue_count,
            config.permission,
            config.topic_filter,
            config.is_ordered,
            config.system_flag,
        )
        self.call(RequestCode.UPDATE_AND_CREATE_TOPIC, header)

    def send(
        self, message: Message, queue_id: int, *, system_flag: int = 0, born_at_ms: int = 0
    ) -> SendMessageResponseHeader:
        """The message is stored; where."""
        header = SendMessageHeader(
            PRODUCER_GROUP,
            message.topic,
            AUTO_CREATE_TOPIC,
            4,
            QueueId(queue_id),
            system_flag,
            Milliseconds(born_at_ms),
            message.flag,
            encode_properties(message.properties),
        )
        answer = self.call(RequestCode.SEND_MESSAGE_V2, header, message.body)
        return SendMessageResponseHeader.decode(answer.extension_fields)

    def send_batch(
        self, topic: str, queue_id: int, entries: Iterable[BatchEntry], properties: Mapping[str, str]
    ) -> SendMessageResponseHeader:
        """All messages of the batch are stored; where."""
        header = SendMessageHeader(
            PRODUCER_GROUP,
            topic,
            AUTO_CREATE_TOPIC,
            4,
            QueueId(queue_id),
            0,
            Milliseconds(0),
            0,
            encode_properties(properties),
            batch=True,
        )
        answer = self.call(RequestCode.SEND_BATCH_MESSAGE, header, encode_batch(entries))
        return SendMessageResponseHeader.decode(answer.extension_fields)

    def pull(self, topic: str, queue_id: int, offset: int, expression: str = "*") -> Pulled:
        """What stands in the queue from an offset on; the broker does not wait for more."""
        header = PullMessageHeader(
            CONSUMER_GROUP,
            topic,
            QueueId(queue_id),
            QueueOffset(offset),
            PULL_COUNT,
            PullFlag.SUBSCRIPTION,
            QueueOffset(0),
            Milliseconds(0),
            0,
            expression,
        )
        answer = self.ask(RequestCode.PULL_MESSAGE, header)
        if not answer.extension_fields:
            raise RefusedError(RequestCode.PULL_MESSAGE, answer)
        bounds = PullMessageResponseHeader.decode(answer.extension_fields)
        return Pulled(answer.code, bounds, read_messages(answer.body))

    def pull_all(self, topic: str, queue_id: int) -> tuple[StoredMessage, ...]:
        """Every message of the queue, in order; an offset beyond its end is never asked for."""
        at, end = self.bounds(topic, queue_id)
        messages: list[StoredMessage] = []
        while at < end:
            pulled = self.pull(topic, queue_id, at)
            assert pulled.bounds.next_begin_offset > at, pulled
            messages += pulled.messages
            at = pulled.bounds.next_begin_offset
        return tuple(messages)

    def bounds(self, topic: str, queue_id: int) -> tuple[QueueOffset, QueueOffset]:
        """The first offset of a queue and the one behind its last."""
        header = QueueHeader(topic, QueueId(queue_id))
        answers = [
            self.call(code, header) for code in (RequestCode.GET_MIN_OFFSET, RequestCode.GET_MAX_OFFSET)
        ]
        low, high = (OffsetResponseHeader.decode(answer.extension_fields).offset for answer in answers)
        return low, high

    def offset_at(self, topic: str, queue_id: int, timestamp: int) -> QueueOffset:
        """The offset that the broker finds for an instant."""
        header = SearchOffsetHeader(topic, QueueId(queue_id), Milliseconds(timestamp))
        answer = self.call(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, header)
        return OffsetResponseHeader.decode(answer.extension_fields).offset

    def query(self, topic: str, key: str, *, is_unique_key: bool = False) -> tuple[StoredMessage, ...]:
        """The messages that the index holds under a key."""
        header = QueryMessageHeader(topic, key, 64, Milliseconds(0), ANY_TIME, is_unique_key)
        answer = self.ask(RequestCode.QUERY_MESSAGE, header)
        if answer.code == ResponseCode.QUERY_NOT_FOUND:
            return ()
        if answer.code != ResponseCode.SUCCESS:
            raise RefusedError(RequestCode.QUERY_MESSAGE, answer)
        return read_messages(answer.body)

    def view(self, position: int) -> StoredMessage:
        """The message at a position of the log."""
        answer = self.call(RequestCode.VIEW_MESSAGE_BY_ID, ViewMessageHeader(CommitLogPosition(position)))
        (message,) = read_messages(answer.body)
        return message

    def consumer_offset(self, group: str, topic: str, queue_id: int) -> QueueOffset | None:
        """The offset that a group committed; None when the broker knows none."""
        header = QueryConsumerOffsetHeader(group, topic, QueueId(queue_id))
        answer = self.ask(RequestCode.QUERY_CONSUMER_OFFSET, header)
        if answer.code == ResponseCode.QUERY_NOT_FOUND:
            return None
        return OffsetResponseHeader.decode(answer.extension_fields).offset

    def commit(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """The group will go on from the offset."""
        header = UpdateConsumerOffsetHeader(group, topic, QueueId(queue_id), QueueOffset(offset))
        self.call(RequestCode.UPDATE_CONSUMER_OFFSET, header)
