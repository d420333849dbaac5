"""A broker with an administrator, and consumers that answer what they are asked."""

from typing import Final

from model_tests.refimpl.broker.broker_world import BrokerWorld, Client
from refimpl.remoting.request import Reply
from spec.broker.topic import TopicConfig
from spec.group.consumption import ConsumeType, MessageModel
from spec.group.start_position import StartPolicy
from spec.values.message import Message
from spec.values.message_queue import MessageQueue
from spec.values.subscription import subscribe_tags
from spec.values.units import Milliseconds, QueueId
from spec.wire.body.heartbeat import ConsumerData, HeartbeatData, ProducerData
from spec.wire.body.record import JsonRecord
from spec.wire.body.subscription import derive_record
from spec.wire.code import RequestCode
from spec.wire.frame import Frame
from spec.wire.header.codec import CustomHeader
from spec.wire.language import Language
from spec.wire.reply import derive_reply

GROUP: Final = "g"
TOPIC: Final = "T"


class Administrator(Client):
    """Whoever looks after the broker."""

    def refusal(
        self, code: RequestCode, header: CustomHeader | None = None, body: bytes = b""
    ) -> tuple[int, str | None]:
        """The code and the remark of the answer."""
        answer = self.ask(code, header, body)
        return answer.code, answer.remark

    def create(self, topic: str = TOPIC, queues: int = 2) -> None:
        """The broker has the topic."""
        self.create_topic(TopicConfig(topic, queues, queues))

    def store(self, count: int, topic: str = TOPIC, queue_id: int = 0) -> None:
        """So many messages are stored and can be read."""
        for number in range(count):
            self.send(Message(topic, b"body %d" % number, 0, {}), queue_id)


class Member(Client):
    """A client that says who it is, and answers what it is asked."""

    def heartbeat(
        self,
        client_id: str,
        *,
        group: str = GROUP,
        topics: tuple[str, ...] = (TOPIC,),
        version: int = 399,
        producer_group: str = "",
    ) -> None:
        """The broker knows the client."""
        subscriptions = [derive_record(subscribe_tags(topic, "*", Milliseconds(1))) for topic in topics]
        consumer = ConsumerData(
            group,
            ConsumeType.PUSH,
            MessageModel.CLUSTERING,
            StartPolicy.LAST_OFFSET,
            tuple(subscriptions),
        )
        producers = (ProducerData(producer_group),) if producer_group else ()
        body = HeartbeatData(client_id, producers, (consumer,) if topics else ())
        frame = Frame(
            RequestCode.HEART_BEAT, Language.JAVA, version, 1_000_000 + version, 0, body=body.encode()
        )
        self.caller.replies.pop(frame.opaque, None)
        self.caller.send(frame)
        self.caller.await_reply(frame.opaque)

    def take(self, code: RequestCode) -> Frame:
        """The one push of this code, which is taken away."""
        found = [frame for frame in self.caller.pushes if frame.code == code]
        self.caller.pushes = [frame for frame in self.caller.pushes if frame.code != code]
        (frame,) = found
        return frame

    def answer(self, asked: Frame, reply: Reply) -> None:
        """What the broker asked is answered."""
        code, remark, fields, body = reply
        self.caller.send(derive_reply(asked, code, remark=remark, extension_fields=fields, body=body))


def queue(queue_id: int, topic: str = TOPIC) -> MessageQueue:
    """A queue of the broker."""
    return MessageQueue(topic, "broker-a", QueueId(queue_id))


def dialect(record: JsonRecord) -> bytes:
    """The body as Java writes it."""
    return record.encode(is_dialect=True)


class AdminWorld(BrokerWorld):
    """One broker that is looked after."""

    def administrator(self) -> Administrator:
        """A connection of somebody who looks after the broker."""
        return Administrator(self.world.connect(self.settings.host))

    def member(self, client_id: str = "c1", *, version: int = 399, group: str = GROUP) -> Member:
        """A consumer that is online."""
        member = Member(self.world.connect(self.settings.host))
        member.heartbeat(client_id, version=version, group=group)
        return member
