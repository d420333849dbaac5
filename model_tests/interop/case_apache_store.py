"""Stores that Apache filled: the specification says of each what Apache had served from it."""

from pathlib import Path

import pytest

from model_tests.interop.artifact import Jars
from model_tests.interop.conftest import FilledStore
from model_tests.interop.load import COMMITTED, derive_load
from model_tests.interop.peer import SMALL_FILES, run_apache
from model_tests.interop.served import Queues, ask_broker
from model_tests.interop.store_folder import copy_store, read_stopped_store, read_units
from spec.broker.topic import TopicConfig
from spec.recovery.state import APACHE_RULE, REFERENCE_RULE, RecoveryRule
from spec.recovery.store import recover_store
from spec.values.message import Message
from spec.values.name import HALF_TOPIC

SHAPE = SMALL_FILES.shape()
RULES = pytest.mark.parametrize("rule", [REFERENCE_RULE, APACHE_RULE], ids=["reference", "apache"])


def _places(queues: Queues) -> dict[object, tuple[object, ...]]:
    return {
        name: (queue.min_offset, queue.max_offset, [(m.position, m.size) for m in queue.messages])
        for name, queue in queues.items()
    }


def _check_recovery(filled: FilledStore, rule: RecoveryRule, *, is_clean_stop: bool) -> None:
    stopped = read_stopped_store(filled.store)
    assert stopped.is_clean_stop is is_clean_stop
    recovered = recover_store(stopped, SHAPE, rule=rule)
    assert {
        name: (
            queue.min_offset,
            queue.max_offset,
            [(unit.position, unit.size) for unit in queue.content.units],
        )
        for name, queue in recovered.queues.items()
    } == _places(filled.served.queues)


@RULES
@pytest.mark.clause("recovery.state.follows-from-log", "recovery.start.clean-stop")
def test_recovery_of_a_stopped_store_gives_what_apache_served(
    stopped_by_apache: FilledStore, rule: RecoveryRule
) -> None:
    _check_recovery(stopped_by_apache, rule, is_clean_stop=True)


@RULES
@pytest.mark.clause("recovery.state.follows-from-log", "recovery.start.crash")
def test_recovery_of_a_killed_store_gives_what_apache_served(
    killed_under_apache: FilledStore, rule: RecoveryRule
) -> None:
    _check_recovery(killed_under_apache, rule, is_clean_stop=False)


def test_load_fills_several_files_of_the_log_of_a_queue_and_of_the_index(
    stopped_by_apache: FilledStore,
) -> None:
    stopped = read_stopped_store(stopped_by_apache.store)
    longest = max(len(files) for files in stopped.queues.values())
    assert (len(stopped.log), longest, len(stopped.index_files)) == (4, 3, 2)
    sent = derive_load()
    assert len(stopped_by_apache.served.messages()) == len(sent) + 4  # the batch is one step of five
    assert stopped_by_apache.served.consumer_offsets == {
        "Orders@billing": {0: COMMITTED["Orders", "billing", 0], 3: COMMITTED["Orders", "billing", 3]},
        "Logs@audit": {0: COMMITTED["Logs", "audit", 0]},
    }


@pytest.mark.clause("store.queue.unit-layout", "store.queue.unit-place")
def test_units_in_the_files_of_apache_are_those_of_the_messages_it_served(
    stopped_by_apache: FilledStore,
) -> None:
    units = read_units(stopped_by_apache.store, SHAPE)
    assert {
        name: (
            content.first_offset,
            content.max_offset,
            [(unit.position, unit.size) for unit in content.units],
        )
        for name, content in units.items()
    } == _places(stopped_by_apache.served.queues)


def test_apache_serves_the_same_again_after_a_clean_stop_and_one_topic_more(
    jars: Jars, stopped_by_apache: FilledStore, folder: Path
) -> None:
    store = copy_store(stopped_by_apache.store, folder / "store")
    with run_apache(jars, store, folder / "home") as broker:
        with broker.connect() as client:
            again = ask_broker(client, store, SHAPE)
        broker.child.stop()
    # The stop wakes the check of transactions, whose first round creates the topic of the halves.
    topics = {**stopped_by_apache.served.topics, HALF_TOPIC: TopicConfig(HALF_TOPIC, 1, 1)}
    assert again == stopped_by_apache.served._replace(topics=topics)


def test_apache_serves_the_same_messages_again_after_a_kill(
    jars: Jars, killed_under_apache: FilledStore, folder: Path
) -> None:
    store = copy_store(killed_under_apache.store, folder / "store")
    with run_apache(jars, store, folder / "home") as broker:
        with broker.connect() as client:
            again = ask_broker(client, store, SHAPE)
        broker.child.stop()
    assert again.queues == killed_under_apache.served.queues
    assert again.topics == killed_under_apache.served.topics


@pytest.mark.clause("store.file.keeps-room-for-blank")
def test_apache_acknowledges_a_message_that_fits_into_no_file_and_loses_it(jars: Jars, folder: Path) -> None:
    with run_apache(jars, folder / "store", folder / "home") as broker:
        with broker.connect() as client:
            client.create_topic(TopicConfig("Orders", 1, 1))
            too_large = Message("Orders", bytes(SMALL_FILES.log_file_size), 0, {"KEYS": "too-large"})
            lost = client.send(too_large, 0)
            kept = client.send(Message("Orders", b"next"), 0)
            client.wait_dispatched()
            messages = client.pull_all("Orders", 0)
            found = client.query("Orders", "too-large")
        broker.child.stop()
    assert (lost.queue_offset, kept.queue_offset) == (0, 0)
    assert [message.body for message in messages] == [b"next"]
    assert found == ()
