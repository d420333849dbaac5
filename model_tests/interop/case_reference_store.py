"""One store, two programs: what one of them wrote, the other serves, there and back again."""

import os
import sys
from pathlib import Path

import pytest

from model_tests.interop.artifact import Jars
from model_tests.interop.child import Child
from model_tests.interop.conftest import FilledStore
from model_tests.interop.load import Sent
from model_tests.interop.peer import SMALL_FILES, run_apache
from model_tests.interop.reference import append_step, ask_reference, fill_reference, now_ms, open_reference
from model_tests.interop.reference_filler import FILLED_MARK
from model_tests.interop.served import KeyPlaces, Served, ask_broker
from model_tests.interop.store_folder import copy_store, read_index, read_stopped_store
from spec.broker.topic import TopicConfig
from spec.layout.index_chain import hash_key
from spec.recovery.state import APACHE_RULE, QueueName
from spec.recovery.store import recover_store
from spec.values.message import Message
from spec.values.name import HALF_TOPIC
from spec.values.units import QueueId

SHAPE = SMALL_FILES.shape()


def _serve_reference(store: Path) -> Served:
    """What the reference serves from a store, which it leaves by a clean stop."""
    opened = open_reference(store, SMALL_FILES)
    try:
        return ask_reference(opened)
    finally:
        error = opened.close(now_ms())
        assert error is None, error


def _fill(store: Path) -> Served:
    """What the reference serves from a store that it filled and left by a clean stop."""
    opened = open_reference(store, SMALL_FILES)
    try:
        fill_reference(opened)
        return ask_reference(opened)
    finally:
        error = opened.close(now_ms())
        assert error is None, error


def _serve_apache(jars: Jars, store: Path, home: Path) -> Served:
    """What Apache serves from a store, which it leaves by a clean stop."""
    with run_apache(jars, store, home) as broker:
        with broker.connect() as client:
            client.wait_dispatched()
            served = ask_broker(client, store, SHAPE)
        broker.child.stop()
    return served


def _derive_apache_keys(store: Path, served: Served) -> KeyPlaces:
    """What Apache will find under each key after a start on the store, by its rule for the index."""
    stopped = read_stopped_store(store)
    recovered = recover_store(stopped, SHAPE, rule=APACHE_RULE)
    held = {(key.key_hash, key.position) for key in recovered.indexed_keys}
    kept = {verdict.name for verdict in recovered.index_files if verdict.refusal is None}
    for file in stopped.index_files:
        held.update(read_index(file, SMALL_FILES.index_slots) if file.name in kept else ())
    return {
        (topic, key): tuple(sorted(place for code, place in held if code == hash_key(topic, key)))
        for topic, key in served.keys
    }


@pytest.mark.clause(
    "recovery.state.follows-from-log", "recovery.start.clean-stop", "store.config.both-spellings"
)
def test_reference_serves_what_apache_stored_before_a_clean_stop(
    stopped_by_apache: FilledStore, folder: Path
) -> None:
    served = _serve_reference(copy_store(stopped_by_apache.store, folder / "store"))
    topics = {**stopped_by_apache.served.topics, HALF_TOPIC: TopicConfig(HALF_TOPIC, 1, 1)}
    assert served == stopped_by_apache.served._replace(topics=topics)


@pytest.mark.clause(
    "recovery.state.follows-from-log", "recovery.start.crash", "recovery.index.rebuilt-from-last-kept"
)
def test_reference_serves_what_apache_stored_before_a_kill(
    killed_under_apache: FilledStore, folder: Path
) -> None:
    served = _serve_reference(copy_store(killed_under_apache.store, folder / "store"))
    assert served.queues == killed_under_apache.served.queues
    assert served.keys == killed_under_apache.served.keys
    assert served.topics == killed_under_apache.served.topics


@pytest.mark.clause("store.directory.names", "store.record.layout", "store.index.layout")
def test_apache_serves_what_the_reference_stored_before_a_clean_stop(jars: Jars, folder: Path) -> None:
    filled = _fill(folder / "store")
    served = _serve_apache(jars, folder / "store", folder / "home")
    assert served._replace(topics={}) == filled._replace(topics={})
    assert {name: served.topics[name] for name in filled.topics} == filled.topics


@pytest.mark.clause("recovery.state.follows-from-log", "recovery.start.crash")
def test_apache_serves_what_the_reference_stored_before_a_kill(jars: Jars, folder: Path) -> None:
    store = folder / "store"
    command = [sys.executable, "-m", "model_tests.interop.reference_filler", str(store)]
    filler = Child(command, folder / "filler.log", {"PYTHONPATH": os.pathsep.join(sys.path)})
    try:
        filler.wait_ready(lambda: (folder / FILLED_MARK).exists() or None)
    finally:
        filler.kill()
    filled = _serve_reference(copy_store(store, folder / "copy"))
    keys = _derive_apache_keys(store, filled)
    served = _serve_apache(jars, store, folder / "home")
    assert len(filled.messages()) == 215
    assert served._replace(topics={}, keys={}) == filled._replace(topics={}, keys={})
    assert served.keys == keys


def _append_by_apache(jars: Jars, folder: Path, turn: int, *, is_killed: bool) -> Served:
    """What Apache serves after it has stored 40 messages more."""
    store = folder / "store"
    with run_apache(jars, store, folder / "home") as broker:
        with broker.connect() as client:
            for number in range(40):
                body = f"apache {turn} {number}".encode()
                client.send(Message("Logs", body, 0, {"KEYS": f"a-{turn}-{number}"}), 1)
            client.wait_dispatched()
            served = ask_broker(client, store, SHAPE)
        if is_killed:
            broker.child.kill()
        else:
            broker.child.stop()
    return served


def _append_by_reference(store: Path, turn: int) -> tuple[Served, Served]:
    """What the reference serves before and after it has stored one message more."""
    opened = open_reference(store, SMALL_FILES)
    before = ask_reference(opened)
    append_step(opened, Sent(Message("Logs", f"reference {turn}".encode(), 0, {"KEYS": f"r-{turn}"}), 1))
    opened.reput_all()
    after = ask_reference(opened)
    assert opened.close(now_ms()) is None
    return before, after


@pytest.mark.clause("store.directory.names", "recovery.start.clean-stop", "recovery.start.crash")
def test_store_goes_from_the_reference_to_apache_and_back_twice(jars: Jars, folder: Path) -> None:
    served = _fill(folder / "store")
    bodies = [b"no property at all"]
    for turn in range(2):
        by_apache = _append_by_apache(jars, folder, turn, is_killed=turn == 1)
        found, served = _append_by_reference(folder / "store", turn)
        assert (found.queues, found.keys) == (by_apache.queues, by_apache.keys)
        bodies += [
            *(f"apache {turn} {number}".encode() for number in range(40)),
            f"reference {turn}".encode(),
        ]
    last = _serve_apache(jars, folder / "store", folder / "home")
    assert (last.queues, last.keys) == (served.queues, served.keys)
    assert [message.body for message in last.queues[QueueName("Logs", QueueId(1))].messages] == bodies
