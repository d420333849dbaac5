"""Committed offsets: kept, fenced after a reset, and found again after a restart."""

import pytest

from model_tests.refimpl.broker.broker_world import BrokerWorld
from refimpl.broker.offset_table import OffsetTable
from refimpl.broker.recorder import Recorder
from refimpl.effect import Severity
from refimpl.store.config_store import ConfigStore
from spec.broker.offset_table import Carrier
from spec.history.kind import Kind
from spec.rejection import Rejection


def make_table(world: BrokerWorld, notes: list[tuple[Severity, str]] | None = None) -> OffsetTable:
    told = notes if notes is not None else []
    table = OffsetTable(
        ConfigStore(world.disk),
        Recorder(None, "b", "b"),
        lambda severity, text: told.append((severity, text)),
    )
    table.load()
    return table


def commit(table: OffsetTable, offset: int, client: str = "a", carrier: Carrier = Carrier.UPDATE) -> bool:
    return table.commit("g", "T", 0, offset, carrier=carrier, client=client, now_ms=1)


@pytest.mark.clause("broker.offset.commit-overwrites")
def test_a_commit_replaces_what_was_there_and_is_found_after_a_restart() -> None:
    world = BrokerWorld()
    table = make_table(world)
    assert [commit(table, 9), commit(table, 4)] == [True, True]
    assert (table.find("g", "T", 0), table.find("g", "T", 1), table.find("h", "T", 0)) == (4, None, None)
    table.persist()
    assert make_table(world).table() == table.table()


@pytest.mark.clause("broker.offset.reset-fences")
def test_after_a_reset_a_member_commits_only_what_it_was_told_until_it_has_asked() -> None:
    table = make_table(BrokerWorld())
    commit(table, 9)
    table.reset("g", "T", 0, 3, members=("a", "b"), now_ms=1)
    assert not commit(table, 10)
    assert not commit(table, 11, carrier=Carrier.PULL)
    assert commit(table, 7, client="new")  # joined later, so it began after the reset
    table.reset("g", "T", 0, 3, members=("a", "b"), now_ms=1)
    assert commit(table, 3, client="b")  # what it was told
    assert commit(table, 5, client="b")
    assert not commit(table, 12)
    assert table.answer("g", "T", 0, "a") == 5
    assert commit(table, 6)
    assert table.find("g", "T", 0) == 6


def test_a_refused_commit_is_in_the_history_and_the_value_stays() -> None:
    world = BrokerWorld()
    offsets = world.broker.parts.offsets
    offsets.reset("g", "T", 0, 3, members=("a",), now_ms=5)
    offsets.commit("g", "T", 0, 9, carrier=Carrier.PULL, client="a", now_ms=6)
    told = [
        (event.kind, event.offset, event.client, event.cause)
        for event in world.kinds(Kind.COMMIT, Kind.STALE)
    ]
    assert told == [(Kind.COMMIT, 3, "", "reset"), (Kind.STALE, 9, "a", "pull")]
    world.judge()


@pytest.mark.clause("broker.offset.delete-exact-group")
def test_a_group_or_a_topic_is_removed_exactly() -> None:
    table = make_table(BrokerWorld())
    for group, topic in (("g", "T"), ("gg", "T"), ("g", "TT"), ("g", "U")):
        table.commit(group, topic, 0, 1, carrier=Carrier.UPDATE, client="", now_ms=1)
    assert (table.topics_of("g"), table.groups_of("T")) == (("T", "TT", "U"), ("g", "gg"))
    table.remove_topic("T")
    assert (table.topics_of("g"), table.groups_of("T")) == (("TT", "U"), ())
    table.remove_group("g")
    assert table.table().offset_table == {}


def test_a_clone_takes_the_offsets_of_one_topic_or_of_all() -> None:
    table = make_table(BrokerWorld())
    for topic in ("T", "U"):
        table.commit("g", topic, 0, 7, carrier=Carrier.UPDATE, client="", now_ms=1)
    table.clone("g", "h", "T", 1)
    assert table.topics_of("h") == ("T",)
    table.clone("g", "i", None, 1)
    assert (table.topics_of("i"), table.find("i", "U", 0)) == (("T", "U"), 7)


@pytest.mark.clause("store.config.load-falls-back", "store.config.unreadable-is-not-absent")
def test_a_damaged_file_falls_back_and_says_so_and_two_of_them_stop_the_start() -> None:
    world = BrokerWorld()
    table = make_table(world)
    for offset in (1, 2):
        commit(table, offset)
        table.persist()
    spoil(world, "config/consumerOffset.json")
    notes: list[tuple[Severity, str]] = []
    assert make_table(world, notes).find("g", "T", 0) == 1
    ((severity, text),) = notes
    assert severity is Severity.WARNING
    assert "config/consumerOffset.json is not usable, its saved copy counts" in text
    spoil(world, "config/consumerOffset.json.bak")
    with pytest.raises(Rejection, match=r"consumerOffset\.json and its saved copy cannot be read"):
        make_table(world)


def spoil(world: BrokerWorld, path: str) -> None:
    file = world.disk.open(path)
    file.write(0, b"\0" * file.size)
    file.close()


def test_offsets_topics_and_groups_survive_a_clean_restart_and_a_crash_after_the_flush() -> None:
    world = BrokerWorld()
    client = world.connect()
    client.commit("g", "T", 0, 5)
    world.run_for(16_000)
    world.crash()
    client = world.connect()
    assert client.consumer_offset("g", "T", 0) == 5
    client.commit("g", "T", 0, 6)
    world.restart()
    assert world.connect().consumer_offset("g", "T", 0) == 6
    world.judge()
