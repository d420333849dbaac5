"""A core in the simulated world: everything it asks for is carried out, and a seed says when."""

from collections import Counter

import pytest

from model_tests.refimpl.simulated.little_core import (
    ECHO,
    HOST,
    LATER,
    LOSE,
    OTHER,
    PUSH,
    RELAY,
    TWICE,
    WRITE,
    LittleCore,
    read_content,
    start_little,
)
from refimpl.effect import Note, Severity
from refimpl.remoting.calls import derive_request
from refimpl.simulated.caller import CallerError
from refimpl.simulated.delivery import Delivery, DeliveryKind
from refimpl.simulated.machine import Told
from refimpl.simulated.world import START_MS, World
from spec.wire.frame import encode_frame


def test_a_request_is_answered_on_its_connection() -> None:
    world = World(1)
    start_little(world)
    first, second = world.connect(HOST), world.connect(HOST)
    opaques = [first.request(ECHO, body=b"a"), first.request(ECHO, body=b"b")]
    assert second.call(ECHO, body=b"c").body == b"c"
    world.run_for(10)
    assert [first.replies[opaque].body for opaque in opaques] == [b"a", b"b"]
    assert list(second.replies) == [1]


def test_an_alarm_wakes_the_core_at_its_deadline() -> None:
    world = World(1)
    start_little(world)
    caller = world.connect(HOST)
    opaque = caller.request(LATER)
    world.run_for(499)
    assert caller.replies == {}
    with pytest.raises(CallerError, match="no answer to 1: the connection is open"):
        caller.await_reply(opaque, limit_ms=0)
    assert caller.await_reply(opaque, limit_ms=10).opaque == opaque


def test_what_arrives_in_one_moment_is_one_turn() -> None:
    arrivals: Counter[int] = Counter()
    world = World(1, watch=lambda delivery: arrivals.update((delivery.time_ms,) * len(delivery.content)))
    core = start_little(world)
    callers = [world.connect(HOST) for _ in range(5)]
    world.run_for(10)
    arrivals.clear()
    core.turns.clear()
    frame = encode_frame(derive_request(ECHO, 1, None, b"", is_oneway=True))
    for caller in callers:
        caller.send_bytes(frame * 2)
    world.run_for(10)
    assert core.turns == [(time_ms, size // len(frame)) for time_ms, size in sorted(arrivals.items())]
    assert sorted(count for _, count in core.turns) == [2, 4, 4]


def test_a_push_comes_before_the_answer_that_was_given_after_it() -> None:
    world = World(1)
    start_little(world)
    caller = world.connect(HOST)
    caller.call(PUSH)
    assert [(push.code, push.extension_fields) for push in caller.pushes] == [(PUSH, {"key": "value"})]


def test_a_task_ends_later_and_what_was_written_before_it_began_is_durable() -> None:
    world = World(1)
    start_little(world)
    caller = world.connect(HOST)
    asked_ms = world.now_ms
    assert caller.call(WRITE, body=b"12345678").remark is None
    assert world.now_ms > asked_ms
    world.disks["one"].crash()
    assert read_content(world.disks["one"]) == b"12345678"


def test_the_error_of_a_task_reaches_the_core() -> None:
    world = World(1)
    start_little(world)
    world.disks["one"].fail_syncs(1)
    reply = world.connect(HOST).call(WRITE, body=b"12345678")
    assert reply.remark == "content: the disk failed (this sync was to fail)"


def test_a_core_connects_to_another_by_its_address() -> None:
    world = World(1)
    start_little(world)
    other = start_little(world, "two", OTHER)
    assert world.connect(HOST).call(RELAY, body=b"far").body == b"far"
    assert [count for _, count in other.turns if count] == [1]


def test_a_core_hears_that_nobody_listens() -> None:
    world = World(1)
    core = start_little(world)
    caller = world.connect(HOST)
    caller.request(RELAY)
    world.run_for(20)
    assert core.ends == [-1]
    assert caller.replies == {}


def test_whoever_sends_no_frame_is_cut_off_alone() -> None:
    world = World(1)
    core = start_little(world)
    stranger, caller = world.connect(HOST), world.connect(HOST)
    stranger.send_bytes(b"GET / HTTP/1.1\r\n\r\n")
    world.run_for(20)
    assert (stranger.is_closed, core.ends) == (True, [1])
    assert caller.call(ECHO).code == 0


def test_a_connection_that_the_core_closes_is_closed_at_both_ends_and_notes_are_kept() -> None:
    world = World(1)
    core = start_little(world)
    caller = world.connect(HOST)
    with pytest.raises(CallerError, match="no answer to 1: the connection was closed"):
        caller.call(LOSE)
    assert core.ends == [1]
    ((time_ms, node, note),) = world.notes
    assert START_MS < time_ms <= world.now_ms
    assert (node, note) == ("one", Note(Severity.WARNING, "lost"))
    assert world.notes == [Told(time_ms, node, note)]


def test_a_core_hears_of_a_caller_that_leaves() -> None:
    world = World(1)
    core = start_little(world)
    caller = world.connect(HOST)
    caller.call(ECHO)
    caller.close()
    world.run_for(20)
    assert (caller.is_closed, core.ends, core.peers) == (True, [1], {})


def test_a_crash_resets_connections_and_ends_what_was_under_way() -> None:
    world = World(1)
    core = start_little(world)
    caller = world.connect(HOST)
    opaque = caller.request(LATER)
    world.run_for(20)
    world.crash("one")
    with pytest.raises(CallerError, match="the connection was closed"):
        caller.await_reply(opaque)
    assert world.connect(HOST).is_closed
    world.run_for(1_000)
    assert (core.ends, caller.replies) == ([], {})


def _content_after_crash(seed: int) -> bytes:
    """What a node finds that crashed with one write acknowledged and another one under way."""
    world = World(seed)
    start_little(world)
    disk = world.disks["one"]
    caller = world.connect(HOST)
    caller.call(WRITE, body=b"durable.")
    caller.request(WRITE, body=b"perhaps.")
    world.scheduler.run_while(lambda: read_content(disk) != b"perhaps.", world.now_ms + 100)
    world.crash("one")
    world.restart("one", lambda now_ms: LittleCore(disk, now_ms))
    assert world.connect(HOST).call(ECHO, body=b"again").body == b"again"
    return read_content(disk)


def test_a_node_that_is_restarted_has_what_its_disk_kept() -> None:
    assert {_content_after_crash(seed) for seed in range(20)} == {b"durable.", b"perhaps."}


def test_a_core_is_woken_at_its_deadlines_and_at_no_other_time() -> None:
    deliveries: list[Delivery] = []
    world = World(1, watch=deliveries.append)
    core = start_little(world)
    world.run_for(100)
    core.agenda.at(START_MS + 700, lambda _: None)
    world.connect(HOST).call(ECHO)
    world.run_for(6_000)
    wakes = [delivery.time_ms for delivery in deliveries if delivery.kind is DeliveryKind.WAKE]
    assert wakes == [START_MS + late_ms for late_ms in (700, 3_000, 4_000, 5_000, 6_000)]


def test_a_crash_in_the_middle_of_a_turn_leaves_nothing_of_it_and_the_next_start_is_a_new_one() -> None:
    def crash(delivery: Delivery) -> None:
        if delivery.kind is DeliveryKind.DATA and delivery.node == "one" and len(cores) == 1:
            world.scheduler.after(0, restart)

    def restart(_: int) -> None:
        world.crash("one")
        cores.append(LittleCore(world.disks["one"], world.now_ms))
        world.restart("one", lambda _: cores[-1])

    world = World(1, watch=crash)
    cores = [start_little(world)]
    caller = world.connect(HOST)
    caller.request(ECHO)
    world.run_for(20)
    assert (len(cores), caller.replies, caller.is_closed) == (2, {}, True)
    assert sum(count for _, count in cores[0].turns) == 0
    assert world.connect(HOST).call(ECHO, body=b"again").body == b"again"


def test_whoever_answers_twice_is_found_out() -> None:
    world = World(1)
    start_little(world)
    world.connect(HOST).request(TWICE)
    with pytest.raises(CallerError, match="request 1 was answered twice"):
        world.run_for(20)


def test_a_node_runs_once() -> None:
    world = World(1)
    start_little(world)
    with pytest.raises(ValueError, match="there is a one already; restart it"):
        start_little(world)
    with pytest.raises(ValueError, match="one runs already; crash it first"):
        world.restart("one", lambda now_ms: LittleCore(world.disks["one"], now_ms))


def _trace(seed: int) -> bytes:
    """Everything that a busy little world delivered."""
    deliveries: list[Delivery] = []
    world = World(seed, watch=deliveries.append)
    start_little(world)
    start_little(world, "two", OTHER)
    callers = [world.connect(HOST), world.connect(OTHER), world.connect(HOST)]
    for number in range(60):
        callers[number % 3].request((ECHO, LATER, WRITE, PUSH)[number % 4], body=bytes((number,)) * 8)
        world.run_for(number % 7)
    world.crash("two")
    callers[0].request(RELAY, body=b"nobody")
    world.run_for(2_000)
    assert {delivery.kind for delivery in deliveries} == set(DeliveryKind)
    return b"".join(delivery.encode() for delivery in deliveries)


def test_a_seed_determines_everything_that_is_delivered_byte_for_byte() -> None:
    traces = [_trace(seed) for seed in range(5)]
    assert traces == [_trace(seed) for seed in range(5)]
    assert len(set(traces)) == 5
