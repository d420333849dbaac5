"""Where an answer of the reference is not what the recording server said, or what follows from the requests.

The recordings hold no bodies of answers, only their lengths. What a body must say follows from what the
clients said before: who is in a group, which queues are locked, which messages were sent. The recording
server wrote lists in Python's spacing and stored messages as they were sent, so the lengths tell whether
it meant the same.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from model_tests.dialogue import read_messages
from model_tests.vectors.captured_replay import BROKER, BROKER_NAME, QUEUES, TOPIC, Outcome
from model_tests.vectors.captured_session import Answer, Asked, Exchange, Step
from spec.broker.topic import INHERIT, READ_WRITE
from spec.layout.stored_message import StoredMessage, derive_record_size
from spec.nameserver.registration import BrokerEntry
from spec.nameserver.route import QueueData
from spec.values import property as known
from spec.values.name import AUTO_CREATE_TOPIC
from spec.values.property import decode_properties
from spec.wire.body.group import ConsumerIdList
from spec.wire.body.heartbeat import HeartbeatData
from spec.wire.body.lock import LockBatchBody, LockBatchResponseBody
from spec.wire.body.route import TopicRouteData
from spec.wire.code import RequestCode
from spec.wire.frame import Frame
from spec.wire.header.send import SendMessageHeader
from spec.wire.header.table import REQUEST_HEADERS

CLUSTER: Final = "DefaultCluster"
FIRST_RETRY_LEVEL: Final = "3"
"""Ten seconds. The recording server retried after one, and the clients waited for it."""
SENDS: Final = frozenset({RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2})


class Difference(NamedTuple):
    """One thing that is not the same; None where one side has nothing."""

    place: str
    what: str
    recorded: object
    found: object


class Said(NamedTuple):
    """What the clients of a session said that answers depend on."""

    messages: Mapping[bytes, SendMessageHeader]
    """Every message by its body; no two have the same."""
    heartbeats: Mapping[str, Sequence[HeartbeatData]]
    """By connection."""


def collect_said(steps: Sequence[Step]) -> Said:
    """What the answers of the session depend on."""
    messages: dict[bytes, SendMessageHeader] = {}
    heartbeats: dict[str, list[HeartbeatData]] = {}
    for exchange in (step.exchange for step in steps if isinstance(step, Asked)):
        frame = exchange.frame
        if frame.code in SENDS:
            header = REQUEST_HEADERS[frame.code].decode(frame.extension_fields)
            assert isinstance(header, SendMessageHeader)
            assert frame.body not in messages
            messages[frame.body] = header
        elif frame.code == RequestCode.HEART_BEAT:
            heartbeats.setdefault(exchange.connection, []).append(HeartbeatData.decode(frame.body))
    return Said(messages, heartbeats)


def derive_told(said: Said) -> dict[str, list[str]]:
    """By connection, the groups whose change its client hears of: it came, or subscribed other topics."""
    told: dict[str, list[str]] = {}
    for connection, heartbeats in said.heartbeats.items():
        told[connection] = []
        topics: dict[str, set[str]] = {}
        for consumer in (consumer for heartbeat in heartbeats for consumer in heartbeat.consumer_data_set):
            subscribed = {subscription.topic for subscription in consumer.subscription_data_set}
            if topics.get(consumer.group_name) != subscribed:
                told[connection].append(consumer.group_name)
            topics[consumer.group_name] = subscribed
    return told


def compare(outcome: Outcome, said: Said) -> Iterator[Difference]:
    """Everything in which the reference's answer is another one."""
    exchange, found = outcome
    recorded = exchange.answer
    if recorded is None or found is None:
        if recorded or found:
            yield Difference(exchange.place, "answer", recorded, found)
        return
    if recorded.code != found.code:
        yield Difference(exchange.place, "code", recorded.code, found.code)
        return
    fields = found.extension_fields or {}
    for name in sorted(recorded.fields.keys() | fields.keys()):
        if recorded.fields.get(name) != fields.get(name):
            yield Difference(exchange.place, f"field {name}", recorded.fields.get(name), fields.get(name))
    yield from _compare_bodies(exchange, recorded, found, said)


def _compare_bodies(exchange: Exchange, recorded: Answer, found: Frame, said: Said) -> Iterator[Difference]:
    place, length = exchange.place, len(found.body)
    match exchange.frame.code:
        case RequestCode.GET_ROUTEINFO_BY_TOPIC if found.body:
            expected = derive_route(exchange.fields["topic"])
            route = TopicRouteData.decode(found.body)
            if route != expected:
                yield Difference(place, "route", expected, route)
            return
        case RequestCode.GET_CONSUMER_LIST_BY_GROUP:
            members = (said.heartbeats[exchange.connection][-1].client_id,)
            listed = ConsumerIdList.decode(found.body).consumer_id_list
            length = _derive_spaced_length(found.body)
            if listed != members:
                yield Difference(place, "members", members, listed)
        case RequestCode.LOCK_BATCH_MQ:
            asked = LockBatchBody.decode(exchange.frame.body).mq_set
            locked = LockBatchResponseBody.decode(found.body).lock_ok_mq_set
            length = _derive_spaced_length(found.body)
            if locked != asked:
                yield Difference(place, "locked", asked, locked)
        case RequestCode.PULL_MESSAGE if found.body:
            messages = read_messages(found.body)
            yield from _compare_messages(exchange, messages, said)
            if exchange.fields["topic"] != TOPIC:
                # Nobody knows what the recording server added to the copies that it retried.
                return
            length = sum(_derive_recorded_size(message, said) for message in messages)
    if length != recorded.body_length:
        yield Difference(place, "length", recorded.body_length, length)


def derive_route(topic: str) -> TopicRouteData:
    """The one broker and its queues: one for retries, else those that the recording server had."""
    count = 1 if topic.startswith("%RETRY%") else QUEUES
    permission = READ_WRITE | INHERIT if topic == AUTO_CREATE_TOPIC else READ_WRITE
    broker = BrokerEntry(CLUSTER, BROKER_NAME, {0: str(BROKER)})
    return TopicRouteData((broker,), (QueueData(BROKER_NAME, count, count, permission, 0),))


def _derive_spaced_length(body: bytes) -> int:
    return len(json.dumps(json.loads(body)))


def _derive_recorded_size(message: StoredMessage, said: Said) -> int:
    """The size of the record with the properties that the client sent and no others."""
    text = said.messages[message.body].properties or ""
    return derive_record_size(len(message.body), len(message.topic), len(text))


def _compare_messages(
    exchange: Exchange, messages: Sequence[StoredMessage], said: Said
) -> Iterator[Difference]:
    """The messages follow each other in the queue, and each is as it was sent."""
    first = int(exchange.fields["queueOffset"])
    for offset, message in enumerate(messages, first):
        expected = _derive_view(exchange, offset, said.messages[message.body])
        found = _view(message)
        if found != expected:
            yield Difference(exchange.place, "message", expected, found)


class View(NamedTuple):
    """What a consumer sees of a message, apart from where and when it was stored."""

    topic: str
    queue_id: int
    queue_offset: int
    flag: int
    system_flag: int
    born_at_ms: int
    reconsume_times: int
    properties: Mapping[str, str]


def _view(message: StoredMessage) -> View:
    properties = message.properties()
    if known.ORIGIN_MESSAGE_ID in properties:
        properties[known.ORIGIN_MESSAGE_ID] = "there is one"
    return View(
        *(message.topic, message.queue_id, message.queue_offset, message.flag, message.system_flag),
        *(message.born_at_ms, message.reconsume_times, properties),
    )


def _derive_view(exchange: Exchange, offset: int, sent: SendMessageHeader) -> View:
    topic, queue_id = exchange.fields["topic"], int(exchange.fields["queueId"])
    properties = decode_properties(sent.properties or "") | {known.CLUSTER: CLUSTER}
    # A broker does not store that a producer waits.
    properties.pop(known.WAIT, None)
    reconsume_times = 0
    if topic != TOPIC:
        reconsume_times = 1
        properties |= {
            known.RETRY_TOPIC: TOPIC,
            known.ORIGIN_MESSAGE_ID: "there is one",
            known.WAIT: "false",
            known.DELAY: FIRST_RETRY_LEVEL,
        }
    if known.DELAY in properties:
        properties |= {known.REAL_TOPIC: topic, known.REAL_QUEUE_ID: str(queue_id)}
    return View(
        *(topic, queue_id, offset, sent.flag, sent.sys_flag, sent.born_timestamp, reconsume_times),
        properties,
    )
