"""The client's offset store."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.group.offset_store import (
    AskStore,
    Known,
    PersistAll,
    ReadMode,
    Unknown,
    derive_persist_all,
    derive_read,
    derive_updated,
)
from spec.values.message_queue import MessageQueue
from spec.values.units import QueueId, QueueOffset


@pytest.mark.clause("group.offset-store.increase-only")
@given(st.lists(st.integers(0, 99).map(QueueOffset), min_size=1))
def test_increase_only_reports_end_at_the_highest_in_any_order(reports: list[QueueOffset]) -> None:
    value: QueueOffset | None = None
    for report in reports:
        value = derive_updated(value, report, increase_only=True)
    assert value == max(reports)


@pytest.mark.clause("group.offset-store.increase-only")
def test_setting_goes_back() -> None:
    assert derive_updated(QueueOffset(9), QueueOffset(5), increase_only=False) == 5


@pytest.mark.clause("group.offset-store.read-modes")
@pytest.mark.parametrize(
    ("mode", "miss", "hit"),
    [
        (ReadMode.MEMORY, Unknown(), Known(QueueOffset(5))),
        (ReadMode.STORE, AskStore(), AskStore()),
        (ReadMode.MEMORY_THEN_STORE, AskStore(), Known(QueueOffset(5))),
    ],
)
def test_read_modes(
    mode: ReadMode, miss: Known | Unknown | AskStore, hit: Known | Unknown | AskStore
) -> None:
    assert (derive_read(mode, None), derive_read(mode, QueueOffset(5))) == (miss, hit)


@pytest.mark.clause("group.offset-store.persists-held-only")
def test_round_of_persisting_sends_what_is_held_and_forgets_the_rest() -> None:
    queues = [MessageQueue("T", "b", QueueId(number)) for number in range(4)]
    memory = {queue: QueueOffset(10 + queue.queue_id) for queue in reversed(queues)}
    assert derive_persist_all(memory, {queues[3], queues[1]}) == PersistAll(
        send=((queues[1], QueueOffset(11)), (queues[3], QueueOffset(13))), forget=(queues[0], queues[2])
    )
