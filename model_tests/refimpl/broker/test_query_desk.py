"""Questions about stored messages through the simulated world."""

import pytest

from model_tests.dialogue import RefusedError
from model_tests.refimpl.broker.broker_world import BrokerWorld, Client
from refimpl.broker import query_desk
from spec.values.message import Message
from spec.values.message_id import decode_message_id
from spec.values.units import Milliseconds, QueueId
from spec.wire.code import RequestCode
from spec.wire.header.offset import (
    OffsetResponseHeader,
    QueueHeader,
    SearchOffsetHeader,
    TimestampResponseHeader,
)


def filled() -> tuple[BrokerWorld, Client]:
    world = BrokerWorld()
    client = world.connect()
    for number in range(4):
        client.send(Message("T", b"%d" % number, 0, {"KEYS": f"k{number} all", "UNIQ_KEY": f"U{number}"}), 0)
        world.run_for(1_000)
    return world, client


def test_messages_are_found_by_key_and_by_unique_key() -> None:
    _, client = filled()
    assert [message.body for message in client.query("T", "k2")] == [b"2"]
    assert [message.body for message in client.query("T", "all")] == [b"0", b"1", b"2", b"3"]
    assert [message.body for message in client.query("T", "U3", is_unique_key=True)] == [b"3"]
    assert client.query("T", "none") == ()
    assert client.query("Other", "all") == ()


def test_an_answer_is_bounded_and_holds_one_message_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    _, client = filled()
    monkeypatch.setattr(query_desk, "BODY_LIMIT", 1)
    assert len(client.query("T", "all")) == 1
    assert len(client.query("T", "k2")) == 1


def test_a_message_is_viewed_by_its_place_and_by_no_other() -> None:
    _, client = filled()
    told = client.send(Message("T", b"here"), 2)
    position = decode_message_id(told.msg_id).position
    assert client.view(position).body == b"here"
    for wrong in (position + 1, -1, 2**62):
        with pytest.raises(RefusedError, match="no message stands at position"):
            client.view(wrong)


@pytest.mark.clause("broker.search.nearest", "broker.search.lower-bound")
def test_a_time_leads_to_the_nearest_message_or_for_5x_to_the_first_not_before_it() -> None:
    _, client = filled()
    times = [message.stored_at_ms for message in client.pull_all("T", 0)]
    assert client.offset_at("T", 0, times[1]) == 1
    assert client.offset_at("T", 0, times[1] + 400) == 1
    assert client.offset_at("T", 0, times[1] + 700) == 2
    assert client.offset_at("T", 0, 2**62) == 3
    assert client.offset_at("T", 0, 0) == 0
    header = SearchOffsetHeader("T", QueueId(0), Milliseconds(times[1] + 1), "LOWER")
    answer = client.call(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, header)
    assert OffsetResponseHeader.decode(answer.extension_fields).offset == 2


def test_ends_and_times_of_queues_are_told_and_of_unknown_ones_too() -> None:
    _, client = filled()
    assert client.bounds("T", 0) == (0, 4)
    assert client.bounds("T", 3) == (0, 0)
    assert client.bounds("Nowhere", 0) == (0, 0)
    assert client.offset_at("Nowhere", -5, 1) == 0
    times = []
    for topic in ("T", "Nowhere"):
        answer = client.call(RequestCode.GET_EARLIEST_MSG_STORETIME, QueueHeader(topic, QueueId(0)))
        times.append(TimestampResponseHeader.decode(answer.extension_fields).timestamp)
    assert times == [client.pull_all("T", 0)[0].stored_at_ms, -1]
