"""A broker in a simulated world, and the clients that talk to it."""

from random import Random
from typing import Final

from model_tests.dialogue import Dialogue
from refimpl.broker.broker import Broker
from refimpl.broker.recorder import OBSERVED
from refimpl.broker.settings import BrokerSettings
from refimpl.history_log import HistoryLog
from refimpl.simulated.caller import Caller
from refimpl.simulated.world import START_MS, World
from refimpl.store.settings import StoreSettings
from spec.guarantees.judge import judge_history
from spec.guarantees.verdict import Judgement, Verdict
from spec.history.declaration import Declaration
from spec.history.event import Event
from spec.history.kind import Kind
from spec.override import override
from spec.store.flush import FlushMode
from spec.wire.code import RequestCode
from spec.wire.frame import Frame
from spec.wire.header.codec import CustomHeader

SMALL_STORE: Final = StoreSettings(
    log_file_size=1 << 20, units_per_file=1_000, index_slots=100, index_entries=1_000
)
SYNC_STORE: Final = StoreSettings(
    log_file_size=1 << 20,
    units_per_file=1_000,
    index_slots=100,
    index_entries=1_000,
    flush_mode=FlushMode.SYNC,
)
NODE: Final = "broker-a"
SEEN: Final = OBSERVED | {Kind.FAULT, Kind.RPC, Kind.SUBSCRIBE}
"""The world sees what a broker alone does not: here it disturbs nobody, and clients tell no history."""


class Client(Dialogue):
    """A scripted client of the world that can say what every test says."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    @override
    def ask(self, code: RequestCode, header: CustomHeader | None = None, body: bytes = b"") -> Frame:
        return self.caller.call(code, header, body)


class BrokerWorld:
    """One broker; its history is kept over all its lives."""

    def __init__(self, settings: BrokerSettings | None = None, seed: int = 1) -> None:
        self.world = World(seed)
        self.disk = self.world.add_disk(NODE)
        self.settings = settings or BrokerSettings(store=SMALL_STORE)
        self.events: list[Event] = []
        durability = "sync" if self.settings.store.flush_mode is FlushMode.SYNC else "async"
        declaration = Declaration(SEEN, durability=durability)
        self._history = HistoryLog("run", declaration, self.events.append, START_MS)
        self.world.start(NODE, self.settings.host, self._make)

    def _make(self, now_ms: int) -> Broker:
        broker = Broker(self.settings, self.disk, Random(7), now_ms, history=self._history)
        broker.start(now_ms)
        return broker

    @property
    def broker(self) -> Broker:
        """The broker of the present life."""
        core = self.world.machines[NODE].core
        assert isinstance(core, Broker)
        return core

    def connect(self) -> Client:
        """A new connection to the broker."""
        return Client(self.world.connect(self.settings.host))

    def run_for(self, duration_ms: int) -> None:
        """So much time has passed."""
        self.world.run_for(duration_ms)

    def crash(self) -> None:
        """The broker was killed and runs again."""
        self.world.crash(NODE)
        self.events.append(Event("run", len(self.events), self.world.now_ms, NODE, Kind.DOWN, status="crash"))
        self.world.restart(NODE, self._make)

    def restart(self) -> None:
        """The broker was stopped cleanly and runs again."""
        assert self.broker.shut(self.world.now_ms) is None
        self.world.machines[NODE].crash()
        self.world.restart(NODE, self._make)

    def kinds(self, *kinds: Kind) -> list[Event]:
        """The events of these kinds, in their order."""
        return [event for event in self.events if event.kind in kinds]

    def judge(self) -> dict[str, Judgement]:
        """What each rule says about the history so far; none is violated."""
        numbered = [event._replace(sequence=number) for number, event in enumerate(self.events)]
        end = Event("run", len(numbered), self.world.now_ms, "recorder", Kind.END_OF_RUN)
        judgements = {judgement.rule: judgement for judgement in judge_history([*numbered, end])}
        violated = [one for one in judgements.values() if one.verdict is Verdict.VIOLATED]
        assert not violated, violated
        return judgements
