"""Operation records of every broker: what they decide, and how long they are needed."""

import pytest

from refimpl.broker.half_store import derive_operation
from refimpl.broker.operation_records import OperationRecords
from refimpl.simulated.disk import SimulatedDisk
from refimpl.store.message_store import MessageStore, open_store
from refimpl.store.new_message import NewMessage
from spec.layout.stored_message import StoredMessage, make_record
from spec.values.host import host_of
from spec.values.message import Message
from spec.values.name import OPERATION_TOPIC
from spec.values.system_flag import TransactionType
from spec.values.units import CommitLogPosition, Milliseconds, QueueId, QueueOffset

NOW = 1_700_000_000_000
HOST = host_of("127.0.0.1", 10_911)
ELSEWHERE = CommitLogPosition(999_999)
NO_PLACE = QueueOffset(999)


def make_store() -> MessageStore:
    return open_store(SimulatedDisk(1, clock=lambda: NOW), now_ms=NOW)


def put_foreign(store: MessageStore, body: bytes, born_at_ms: int = NOW) -> None:
    """A record as Apache writes it."""
    new = NewMessage(OPERATION_TOPIC, QueueId(0), body, HOST, HOST, "TAGS\1d")
    store.append(new._replace(born_at_ms=Milliseconds(born_at_ms)), NOW)
    store.reput_all()


def half_at(position: int) -> StoredMessage:
    where = CommitLogPosition(position)
    return make_record(
        Message("H", b"x"), queue_id=QueueId(0), born_host=HOST, store_host=HOST, position=where
    )


def put_own(store: MessageStore, position: int, offset: int, kind: int) -> None:
    """A record as the reference writes it, for a half message whose first copy stands at a position."""
    store.append(derive_operation(half_at(position), offset, kind, HOST, NOW), NOW)
    store.reput_all()


def find_all(records: OperationRecords, offsets: range) -> list[int]:
    return [at for at in offsets if records.find(QueueOffset(at), None, ELSEWHERE) is not None]


@pytest.mark.clause("broker.transaction.operation-record", "broker.transaction.no-check-before-records")
def test_records_of_both_release_lines_are_read_thirty_two_at_a_time() -> None:
    store = make_store()
    for number in range(40):
        put_foreign(store, b"%d" % number, NOW + number)
    put_foreign(store, b"50,52,50", NOW + 100)
    records = OperationRecords(store, QueueOffset(0))
    assert records.read(QueueOffset(60)) == NOW + 31
    assert find_all(records, range(60)) == list(range(32))
    assert records.read(QueueOffset(60)) == NOW + 100
    assert find_all(records, range(60)) == [*range(40), 50, 52]
    assert records.read(QueueOffset(60)) is None


@pytest.mark.clause("broker.transaction.operation-record")
@pytest.mark.parametrize("body", [b"", b"x", b"-1", b"1,", b"9" * 19])
def test_a_record_that_says_nothing_is_passed(body: bytes) -> None:
    store = make_store()
    put_foreign(store, body)
    put_foreign(store, b"3")
    records = OperationRecords(store, QueueOffset(0))
    assert records.read(QueueOffset(5)) == NOW
    records.advance(0)
    assert (records.cursor, find_all(records, range(5))) == (1, [3])


@pytest.mark.clause("broker.transaction.operation-cursor")
def test_a_record_is_needed_until_the_end_that_the_half_topic_had_was_passed() -> None:
    store = make_store()
    put_foreign(store, b"2")
    records = OperationRecords(store, QueueOffset(0))
    records.read(QueueOffset(5))
    put_foreign(store, b"6")
    records.read(QueueOffset(8))
    for half_cursor, cursor, known in ((4, 0, [2, 6]), (5, 1, [6]), (7, 1, [6]), (8, 2, [])):
        records.advance(half_cursor)
        assert (records.cursor, find_all(records, range(9))) == (cursor, known)


@pytest.mark.clause("broker.transaction.operation-cursor")
def test_of_two_records_for_one_half_message_the_later_counts_as_long_as_it_is_needed() -> None:
    store = make_store()
    put_own(store, 100, 2, TransactionType.COMMIT)
    records = OperationRecords(store, QueueOffset(0))
    records.read(QueueOffset(5))
    put_own(store, 100, 2, TransactionType.ROLLBACK)
    records.read(QueueOffset(8))
    records.advance(5)
    assert records.cursor == 1
    found = [
        records.find(QueueOffset(2), None, ELSEWHERE),
        records.find(NO_PLACE, None, CommitLogPosition(100)),
    ]
    assert found == [TransactionType.ROLLBACK] * 2


@pytest.mark.clause("broker.transaction.deferred-keeps-place")
@pytest.mark.parametrize("position", [0, 700])
def test_a_record_counts_for_its_place_for_the_told_place_and_for_every_copy(position: int) -> None:
    store = make_store()
    put_own(store, position, 4, TransactionType.ROLLBACK)
    records = OperationRecords(store, QueueOffset(0))
    records.read(QueueOffset(9))
    family = CommitLogPosition(position)
    rollback = TransactionType.ROLLBACK
    assert records.find(QueueOffset(4), None, ELSEWHERE) is rollback
    assert records.find(QueueOffset(7), QueueOffset(4), ELSEWHERE) is rollback
    assert records.find(QueueOffset(7), None, family) is rollback
    assert records.find(QueueOffset(7), QueueOffset(5), ELSEWHERE) is None


def test_reading_begins_where_the_queue_does() -> None:
    store = make_store()
    put_foreign(store, b"2")
    put_foreign(store, b"3")
    store.queue(OPERATION_TOPIC, 0).min_offset = QueueOffset(1)
    records = OperationRecords(store, QueueOffset(0))
    records.read(QueueOffset(5))
    assert (records.cursor, find_all(records, range(5))) == (1, [3])
