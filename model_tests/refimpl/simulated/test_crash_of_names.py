"""What a crash does to names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.refimpl.simulated.outcomes import list_outcomes, new_disk, read_all
from model_tests.refimpl.simulated.test_image import used_disk
from model_tests.refimpl.simulated.test_like_the_real_disk import Call, Player, calls
from refimpl.ports import sync_file
from refimpl.simulated.disk import SimulatedDisk


def put(disk: SimulatedDisk, path: str, content: bytes) -> None:
    """A file whose content is durable, whatever becomes of its name."""
    file = disk.create(path, len(content))
    file.write(0, content)
    sync_file(file)


def test_an_unsynced_rename_leaves_the_old_name_or_the_new_one() -> None:
    disk = new_disk()
    put(disk, "f", b"old")
    put(disk, "f.tmp", b"new")
    disk.sync_folder("")
    disk.rename("f.tmp", "f")
    assert [repr(change) for change in disk.pending()] == ["<rename f.tmp to f>"]
    assert list_outcomes(disk) == [{"f": b"new"}, {"f": b"old", "f.tmp": b"new"}]


def test_a_rename_survives_only_with_the_creation_of_what_it_renames() -> None:
    disk = new_disk()
    put(disk, "f.tmp", b"new")
    disk.rename("f.tmp", "f")
    assert list_outcomes(disk) == [{}, {"f": b"new"}, {"f.tmp": b"new"}]
    assert read_all(disk.image([1])) == {}


def test_a_synced_rename_is_never_lost() -> None:
    disk = new_disk()
    put(disk, "d/f.tmp", b"new")
    disk.rename("d/f.tmp", "d/f")
    disk.sync_folder("d")
    assert disk.pending() == ()
    assert list_outcomes(disk) == [{"d/": b"", "d/f": b"new"}]


def test_an_unsynced_removal_may_bring_the_file_back() -> None:
    disk = new_disk()
    put(disk, "f", b"old")
    disk.sync_folder("")
    disk.remove("f")
    assert list_outcomes(disk) == [{}, {"f": b"old"}]


def test_names_of_one_folder_survive_in_any_combination() -> None:
    disk = new_disk()
    put(disk, "a", b"1")
    put(disk, "b", b"2")
    assert list_outcomes(disk) == [{}, {"a": b"1"}, {"a": b"1", "b": b"2"}, {"b": b"2"}]


def test_names_of_one_folder_survive_in_their_order_when_asked_for() -> None:
    disk = new_disk(keeps_name_order=True)
    put(disk, "a", b"1")
    put(disk, "b", b"2")
    assert list_outcomes(disk) == [{}, {"a": b"1"}, {"a": b"1", "b": b"2"}]


def test_a_name_that_was_used_again_has_no_mixed_history() -> None:
    disk = new_disk()
    put(disk, "f", b"1")
    disk.remove("f")
    put(disk, "f", b"2")
    assert list_outcomes(disk) == [{}, {"f": b"1"}, {"f": b"2"}]
    assert read_all(disk.image([2])) == {}


def test_a_file_is_lost_with_its_folder() -> None:
    disk = new_disk()
    put(disk, "d/f", b"1")
    assert [repr(change) for change in disk.pending()] == ["<create folder d>", "<create d/f>"]
    assert list_outcomes(disk) == [{}, {"d/": b""}, {"d/": b"", "d/f": b"1"}]


def test_a_sync_of_a_folder_syncs_the_folders_above_and_no_others() -> None:
    disk = new_disk()
    put(disk, "d/e/f", b"1")
    put(disk, "d/g/f", b"2")
    put(disk, "h/f", b"3")
    disk.sync_folder("d/e")
    assert [repr(change) for change in disk.pending()] == ["<create d/g/f>", "<create h/f>"]
    assert read_all(disk.image()) == {"d/": b"", "d/e/": b"", "d/e/f": b"1", "d/g/": b"", "h/": b""}


def test_a_durable_file_that_moves_to_a_new_folder_is_in_one_of_the_two() -> None:
    disk = new_disk()
    put(disk, "a/f", b"1")
    disk.sync_folder("a")
    disk.create("b/x", 0)
    disk.rename("a/f", "b/f")
    assert list_outcomes(disk) == [
        {"a/": b"", "a/f": b"1"},
        {"a/": b"", "a/f": b"1", "b/": b""},
        {"a/": b"", "a/f": b"1", "b/": b"", "b/x": b""},
        {"a/": b"", "b/": b"", "b/f": b"1"},
        {"a/": b"", "b/": b"", "b/f": b"1", "b/x": b""},
    ]


@pytest.mark.parametrize("folder", ["a", "b"])
def test_a_sync_of_either_folder_makes_a_move_between_them_durable(folder: str) -> None:
    disk = new_disk()
    put(disk, "a/f", b"1")
    disk.create("b/x", 0)
    disk.rename("a/f", "b/f")
    disk.remove("b/x")
    disk.sync_folder(folder)
    assert {"a/f", "b/f"} & read_all(disk.image()).keys() == {"b/f"}
    assert all("a/f" not in outcome for outcome in list_outcomes(disk))


def test_a_move_into_new_folders_becomes_durable_with_them() -> None:
    disk = new_disk()
    put(disk, "a/f", b"1")
    disk.sync_folder("a")
    disk.create("b/c/x", 0)
    disk.rename("a/f", "b/c/f")
    disk.sync_folder("a")
    assert read_all(disk.image()) == {"a/": b"", "b/": b"", "b/c/": b"", "b/c/f": b"1"}


def test_a_synced_removal_of_a_folder_makes_durable_what_emptied_it() -> None:
    disk = new_disk()
    put(disk, "d/e/f", b"1")
    put(disk, "g/x", b"2")
    for folder in ("d/e", "g"):
        disk.sync_folder(folder)
    disk.rename("d/e/f", "g/f")
    disk.remove("d/e")
    disk.sync_folder("d")
    assert list_outcomes(disk) == [{"d/": b"", "g/": b"", "g/f": b"1", "g/x": b"2"}]


def test_a_folder_disappears_only_with_what_emptied_it() -> None:
    disk = new_disk()
    put(disk, "d/f", b"1")
    disk.sync_folder("d")
    disk.rename("d/f", "f")
    disk.remove("d")
    assert list_outcomes(disk) == [{"d/": b"", "d/f": b"1"}, {"d/": b"", "f": b"1"}, {"f": b"1"}]
    disk.sync_folder("")
    assert read_all(disk.image()) == {"f": b"1"}


NAME_METHODS = ("create", "remove", "rename", "sync_folder")
name_calls = calls.filter(lambda call: call.method in NAME_METHODS)


@given(st.lists(calls, max_size=20), st.lists(name_calls, max_size=12), st.integers(0, 2**32))
def test_what_was_synced_survives_unless_its_name_was_touched_later(
    before: list[Call], after: list[Call], seed: int
) -> None:
    disk = used_disk(before, seed)
    synced = read_all(disk)
    for path in synced:
        if path.endswith("/"):
            disk.sync_folder(path.removesuffix("/"))
        else:
            sync_file(disk.open(path))
    disk.sync_folder("")
    assert read_all(disk.image()) == synced
    player = Player(disk)
    for call in after:
        player.play(call)
    disk.crash_randomly()
    touched = {
        path for call in after for path in (call.path, call.other_path, call.path.replace("lock", "b"))
    }
    left = read_all(disk)
    safe = {path: content for path, content in synced.items() if path.rstrip("/") not in touched}
    assert {path: left.get(path) for path in safe} == safe
