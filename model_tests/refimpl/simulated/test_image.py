"""Crash images, and that everything follows from the seed."""

from random import Random
from typing import TYPE_CHECKING, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.refimpl.simulated.outcomes import new_disk, read_all
from model_tests.refimpl.simulated.test_like_the_real_disk import FIRST_CALLS, Call, Player, calls
from refimpl.ports import sync_file
from refimpl.simulated.crash import choose_randomly
from refimpl.simulated.disk import SimulatedDisk
from spec.override import override

if TYPE_CHECKING:
    from _typeshed import SupportsLenAndGetItem

T = TypeVar("T")


def used_disk(steps: list[Call], seed: int | Random = 3) -> SimulatedDisk:
    disk = SimulatedDisk(seed, sector_size=8, clock=lambda: 0)
    player = Player(disk)
    for step in (*FIRST_CALLS, *steps):
        player.play(step)
    return disk


@given(st.lists(calls, max_size=40), st.data())
def test_image_is_the_disk_after_the_crash_and_leaves_the_disk_alone(
    steps: list[Call], data: st.DataObject
) -> None:
    disk = used_disk(steps)
    before, pending = read_all(disk), disk.pending()
    kept = data.draw(st.sets(st.sampled_from(range(len(pending))))) if pending else set()
    image = disk.image(kept)
    image.create("image only", 9).write(0, b"123456789")
    image.remove("image only")
    assert (read_all(disk), disk.pending()) == (before, pending)
    disk.crash(kept)
    assert (read_all(image), disk.pending()) == (read_all(disk), ())


def test_the_disk_goes_on_without_changing_its_image() -> None:
    disk = new_disk()
    file = disk.create("f", 4)
    file.write(0, b"abcd")
    sync_file(file)
    disk.sync_folder("")
    image = disk.image()
    file.write(0, b"1234")
    sync_file(file)
    assert (read_all(image), read_all(image.image())) == ({"f": b"abcd"}, {"f": b"abcd"})
    assert (read_all(disk), read_all(disk.image())) == ({"f": b"1234"}, {"f": b"1234"})


@given(st.lists(calls, max_size=40))
def test_keeping_everything_loses_nothing(steps: list[Call]) -> None:
    disk = used_disk(steps)
    before = read_all(disk)
    assert read_all(disk.image(range(len(disk.pending())))) == before


@given(st.lists(calls, max_size=30), st.integers(0, 2**32))
def test_the_same_seed_gives_the_same_crash(steps: list[Call], seed: int) -> None:
    first, second = used_disk(steps, seed), used_disk(steps, Random(seed))
    image = first.image()
    assert [repr(change) for change in first.pending()] == [repr(change) for change in second.pending()]
    assert first.crash_randomly() == second.crash_randomly()
    assert read_all(first) == read_all(second)
    assert image.random.getstate() == used_disk(steps, seed).random.getstate()


def test_chance_loses_all_keeps_all_tears_and_mixes() -> None:
    found = set()
    for seed in range(100):
        disk = SimulatedDisk(seed, sector_size=4, clock=lambda: 0)
        file = disk.create("f", 8)
        file.start_sync().finish()
        disk.sync_folder("")
        file.write(0, b"abcdefgh")
        found.add(disk.crash_randomly())
    assert found == {(), (0,), (1,), (0, 1)}


class TearingRandom(Random):
    """Chance that always tears a call."""

    @override
    def choice(self, seq: "SupportsLenAndGetItem[T]") -> T:
        options = [seq[index] for index in range(len(seq))]
        return next((option for option in options if option == "torn"), super().choice(options))


def test_a_torn_call_leaves_everything_before_it_and_nothing_after_it() -> None:
    found = set()
    for seed in range(100):
        disk = new_disk()
        file = disk.create("f", 8)
        sync_file(file)
        disk.sync_folder("")
        for content in (b"abcdefgh", b"12345678"):
            file.write(0, content)
        found.add(choose_randomly(TearingRandom(seed), disk.pending()))
    assert found == {(), (0,), (1,), (0, 1), (0, 1, 2), (0, 1, 3), (0, 1, 2, 3)}


def test_an_index_that_is_not_pending_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\[3\] are not among the 0 pending changes"):
        new_disk().crash([3])


def test_a_thousand_images_of_a_large_file_share_its_sectors() -> None:
    disk = SimulatedDisk(1, clock=lambda: 0)
    file = disk.create("f", 1 << 30)
    file.write(0, b"x" * (1 << 20))
    file.start_sync().finish()
    disk.sync_folder("")
    images = [disk.image() for _ in range(1_000)]
    contents = {id(image.open("f")._node.durable._contents) for image in images}
    assert len(contents) == 1
