"""Recorded clients talk to the reference: their requests in their order, each after what it followed.

The clients ask when they asked then, or later: what they had been answered before they asked, they must
have been answered here too. Two things in a request are the server's and are translated: positions in its
log, and the ids of its messages.
"""

from collections.abc import Sequence
from random import Random
from typing import Final, NamedTuple

from model_tests.vectors.captured_session import Answered, Asked, Closed, Exchange, Opened, Step
from refimpl.broker.broker import Broker
from refimpl.broker.settings import BrokerSettings
from refimpl.nameserver.name_server import NameServer
from refimpl.nameserver.settings import NameServerSettings
from refimpl.simulated.caller import Caller, CallerError
from refimpl.simulated.world import World
from refimpl.store.settings import StoreSettings
from spec.broker.topic import TopicConfig
from spec.values.host import host_of
from spec.values.message_id import decode_message_id
from spec.values.units import CommitLogPosition
from spec.wire.code import RequestCode
from spec.wire.frame import Frame

NAME_SERVER: Final = host_of("127.0.0.1", 9876)
BROKER: Final = host_of("127.0.0.1", 10911)
BROKER_NAME: Final = "stub-a"
"""What the recording server called itself: clients name it when they lock queues."""
TOPIC: Final = "EcoTopic"
QUEUES: Final = 2

START_MS: Final = 1_794_980_288_000
"""About when the first session was recorded."""
REGISTERED_MS: Final = 1_000
ANSWER_LIMIT_MS: Final = 30_000
"""Longer than a pull is held."""

SETTINGS: Final = BrokerSettings(
    name=BROKER_NAME,
    host=BROKER,
    name_servers=(str(NAME_SERVER),),
    topic_queue_count=QUEUES,
    store=StoreSettings(log_file_size=1 << 20, units_per_file=1_000, index_slots=100, index_entries=400),
)


class Outcome(NamedTuple):
    """A recorded exchange, and the reference's answer if it gave one before the client went."""

    exchange: Exchange
    answer: Frame | None


class _Client(NamedTuple):
    name_server: Caller
    broker: Caller

    def asks(self, frame: Frame) -> Caller:
        """The connection for a request: the recording server was name server and broker."""
        return self.name_server if frame.code == RequestCode.GET_ROUTEINFO_BY_TOPIC else self.broker


class Replay:
    """One recorded session against a name server and a broker that have just been started."""

    def __init__(self, steps: Sequence[Step], *, has_topic: bool) -> None:
        self.world = World(1, start_ms=START_MS)
        self._start_servers(has_topic=has_topic)
        self._clients: dict[str, _Client] = {}
        self._ids: dict[str, str] = {}
        """The broker's ids of the messages by those that the recording server gave them."""
        self._exchanges: list[Exchange] = []
        before_ms = steps[0].time_ms
        for step in steps:
            self.world.run_for(step.time_ms - before_ms)
            before_ms = step.time_ms
            self._take(step)

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What became of each request."""
        return tuple(Outcome(exchange, self._answer(exchange)) for exchange in self._exchanges)

    def pushes(self, connection: str) -> list[Frame]:
        """What the broker told a client unasked."""
        return self._clients[connection].broker.pushes

    def _start_servers(self, *, has_topic: bool) -> None:
        world = self.world
        names, store = world.add_disk("name-server"), world.add_disk("broker")

        def make_broker(now_ms: int) -> Broker:
            broker = Broker(SETTINGS, store, Random(1), now_ms)
            if has_topic:
                broker.parts.topics.put(TopicConfig(TOPIC, QUEUES, QUEUES), now_ms)
            broker.start(now_ms)
            return broker

        world.start(
            "name-server", NAME_SERVER, lambda now_ms: NameServer(NameServerSettings(), names, now_ms)
        )
        world.start("broker", BROKER, make_broker)
        world.run_for(REGISTERED_MS)

    def _take(self, step: Step) -> None:
        match step:
            case Opened(_, connection):
                world = self.world
                self._clients[connection] = _Client(world.connect(NAME_SERVER), world.connect(BROKER))
            case Asked(_, exchange):
                self._exchanges.append(exchange)
                frame = self._translate(exchange.frame)
                self._clients[exchange.connection].asks(frame).send(frame)
            case Answered(_, exchange):
                self._await(exchange)
            case Closed(_, connection):
                for caller in self._clients[connection]:
                    caller.close()
            case _:
                pass

    def _await(self, exchange: Exchange) -> None:
        """The exchange is answered as it was when it was recorded, or it will not be."""
        caller = self._clients[exchange.connection].asks(exchange.frame)
        try:
            answer = caller.await_reply(exchange.frame.opaque, ANSWER_LIMIT_MS)
        except CallerError:
            return
        recorded = exchange.answer
        if recorded is not None and "msgId" in recorded.fields:
            self._ids[recorded.fields["msgId"]] = (answer.extension_fields or {})["msgId"]

    def _translate(self, frame: Frame) -> Frame:
        """The request as the client would send it to the reference."""
        if frame.code != RequestCode.CONSUMER_SEND_MSG_BACK:
            return frame
        fields = dict(frame.extension_fields or {})
        position = CommitLogPosition(int(fields["offset"]))
        places = {decode_message_id(old).position: decode_message_id(new) for old, new in self._ids.items()}
        fields["offset"] = str(places[position].position)
        if "originMsgId" in fields:
            fields["originMsgId"] = self._ids[fields["originMsgId"]]
        return frame._replace(extension_fields=fields)

    def _answer(self, exchange: Exchange) -> Frame | None:
        return self._clients[exchange.connection].asks(exchange.frame).replies.get(exchange.frame.opaque)
