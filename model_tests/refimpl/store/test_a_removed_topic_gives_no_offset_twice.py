"""A topic is removed while the log still holds its records: they stay out, and numbers go on."""

import pytest

from model_tests.simulation.crash_image import WatchedDisk
from model_tests.simulation.scene import ASYNC, NOW, Clock, flush_all, message, new_disk, open_small
from refimpl.ports import DiskError
from refimpl.simulated.disk import SimulatedDisk
from refimpl.store.message_store import MessageStore
from spec.broker.pull_outcome import PullStatus
from spec.layout.record_head import decode_record_head
from spec.recovery.state import QueueName
from spec.values.units import QueueId

T = QueueName("T", QueueId(0))
U = QueueName("U", QueueId(0))

pytestmark = pytest.mark.clause("store.queue.emptied-goes-on")


def bounds(store: MessageStore, name: QueueName = T) -> tuple[int, int]:
    queue = store.queue(*name)
    return queue.min_offset, queue.max_offset


def read_bodies(store: MessageStore, name: QueueName = T) -> list[tuple[int, bytes]]:
    """The messages of a queue as its readers get them, each with the offset that its record states."""
    low, high = bounds(store, name)
    found: list[tuple[int, bytes]] = []
    for offset in range(low, high):
        unit = store.queue(*name).read_unit(offset)
        assert unit is not None
        record = store.query.by_position(unit.position, unit.size)
        assert record is not None
        found.append((record.queue_offset, record.body))
        assert record.queue_offset == offset
    return found


def fill(disk: SimulatedDisk, count: int = 6) -> MessageStore:
    store = open_small(disk)
    for number in range(count):
        store.append(message(b"old%d" % number), NOW)
    store.append(message(b"other", topic="U"), NOW)
    assert flush_all(store) is None
    return store


def test_nothing_of_it_can_be_read_and_other_topics_are_untouched() -> None:
    disk = new_disk()
    store = fill(disk)
    store.remove_topic("T")
    found = store.read(T, 0, 32)
    assert (found.status, found.next_offset) == (PullStatus.OFFSET_TOO_SMALL, 6)
    assert store.read(T, 6, 32).status is PullStatus.OFFSET_OVERFLOW_ONE
    assert (bounds(store), bounds(store, U)) == ((6, 6), (0, 1))
    assert read_bodies(store, U) == [(0, b"other")]
    assert disk.list_folder("consumequeue/T/0") == ()
    store.retention.clean(NOW)
    assert bounds(store) == (6, 6)


def test_its_next_message_gets_the_next_number() -> None:
    store = fill(new_disk())
    store.remove_topic("T")
    assert store.append(message(b"new"), NOW).queue_offset == 6
    store.reput_all()
    assert read_bodies(store) == [(6, b"new")]


def test_what_was_not_dispatched_yet_stays_out() -> None:
    store = open_small(new_disk())
    store.append(message(b"old"), NOW)
    store.remove_topic("T")
    assert bounds(store) == (1, 1)
    store.append(message(b"new"), NOW)
    store.reput_all()
    assert read_bodies(store) == [(1, b"new")]


def test_it_goes_on_after_a_clean_stop() -> None:
    disk = new_disk()
    store = fill(disk)
    store.remove_topic("T")
    store.append(message(b"new"), NOW)
    assert store.close(NOW) is None
    store = open_small(disk)
    assert read_bodies(store)[-1] == (6, b"new")
    assert store.append(message(), NOW).queue_offset == 7
    assert [number for number, _ in read_bodies(store)] == list(range(*bounds(store)))


@pytest.mark.parametrize("failing", range(2))
def test_it_can_be_removed_again_after_a_removal_failed(failing: int) -> None:
    disk = new_disk()
    store = fill(disk)
    remove, calls = disk.remove, iter(range(99))

    def remove_unless_failing(path: str) -> None:
        if next(calls) == failing:
            disk.fail_writes(1)
        remove(path)

    disk.remove = remove_unless_failing  # type: ignore[method-assign]  # one call in the middle fails
    with pytest.raises(DiskError):
        store.remove_topic("T")
    assert bounds(store) == ((0, 6), (4, 6))[failing]
    assert store.read(T, 4, 32).message_count == 2
    store.remove_topic("T")
    assert store.append(message(b"new"), NOW).queue_offset == 6
    store.reput_all()
    assert read_bodies(store) == [(6, b"new")]


def test_a_failed_sync_of_the_names_leaves_the_queue_usable() -> None:
    disk = new_disk()
    store = fill(disk, count=3)
    disk.fail_syncs(1)
    with pytest.raises(DiskError):
        store.remove_topic("T")
    assert store.append(message(b"new"), NOW).queue_offset == 3
    store.reput_all()
    assert read_bodies(store) == [(3, b"new")]


def test_after_any_crash_every_offset_names_one_message() -> None:
    disk = WatchedDisk(1, clock=Clock())
    store = fill(disk)
    images: list[SimulatedDisk] = []

    def take_images() -> None:
        pending = range(len(disk.pending()))
        images.extend(disk.image(pending[:count]) for count in range(len(pending) + 1))
        images.extend(disk.image(pending[count:]) for count in range(len(pending)))

    disk.before_sync = take_images
    store.remove_topic("T")
    store.append(message(b"new"), NOW)
    assert flush_all(store) is None
    disk.before_sync = None
    take_images()
    ends: set[int] = set()
    for image in images:
        recovered = open_small(image, ASYNC)
        stated = [number for number, _ in read_bodies(recovered)]
        low, end = bounds(recovered)
        assert stated == list(range(low, end))
        assert recovered.append(message(b"next"), NOW).queue_offset == end
        ends.add(end)
    assert ends == {6, 7}


def test_the_log_states_no_offset_twice() -> None:
    disk = new_disk()
    store = fill(disk)
    for _ in range(3):
        store.remove_topic("T")
        store.append(message(b"new"), NOW)
        assert flush_all(store) is None
    data = store.log.read(0, store.log.end) or b""
    stated: list[int] = []
    at = 0
    while at < len(data):
        head = decode_record_head(memoryview(data), at, check_crc=True)
        stated += [head.queue_offset] if head.topic == "T" else []
        at = head.end
    assert stated == list(range(9))
