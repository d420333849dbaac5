"""The native and the JavaScript client send in each of their ways; what they are told is what is stored."""

from hashlib import md5

import pytest

from model_tests.interop.native_broker import QUEUES, create_topic, read_topic
from model_tests.interop.native_driver import Client, Wanted
from model_tests.interop.native_event import UNTOLD_OFFSET, UNTOLD_QUEUE
from model_tests.interop.native_place import Told, told, told_of
from model_tests.interop.target import Target
from spec.broker.topic import TopicConfig
from spec.layout.batch import decode_batch
from spec.layout.stored_message import StoredMessage
from spec.values import property as known

pytest_plugins = ["model_tests.interop.native_fixture"]

KEYS = {"access_key": "interop-user", "secret_key": "interop-secret"}
LOT = [
    Wanted(f"message-{number}", ("red", "blue")[number % 2], ("all", f"key-{number}")) for number in range(12)
]
SHARDED = [Wanted(f"{shard}-{number}", shard=str(shard)) for number in range(5) for shard in range(6)]
SELECTED = {
    queue_id: [wanted.body for wanted in SHARDED if int(wanted.shard) % QUEUES == queue_id]
    for queue_id in range(QUEUES)
}
TOLD_NOTHING = Told("", "", "", UNTOLD_QUEUE, UNTOLD_OFFSET)


def derive_lot(stored: list[StoredMessage]) -> list[Wanted]:
    """What was wanted, as far as the broker holds it."""
    tables = [(message.body.decode(), message.properties()) for message in stored]
    lot = [Wanted(body, table[known.TAGS], tuple(table[known.KEYS].split(" "))) for body, table in tables]
    return sorted(lot, key=lambda wanted: int(wanted.body.partition("-")[2]))


def derive_queues(stored: list[StoredMessage]) -> dict[int, list[str]]:
    """The bodies in each queue, in order."""
    return {
        queue_id: [message.body.decode() for message in stored if message.queue_id == queue_id]
        for queue_id in range(QUEUES)
    }


@pytest.mark.parametrize("keys", [{}, KEYS], ids=["plain", "signed"])
def test_each_send_stands_where_the_client_is_told(
    client: Client, target: Target, keys: dict[str, str]
) -> None:
    topic = client.name(f"Sync{len(keys)}")
    create_topic(target, topic)
    sent = client.produce(topic, LOT, **keys)
    stored = read_topic(target, topic, len(LOT))
    assert derive_lot(stored) == LOT
    assert sorted(map(told, sent)) == sorted(told_of(message, client.program) for message in stored)
    assert {message.queue_id for message in stored} == set(range(QUEUES))


def test_each_asynchronous_send_stands_where_its_callback_is_told(native: Client, target: Target) -> None:
    topic = native.name("Async")
    create_topic(target, topic)
    sent = native.produce(topic, LOT, way="async")
    stored = read_topic(target, topic, len(LOT))
    assert derive_lot(stored) == LOT
    assert sorted(map(told, sent)) == sorted(told_of(message, native.program) for message in stored)


def test_every_one_way_send_arrives_once_though_nothing_is_answered(native: Client, target: Target) -> None:
    topic = native.name("OneWay")
    create_topic(target, topic)
    sent = native.produce(topic, LOT, way="one-way")
    assert [told(answer) for answer in sent] == [TOLD_NOTHING._replace(body=wanted.body) for wanted in LOT]
    assert derive_lot(read_topic(target, topic, len(LOT))) == LOT


def test_the_first_send_makes_the_topic_as_its_template_says(native: Client, target: Target) -> None:
    topic = native.name("MadeBySend")
    sent = native.produce(topic, LOT)
    stored = read_topic(target, topic, len(LOT))
    assert sorted(map(told, sent)) == sorted(told_of(message, native.program) for message in stored)
    with target.connect() as wire:
        assert wire.topics().topic_config_table[topic] == TopicConfig(topic, 4, 4)


def test_a_selector_sends_each_shard_in_order_to_its_queue(native: Client, target: Target) -> None:
    topic = native.name("Selected")
    create_topic(target, topic)
    native.produce(topic, SHARDED, way="orderly")
    stored = read_topic(target, topic, len(SHARDED))
    assert derive_queues(stored) == SELECTED


def test_a_selector_sends_each_shard_to_its_queue_though_nothing_is_answered(
    native: Client, target: Target
) -> None:
    topic = native.name("SelectedOneWay")
    create_topic(target, topic)
    native.produce(topic, SHARDED, way="one-way-orderly")
    queues = derive_queues(read_topic(target, topic, len(SHARDED)))
    # Nothing is waited for, so a broker with several threads may store them in another order.
    assert {queue_id: sorted(bodies) for queue_id, bodies in queues.items()} == {
        queue_id: sorted(bodies) for queue_id, bodies in SELECTED.items()
    }


def test_messages_with_a_sharding_key_stand_in_order_in_the_queue_of_its_hash(
    node: Client, target: Target
) -> None:
    topic = node.name("Sharded")
    create_topic(target, topic)
    # The client takes queue 0 for no queue at all, and spreads what hashes to it: those keys are left out.
    hashes = {key: int.from_bytes(md5(key.encode()).digest()[:4]) % QUEUES for key in "abcdefghijkl"}
    shards = [(key, f"{key}-{number}") for number in range(4) for key, queue_id in hashes.items() if queue_id]
    node.produce(topic, [Wanted(body, shard=key) for key, body in shards])
    assert derive_queues(read_topic(target, topic, len(shards))) == {
        queue_id: [body for key, body in shards if hashes[key] == queue_id] for queue_id in range(QUEUES)
    }


def test_a_batch_whose_mark_is_a_digit_is_stored_as_one_message(native: Client, target: Target) -> None:
    topic = native.name("Batch")
    create_topic(target, topic)
    (sent,) = native.produce(topic, LOT, way="batch")
    (stored,) = read_topic(target, topic, 1)
    assert told(sent) == Told("OK", "", "", UNTOLD_QUEUE, stored.queue_offset)
    # The client says batch:"1", and only the word true makes a batch of it: nobody takes the body apart.
    assert [entry.body.decode() for entry in decode_batch(stored.body)] == [wanted.body for wanted in LOT]
    assert set(stored.properties()) == {known.CLUSTER}
