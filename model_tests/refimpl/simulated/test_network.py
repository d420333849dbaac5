"""Bytes between two ends: in order, at most once, and lost only where an end has gone."""

from collections.abc import Iterator
from random import Random

import pytest

from refimpl.simulated.link import LinkEnd
from refimpl.simulated.network import Network
from refimpl.simulated.scheduler import Scheduler
from spec.values.host import Host, host_of

HERE = host_of("10.0.0.1", 1)
THERE = host_of("10.0.0.2", 2)


class Party:
    """Keeps what it hears, and the ends that it has."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.heard: list[bytes | str] = []
        self.ends: list[LinkEnd] = []

    def on_open(self, end: LinkEnd, peer: Host) -> None:
        self.heard.append(f"open {peer}")
        self.ends.append(end)

    def on_data(self, end: LinkEnd, data: bytes) -> None:
        assert end in self.ends
        self.heard.append(data)

    def on_close(self, end: LinkEnd) -> None:
        self.heard.append(f"close {end.connection}")


class Scene:
    """Two parties, one of which listens, and a connection between them."""

    def __init__(self, seed: int) -> None:
        self.scheduler = Scheduler(0)
        self.network = Network(self.scheduler, Random(seed), range(10), lambda _: None)
        self.listener, self.caller = Party("listener"), Party("caller")
        self.network.listen(THERE, self.listener)
        self.end = self.network.connect(self.caller, -1, HERE.address, str(THERE))
        self.run()
        (self.other,) = self.listener.ends

    def run(self) -> None:
        self.scheduler.run_until(self.scheduler.now_ms + 1_000)


def _scenes() -> Iterator[Scene]:
    return (Scene(seed) for seed in range(50))


def test_each_side_knows_the_other_by_its_host() -> None:
    scene = Scene(1)
    assert scene.listener.heard == ["open 10.0.0.1:40000"]
    assert scene.caller.heard == ["open 10.0.0.2:2"]
    assert (scene.end.connection, scene.other.connection) == (-1, 1)


def _send_five(scene: Scene) -> int:
    """How long it takes until five pieces have arrived that were sent at once."""
    sent_ms = scene.scheduler.now_ms
    for number in range(5):
        scene.network.send(scene.end, bytes((number,)))
    assert scene.scheduler.run_while(lambda: len(scene.listener.heard) < 6, sent_ms + 1_000)
    return scene.scheduler.now_ms - sent_ms


def test_bytes_arrive_in_their_order_and_take_their_time() -> None:
    times: set[int] = set()
    for scene in _scenes():
        times.add(_send_five(scene))
        assert scene.listener.heard[1:] == [b"\0", b"\1", b"\2", b"\3", b"\4"]
    assert len(times) > 3


def test_what_was_sent_before_a_close_arrives_before_it_and_what_is_sent_after_it_does_not() -> None:
    for scene in _scenes():
        scene.network.send(scene.end, b"last")
        scene.network.close(scene.end)
        scene.network.send(scene.end, b"too late")
        scene.run()
        assert scene.listener.heard[1:] == [b"last", "close 1"]
        assert scene.caller.heard[1:] == ["close -1"]
        scene.network.send(scene.other, b"to nobody")
        scene.network.close(scene.other)
        scene.run()
        assert (len(scene.listener.heard), len(scene.caller.heard)) == (3, 2)


def test_whoever_vanishes_hears_nothing_more_and_the_other_side_hears_of_it() -> None:
    for scene in _scenes():
        scene.network.send(scene.other, b"sent")
        scene.network.send(scene.end, b"lost")
        scene.network.reset(scene.other)
        scene.run()
        assert scene.listener.heard[1:] == []
        assert scene.caller.heard[1:] == [b"sent", "close -1"]


def test_a_connection_to_nobody_is_closed() -> None:
    scene = Scene(1)
    scene.network.stop_listening(THERE)
    scene.network.connect(scene.caller, -2, HERE.address, str(THERE))
    scene.run()
    assert scene.caller.heard[1:] == ["close -2"]


def test_an_end_that_is_gone_before_it_was_open_reaches_nobody() -> None:
    for scene in _scenes():
        end = scene.network.connect(scene.caller, -2, HERE.address, str(THERE))
        scene.network.reset(end)
        scene.run()
        assert len(scene.listener.heard) == 1
        end = scene.network.connect(scene.caller, -3, HERE.address, str(THERE))
        scene.network.close(end)
        scene.run()
        assert scene.caller.heard[1:] == ["close -3"]
        assert scene.listener.heard[1:] in ([], ["open 10.0.0.1:40002", "close 2"])


def test_a_host_is_listened_at_by_one() -> None:
    scene = Scene(1)
    with pytest.raises(ValueError, match=r"caller cannot listen: 10\.0\.0\.2:2 is in use"):
        scene.network.listen(THERE, scene.caller)
