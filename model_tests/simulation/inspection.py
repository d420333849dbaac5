"""A store is looked at from all sides: does it say exactly what the ledger says?"""

from collections import defaultdict

from model_tests.simulation.ledger import Entry, Ledger
from model_tests.simulation.scene import ALL_TIME
from refimpl.store.message_store import MessageStore
from spec.broker.pull_outcome import PullStatus
from spec.recovery.state import QueueName, RecoveredStore
from spec.recovery.store import derive_unit
from spec.values.units import QueueOffset


def check_log(store: MessageStore, ledger: Ledger) -> None:
    """Every message that the log still has is byte for byte what was appended."""
    for entry in ledger.entries:
        if entry.position >= store.log.min_position:
            data = store.log.read(entry.position, entry.record.size)
            assert data == entry.data, f"{entry.identity} at {entry.position} is not what was appended"


def check_queues(store: MessageStore, ledger: Ledger) -> None:
    """STO-1 and NLS: all that is dispatched and not removed is readable, one message an offset."""
    for name in ledger.names():
        entries = {
            int(entry.record.queue_offset): entry
            for entry in ledger.of_queue(name)
            if entry.position < store.reput_position
        }
        check_queue(store, name, entries, ledger.retained_min)
        expected = ledger.next_offset(name)
        given = store.queues.next_offsets.get(name, QueueOffset(0))
        assert int(given) == expected, f"{name}: the next offset is {given}, not {expected}"


def check_queue(store: MessageStore, name: QueueName, entries: dict[int, Entry], retained_min: int) -> None:
    queue = store.queue(*name)
    if not entries:
        assert queue.max_offset == 0, f"{name} has units and no message"
        return
    low, high = int(queue.min_offset), int(queue.max_offset)
    assert high == max(entries) + 1, f"{name} ends at {high}, its last message is {max(entries)}"
    log_min = store.log.min_position
    kept = [offset for offset, entry in entries.items() if entry.position >= max(log_min, retained_min)]
    assert low <= min(kept, default=high), f"{name} begins at {low}, {min(kept, default=high)} is kept"
    for offset in range(low, high):
        unit, entry = queue.read_unit(offset), entries.get(offset)
        assert entry is not None, f"{name} has offset {offset}, which no message has"
        expected = derive_unit(entry.head, store.settings.delays_ms)
        assert unit == expected, f"{name}: offset {offset} is {unit}, not {expected}"
    check_reading(store, name, low, b"".join(entries[offset].data for offset in range(low, high)))


def check_reading(store: MessageStore, name: QueueName, offset: int, expected: bytes) -> None:
    """Whoever reads on gets all of it."""
    body = b""
    while True:
        found = store.read(name, offset, 32)
        if found.status is not PullStatus.FOUND:
            break
        body, offset = body + found.body, found.next_offset
    assert found.status is PullStatus.OFFSET_OVERFLOW_ONE, f"{name}: reading ends with {found.status}"
    assert body == expected, f"{name}: what is read is not what was appended"


def check_keys(store: MessageStore, ledger: Ledger) -> None:
    """Every key of a readable message leads to it, and to nothing that is not there."""
    expected: dict[tuple[str, str], set[int]] = defaultdict(set)
    for entry in ledger.entries:
        if max(store.log.min_position, ledger.retained_min) <= entry.position < store.reput_position:
            for key in entry.index_keys():
                expected[entry.record.topic, key].add(entry.position)
    known = {entry.position for entry in ledger.entries}
    for (topic, key), positions in expected.items():
        answer = store.query.by_key(topic, key, begin_ms=0, end_ms=ALL_TIME)
        found = [int(message.position) for message in answer.messages]
        newest = set(sorted(positions)[-64:])
        assert newest <= set(found) or len(found) == 64, f"{topic}#{key}: {found}, not {sorted(newest)}"
        assert known.issuperset(found), f"{topic}#{key} leads to {found}, which is not there"


def check_store(store: MessageStore, ledger: Ledger) -> None:
    """Log, queues and index say what the ledger says."""
    check_log(store, ledger)
    check_queues(store, ledger)
    check_keys(store, ledger)


def check_oracle(store: MessageStore, expected: RecoveredStore) -> None:
    """STO-2: the store came back as the specification derives it from the same files."""
    recovered = store.recovered
    assert (recovered.log_min, recovered.log_end) == (expected.log_min, expected.log_end)
    names = {queue.name for queue in store.queues} | set(expected.queues)
    for name in names:
        queue, wanted = store.queue(*name), expected.queues.get(name)
        bounds = (queue.min_offset, queue.max_offset)
        assert bounds == ((wanted.min_offset, wanted.max_offset) if wanted else (0, 0)), f"{name}: {bounds}"
        if wanted:
            first = wanted.content.first_offset
            units = [queue.read_unit(first + number) for number in range(len(wanted.content.units))]
            assert units == list(wanted.content.units), f"{name} has other units"
