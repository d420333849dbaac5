"""What can be done to a store, and what must be true after it; who chooses is left open.

A Hypothesis machine chooses so that it can shrink, a walk chooses by a seed so that it is fast.
Each action asks for what the state offers, so that no step is idle.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from model_tests.simulation.player import StorePlayer
from model_tests.simulation.scene import DAY_MS, HOST, IPV6_HOST, Clock, kill_process, message
from model_tests.simulation.table import ConfigLedger
from refimpl.ports import DiskError
from refimpl.simulated.disk import SimulatedDisk
from refimpl.store.new_message import NewMessage
from refimpl.store.settings import StoreSettings
from spec.broker.send import PutStatus
from spec.recovery.state import QueueName
from spec.values.system_flag import TransactionType
from spec.values.units import QueueId

T = TypeVar("T")

NOBODYS = QueueName("T", QueueId(7))
TOPICS = ("T", "U", "%RETRY%G")
BODIES = (b"", b"x", b"\0" * 40, b"y" * 200, b"z" * 700)
TRANSACTIONS = (*[TransactionType.NONE] * 8, *TransactionType)
PROPERTIES = (
    "",
    "TAGS\1a\2",
    "KEYS\1k1 k2\2",
    "KEYS\1k1\2TAGS\1b\2UNIQ_KEY\1u\2",
    "DELAY\x013\2KEYS\1delayed\2",
    "WAIT\1false\2",
    "K\1" + "v" * 600 + "\2TAGS\1long\2",
    "K\1" + "w" * 600 + "\2TAGS\1long\2",
    "K\1" + "v" * 1_100 + "\2KEYS\1k3\2",
)
AGE = 8
"""So many steps lie between two starts: a store that has done nothing has nothing to lose."""


class Chooser(Protocol):
    """Whoever chooses."""

    def pick(self, choices: Sequence[T]) -> T:
        """One of these."""

    def subset(self, count: int) -> set[int]:
        """Some of the numbers below `count`."""


class StoreActions:
    """A store, its disk and its clock, and everything that may happen to them."""

    def __init__(self, seed: int, sector_size: int, settings: StoreSettings) -> None:
        self.clock = Clock()
        self.disk = SimulatedDisk(seed, clock=self.clock, sector_size=sector_size)
        self.player = StorePlayer(self.disk, settings, self.clock)
        self.tables = ConfigLedger(self.disk)
        self.is_faulty = False
        self.age = 0
        self.answers: Counter[object] = Counter()

    # Writing

    def _message(self, topic: str, queue_id: int, body: bytes, text: str) -> NewMessage:
        number = self.player.ledger.numbers
        properties = text.replace("UNIQ_KEY\1u", f"UNIQ_KEY\1u{number}")
        host = IPV6_HOST if number % 5 == 0 else HOST
        new = message(body, queue_id, topic, properties, host=host)
        return new._replace(waits="WAIT" not in text, flag=number)

    def _append(self, *messages: NewMessage) -> None:
        status = self.player.append(*messages).status
        self.answers[status] += 1
        assert self.is_faulty or status is PutStatus.PUT_OK, status

    def append(self, choose: Chooser) -> None:
        new = self._message(
            choose.pick(TOPICS), choose.pick((0, 1)), choose.pick(BODIES), choose.pick(PROPERTIES)
        )
        self._append(new._replace(system_flag=int(choose.pick(TRANSACTIONS))))

    def append_a_record_as_body(self, choose: Chooser) -> None:
        data = choose.pick(self.player.ledger.entries[-5:]).data
        self._append(self._message("T", 0, data[:800], "KEYS\1nested\2"))

    def append_batch(self, choose: Chooser) -> None:
        bodies = [choose.pick(BODIES[:4]) for _ in range(choose.pick((2, 3, 4)))]
        self._append(*(self._message("U", 0, body, "KEYS\1batch\2") for body in bodies))

    # Flushing and dispatching

    def begin_log_flush(self, choose: Chooser) -> None:
        self.player.begin_log_flush(is_forced=choose.pick((True, False)))

    def end_log_flush(self, _: Chooser) -> None:
        self.player.end_log_flush()

    def begin_queue_flush(self, choose: Chooser) -> None:
        self.player.begin_queue_flush(is_forced=choose.pick((True, False)))

    def end_queue_flush(self, _: Chooser) -> None:
        self.player.end_queue_flush()

    def settle(self, _: Chooser) -> None:
        self.player.settle()

    def reput(self, _: Chooser) -> None:
        self.player.reput()

    def flush(self, _: Chooser) -> None:
        self.player.flush()

    # Reading

    def read(self, choose: Chooser) -> None:
        name = choose.pick([*self.player.ledger.names(), NOBODYS])
        low, high = self.player.store.queue(*name).min_offset, self.player.store.queue(*name).max_offset
        offset = choose.pick([low - 1, high, high + 1, 0, *range(low, high)])
        self.answers[self.player.read(name, offset, choose.pick((1, 2, 5, 40)))] += 1

    def search_by_time(self, choose: Chooser) -> None:
        queue = self.player.store.queue(*choose.pick(self.player.ledger.names()))
        query, time_ms = self.player.store.query, self.clock.now_ms - choose.pick((-5, 0, 1, 700, 12_000))
        times = [query.store_time(queue, offset) for offset in range(queue.min_offset, queue.max_offset)]
        before = sum(stored < time_ms for stored in times)
        assert query.first_at_or_after(queue, time_ms) == queue.min_offset + before
        assert 0 <= query.offset_by_time(queue, time_ms) <= queue.max_offset

    def look_at_everything(self, _: Chooser) -> None:
        self.player.check()

    # Time, retention, tables

    def move_clock(self, choose: Chooser) -> None:
        self.clock.now_ms += choose.pick((1, 1, 700, 12_000, 70_000, -50_000))

    def clean(self, choose: Chooser) -> None:
        error = self.player.clean(choose.pick((0, 30 * DAY_MS)))
        assert self.is_faulty or error is None

    def save_table(self, choose: Chooser) -> None:
        self.tables.save(choose.pick(range(1_000)))

    # Faults

    def break_disk(self, choose: Chooser) -> None:
        count = choose.pick((1, 2, 3))
        self.is_faulty = True
        match choose.pick(("write", "sync", "space")):
            case "write":
                self.disk.fail_writes(count)
            case "sync":
                self.disk.fail_syncs(count)
            case _:
                self.disk.capacity = self.disk.used_bytes() + 500 * count

    def heal(self, _: Chooser) -> None:
        """All faults are over: after a flush the store takes messages again."""
        self.end_faults()
        self.player.flush()
        self.clock.now_ms += 70_000
        self.player.flush()
        assert self.player.clean(0) is None
        store = self.player.store
        assert (store.why_not_writable(), store.log.flushed) == (None, store.log.end)
        self.player.check()

    def end_faults(self) -> None:
        self.disk.fail_writes(0)
        self.disk.fail_syncs(0)
        self.disk.capacity = None
        self.is_faulty = False

    # Stopping

    def _start(self, stop: Callable[[], None]) -> None:
        """After any stop the store starts, and the tables are what was saved."""
        self.end_faults()
        self.age = 0
        stop()
        self.tables.check()

    def crash(self, choose: Chooser) -> None:
        match choose.pick(("chosen", "chance", "chance", "nothing")):
            case "chosen":
                kept = choose.subset(len(self.disk.pending()))
                self._start(lambda: self.player.crash(kept))
            case "chance":
                self._start(self.player.crash_by_chance)
            case _:
                self._start(lambda: self.player.crash(()))

    def kill(self, _: Chooser) -> None:
        self._start(self.player.kill)

    def fail_to_start(self, choose: Chooser) -> None:
        """A start that breaks off changes nothing about what the next one finds."""
        self.end_faults()
        kill_process(self.disk)
        self.disk.fail_writes(choose.pick((0, 1, 2)))
        self.disk.fail_syncs(choose.pick((0, 1, 2)))
        try:
            self.player.open(may_lose=False)
        except DiskError:
            self._start(self.player.kill)
        self.end_faults()
        self.age = 0

    def close(self, _: Chooser) -> None:
        is_calm = not self.is_faulty and self.player.log_sync is None and self.player.queue_flush is None
        is_clean = self.player.close()
        assert is_clean or not is_calm
        self._start(self.player.kill)
        assert self.player.store.recovered.is_clean_stop is is_clean

    def check_step(self) -> None:
        """A step is over."""
        self.age += 1
        self.player.check_ends()


Condition = Callable[[StoreActions], bool]
ALWAYS: Condition = lambda _: True  # noqa: E731 - a condition among others
HAS_LIVED: Condition = lambda state: state.age >= AGE  # noqa: E731

ACTIONS: dict[str, tuple[int, Condition]] = {
    "append": (12, ALWAYS),
    "append_a_record_as_body": (1, lambda state: bool(state.player.ledger.entries)),
    "append_batch": (2, ALWAYS),
    "begin_log_flush": (3, lambda state: state.player.log_sync is None),
    "end_log_flush": (5, lambda state: state.player.log_sync is not None),
    "begin_queue_flush": (2, lambda state: state.player.queue_flush is None),
    "end_queue_flush": (4, lambda state: state.player.queue_flush is not None),
    "settle": (3, ALWAYS),
    "reput": (5, ALWAYS),
    "flush": (1, ALWAYS),
    "read": (4, lambda state: bool(state.player.ledger.names())),
    "search_by_time": (1, lambda state: bool(state.player.ledger.names())),
    "look_at_everything": (1, ALWAYS),
    "move_clock": (3, ALWAYS),
    "clean": (1, ALWAYS),
    "save_table": (1, ALWAYS),
    "break_disk": (2, lambda state: not state.is_faulty),
    "heal": (4, lambda state: state.is_faulty),
    "crash": (3, HAS_LIVED),
    "kill": (1, HAS_LIVED),
    "fail_to_start": (1, HAS_LIVED),
    "close": (1, HAS_LIVED),
}
"""How often each action is chosen in a walk, and when it makes sense."""
