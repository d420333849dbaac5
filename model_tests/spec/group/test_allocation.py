"""The six strategies, against transcriptions of Apache's loops and by their promises."""

import hashlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.group.allocation.averagely import Averagely, derive_average_slice
from spec.group.allocation.circle import Circle, derive_circle_positions
from spec.group.allocation.configured import Configured
from spec.group.allocation.consistent_hash import (
    ConsistentHash,
    derive_md5_point,
    derive_ring,
    derive_ring_owner,
)
from spec.group.allocation.machine_room import MachineRoom, derive_broker_room, derive_room_positions
from spec.group.allocation.nearby import Nearby
from spec.group.allocation.strategy import Strategy, View, derive_view
from spec.rejection import Rejection
from spec.values.message_queue import MessageQueue
from spec.values.units import QueueId

LISTED: list[Strategy] = [Averagely(), Circle(), ConsistentHash(), MachineRoom(frozenset({"r1"}))]
NAMES = st.text(alphabet="abz\uffff\U0001f600", min_size=1, max_size=3)
MEMBERS = st.lists(NAMES, min_size=1, max_size=6)
QUEUES = st.lists(
    st.builds(
        MessageQueue, st.just("T"), st.sampled_from(["r1@a", "r2@b", "c"]), st.integers(0, 9).map(QueueId)
    ),
    min_size=1,
    max_size=16,
)


def view_of(count: int, members: list[str]) -> View:
    """Queues of one broker, in the room that the machine-room strategy knows."""
    return derive_view([MessageQueue("T", "r1@a", QueueId(n)) for n in range(count)], members)


def average_by_apache(queues: list[MessageQueue], members: list[str], member: str) -> list[MessageQueue]:
    """The arithmetic as it stands in AllocateMessageQueueAveragely, with its wrap-around."""
    index, total, parts = members.index(member), len(queues), len(members)
    mod = total % parts
    if total <= parts:
        size = 1
    elif mod > 0 and index < mod:
        size = total // parts + 1
    else:
        size = total // parts
    start = index * size if mod > 0 and index < mod else index * size + mod
    return [queues[(start + step) % total] for step in range(min(size, total - start))]


def ring_by_apache(queues: list[MessageQueue], members: list[str], member: str) -> list[MessageQueue]:
    """A walk over a sorted map, one queue at a time."""

    def place(text: str) -> int:
        return int(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:8], 16)

    ring: dict[int, str] = {}
    for one in members:
        existing = len([owner for owner in ring.values() if owner == one])
        for number in range(10):
            ring[place(f"{one}-{number + existing}")] = one
    owned = []
    for queue in queues:
        text = f"MessageQueue [topic={queue.topic}, brokerName={queue.broker_name}, queueId={queue.queue_id}]"
        tail = [point for point in ring if point >= place(text)]
        if ring[min(tail or ring)] == member:
            owned.append(queue)
    return owned


def room_by_apache(queues: list[MessageQueue], members: list[str], member: str) -> list[MessageQueue]:
    local = [queue for queue in queues if queue.broker_name == "r1@a"]
    index, parts = members.index(member), len(members)
    mod, rem = len(local) // parts, len(local) % parts
    owned = [local[at] for at in range(mod * index, mod * index + mod)]
    if rem > index:
        owned.append(local[index + mod * parts])
    return owned


@pytest.mark.clause(
    "group.allocation.average-slices",
    "group.allocation.circle-deals",
    "group.allocation.consistent-hash-ring",
)
@given(QUEUES, MEMBERS, st.data())
def test_strategies_equal_the_transcriptions_also_with_duplicate_ids(
    queues: list[MessageQueue], members: list[str], data: st.DataObject
) -> None:
    view = derive_view(queues, members)
    member = data.draw(st.sampled_from(view.members))
    inputs = (list(view.queues), list(view.members), member)
    assert list(Averagely().allocate(view, member)) == average_by_apache(*inputs)
    assert list(ConsistentHash().allocate(view, member)) == ring_by_apache(*inputs)
    index = view.members.index(member)
    dealt = [queue for at, queue in enumerate(view.queues) if at % len(view.members) == index]
    assert list(Circle().allocate(view, member)) == dealt


@pytest.mark.clause("group.allocation.machine-room-shares")
@given(queues=QUEUES, local_count=st.integers(0, 9), members=MEMBERS)
def test_machine_room_equals_the_transcription_for_every_member(
    queues: list[MessageQueue], local_count: int, members: list[str]
) -> None:
    view = derive_view([*queues, *view_of(local_count, []).queues], members)
    for member in view.members:
        owned = MachineRoom(frozenset({"r1"})).allocate(view, member)
        assert list(owned) == room_by_apache(list(view.queues), list(view.members), member)


@pytest.mark.clause("group.allocation.average-slices")
@pytest.mark.parametrize(
    ("queue_count", "slices"),
    [
        (8, [(0, 3), (3, 6), (6, 8)]),
        (7, [(0, 3), (3, 5), (5, 7)]),
        (4, [(0, 2), (2, 3), (3, 4)]),
        (3, [(0, 1), (1, 2), (2, 3)]),
        (2, [(0, 1), (1, 2), (4, 4)]),
        (1, [(0, 1), (2, 2), (3, 3)]),
    ],
)
def test_slice_of_a_surplus_member_of_three_is_empty_and_lies_outside(
    queue_count: int, slices: list[tuple[int, int]]
) -> None:
    assert [derive_average_slice(queue_count, 3, index) for index in range(3)] == slices


@pytest.mark.clause("group.allocation.circle-deals")
def test_queues_are_dealt_to_three_members_in_turn() -> None:
    dealt = [tuple(derive_circle_positions(7, 3, index)) for index in range(3)]
    assert dealt == [(0, 3, 6), (1, 4), (2, 5)]


@pytest.mark.clause("group.allocation.machine-room-shares")
@pytest.mark.parametrize(
    ("queue_count", "positions"),
    [
        (8, [(0, 1, 6), (2, 3, 7), (4, 5)]),
        (6, [(0, 1), (2, 3), (4, 5)]),
        (2, [(0,), (1,), ()]),
        (0, [(), (), ()]),
    ],
)
def test_room_is_shared_in_equal_parts_and_the_first_members_take_what_is_left_over(
    queue_count: int, positions: list[tuple[int, ...]]
) -> None:
    assert [derive_room_positions(queue_count, 3, index) for index in range(3)] == positions


@pytest.mark.clause("group.allocation.machine-room-shares")
def test_machine_room_shares_the_queues_of_its_rooms_only() -> None:
    names = ("c", "r1@a", "r1@b", "r2@a", "r3@a")
    view = derive_view(
        [MessageQueue("T", name, QueueId(n)) for name in names for n in range(2)], ["c1", "c2"]
    )
    strategy = MachineRoom(frozenset({"r1", "r3"}))
    shares = [[(q.broker_name, q.queue_id) for q in strategy.allocate(view, one)] for one in view.members]
    assert shares == [
        [("r1@a", 0), ("r1@a", 1), ("r1@b", 0)],
        [("r1@b", 1), ("r3@a", 0), ("r3@a", 1)],
    ]


def nearby_strategy(inner: Strategy) -> Nearby:
    return Nearby(inner, lambda queue: queue.broker_name[:2], lambda member: "r1" if member < "b" else "r2")


@pytest.mark.clause(
    "group.allocation.partition", "group.allocation.agreement", "group.allocation.nearby-rooms"
)
@pytest.mark.parametrize(
    "strategy",
    [
        Averagely(),
        Circle(),
        ConsistentHash(),
        nearby_strategy(Averagely()),
        nearby_strategy(ConsistentHash()),
    ],
    ids=lambda strategy: strategy.name,
)
@given(queues=QUEUES, members=st.lists(NAMES, min_size=1, max_size=6, unique=True))
def test_every_queue_belongs_to_exactly_one_member(
    strategy: Strategy, queues: list[MessageQueue], members: list[str]
) -> None:
    view = derive_view(queues, members)
    shared = [queue for member in view.members for queue in strategy.allocate(view, member)]
    assert sorted(shared) == list(view.queues)


@pytest.mark.clause("group.allocation.agreement", "group.order.utf16-units")
@given(queues=QUEUES, members=MEMBERS, data=st.data())
def test_result_does_not_depend_on_the_order_of_the_inputs(
    queues: list[MessageQueue], members: list[str], data: st.DataObject
) -> None:
    shuffled = derive_view(data.draw(st.permutations(queues)), data.draw(st.permutations(members)))
    assert shuffled == derive_view(queues, members)


@pytest.mark.clause("group.order.utf16-units", "group.order.queues")
def test_view_is_sorted_as_java_sorts() -> None:
    queues = [MessageQueue("T", name, QueueId(0)) for name in ("\uffff", "\U0001f600", "b")]
    view = derive_view([*queues, *queues], ["\uffff", "\U0001f600", "c", "c"])
    assert view.members == ("c", "c", "\U0001f600", "\uffff")
    assert [queue.broker_name for queue in view.queues] == ["b", "\U0001f600", "\uffff"]


@pytest.mark.clause("group.allocation.nearby-rooms", "group.order.utf16-units")
def test_nearby_takes_empty_rooms_in_java_order() -> None:
    rooms = ["ab", "ba", "\uffff", "\U0001f600"]
    queues = [MessageQueue("T", f"b{number}", QueueId(0)) for number in range(4)]
    nearby = Nearby(Averagely(), lambda queue: rooms[int(queue.broker_name[1])], lambda _: "own")
    owned = nearby.allocate(derive_view(queues, ["c1"]), "c1")
    assert [queue.broker_name for queue in owned] == ["b0", "b1", "b3", "b2"]


@pytest.mark.clause("group.allocation.balance")
@given(st.integers(1, 40), st.integers(1, 9))
def test_sizes_fall_by_at_most_one_over_the_members(queue_count: int, member_count: int) -> None:
    view = view_of(queue_count, [f"c{n}" for n in range(member_count)])
    for strategy in (Averagely(), Circle()):
        sizes = [len(strategy.allocate(view, member)) for member in view.members]
        assert max(sizes) - min(sizes) <= 1
        assert all(one >= two for one, two in pairwise(sizes))


@pytest.mark.clause("group.allocation.consistent-hash-stability")
@given(st.sets(NAMES, min_size=2, max_size=6), st.data())
def test_consistent_hashing_moves_only_the_queues_of_who_leaves(
    members: set[str], data: st.DataObject
) -> None:
    leaver = data.draw(st.sampled_from(sorted(members)))
    before, after = view_of(12, sorted(members)), view_of(12, sorted(members - {leaver}))
    for member in after.members:
        assert set(ConsistentHash().allocate(before, member)) <= set(ConsistentHash().allocate(after, member))


@pytest.mark.clause("group.allocation.refuses-empty-view")
@pytest.mark.parametrize(
    "strategy", [*LISTED, nearby_strategy(Averagely())], ids=lambda strategy: strategy.name
)
@pytest.mark.parametrize(
    ("queue_count", "members", "member", "reason"),
    [
        (1, ["c1"], "", "the own client id is empty"),
        (0, ["c1"], "c1", "the view has no queues"),
        (1, [], "c1", "the view has no members"),
    ],
)
def test_empty_inputs_are_refused(
    strategy: Strategy, queue_count: int, members: list[str], member: str, reason: str
) -> None:
    with pytest.raises(Rejection) as refusal:
        strategy.allocate(view_of(queue_count, members), member)
    assert refusal.value == Rejection("group.allocation.refuses-empty-view", 0, reason)


@pytest.mark.clause("group.allocation.unlisted-owns-nothing")
@pytest.mark.parametrize(
    "strategy", [*LISTED, nearby_strategy(Averagely())], ids=lambda strategy: strategy.name
)
def test_member_that_is_not_listed_owns_nothing(strategy: Strategy) -> None:
    view = view_of(8, ["c1", "c2"])
    assert strategy.allocate(view, "c3") == ()
    assert sorted(queue for one in view.members for queue in strategy.allocate(view, one)) == list(
        view.queues
    )


@pytest.mark.clause("group.allocation.unique-ids")
def test_shared_id_takes_the_first_share_twice_and_leaves_the_second_to_nobody() -> None:
    view = view_of(4, ["c1", "c1"])
    assert [queue.queue_id for queue in Averagely().allocate(view, "c1")] == [0, 1]
    assert ConsistentHash().allocate(view, "c1") == view.queues


@pytest.mark.clause("group.allocation.config-ignores-view")
def test_configured_list_is_given_to_everybody() -> None:
    queues = view_of(2, []).queues
    assert Configured(queues).allocate(View((), ()), "") == queues


@pytest.mark.clause("group.allocation.names")
def test_names_are_those_that_apache_reports() -> None:
    strategies: list[Strategy] = [*LISTED, Configured(()), nearby_strategy(Averagely())]
    assert [strategy.name for strategy in strategies] == [
        "AVG",
        "AVG_BY_CIRCLE",
        "CONSISTENT_HASH",
        "MACHINE_ROOM",
        "CONFIG",
        "MACHINE_ROOM_NEARBY-AVG",
    ]


@pytest.mark.clause("group.allocation.machine-room-shares")
@pytest.mark.parametrize(
    ("broker_name", "room"),
    [
        ("r@b", "r"),
        ("r@b@", "r"),
        ("r@b@@", "r"),
        ("@b", ""),
        ("r@", None),
        ("b", None),
        ("r@b@c", None),
        ("", None),
    ],
)
def test_room_is_read_as_java_splits(broker_name: str, room: str | None) -> None:
    assert derive_broker_room(broker_name) == room


@pytest.mark.clause("group.allocation.nearby-rooms")
def test_nearby_shares_its_own_room_first_and_then_the_empty_rooms_in_order() -> None:
    queues = [MessageQueue("T", name, QueueId(n)) for name in ("x@1", "a@1", "m@1") for n in range(2)]
    rooms = {"c1": "m", "c2": "m"}
    nearby = Nearby(Averagely(), lambda queue: queue.broker_name[0], rooms.get)
    owned = nearby.allocate(derive_view(queues, ["c1", "c2"]), "c2")
    assert [(queue.broker_name, queue.queue_id) for queue in owned] == [("m@1", 1), ("a@1", 1), ("x@1", 1)]


@pytest.mark.clause("group.allocation.nearby-rooms")
@pytest.mark.parametrize(("queue_room", "member_room"), [(None, "r"), ("", "r"), ("r", None)])
def test_nearby_refuses_what_stands_nowhere(queue_room: str | None, member_room: str | None) -> None:
    nearby = Nearby(Averagely(), lambda _: queue_room, lambda _: member_room)
    with pytest.raises(Rejection, match="no machine room is known") as refusal:
        nearby.allocate(view_of(1, ["c1"]), "c1")
    assert refusal.value.clause == "group.allocation.nearby-rooms"


@pytest.mark.clause("group.allocation.nearby-rooms")
@pytest.mark.parametrize(
    ("unknown", "what"),
    [
        ("queue", "MessageQueue [topic=T, brokerName=r1@a, queueId=1]"),
        ("member", "c2"),
    ],
)
def test_nearby_names_who_stands_nowhere_and_at_which_position(unknown: str, what: str) -> None:
    nearby = Nearby(
        Averagely(),
        lambda queue: None if unknown == "queue" and queue.queue_id == 1 else "r",
        lambda member: None if unknown == "member" and member == "c2" else "r",
    )
    with pytest.raises(Rejection) as refusal:
        nearby.allocate(view_of(3, ["c1", "c2", "c3"]), "c1")
    reason = f"no machine room is known for {what}"
    assert refusal.value == Rejection("group.allocation.nearby-rooms", 1, reason)


@pytest.mark.clause("group.allocation.consistent-hash-ring")
def test_ring_of_no_points_has_no_owner_and_a_negative_number_is_refused() -> None:
    assert ConsistentHash(0).allocate(view_of(3, ["c1"]), "c1") == ()
    with pytest.raises(Rejection) as refusal:
        ConsistentHash(-1)
    reason = "-1 points a member: expected 0 or more"
    assert refusal.value == Rejection("group.allocation.consistent-hash-ring", 0, reason)


@pytest.mark.clause("group.allocation.consistent-hash-ring")
def test_point_is_four_bytes_of_md5_and_half_a_surrogate_is_a_question_mark() -> None:
    assert [derive_md5_point(text) for text in ("", "abc", "?", "\ud800")] == [
        0xD41D8CD9,
        0x90015098,
        0xD1457B72,
        0xD1457B72,
    ]


@pytest.mark.clause("group.allocation.consistent-hash-ring", "group.allocation.unique-ids")
def test_id_listed_again_goes_on_numbering_after_the_points_it_still_holds() -> None:
    places = {"a-0": 5, "a-1": 6, "b-0": 5, "b-1": 7, "a-2": 8}
    points = ConsistentHash(2, places.__getitem__).derive_points(("a", "b", "a"))
    assert points == {5: "b", 6: "a", 7: "b", 8: "a"}


@pytest.mark.clause("group.allocation.consistent-hash-ring")
def test_later_point_overwrites_an_equal_one_and_the_ring_wraps() -> None:
    ring = derive_ring([(5, "a"), (9, "b"), (5, "c")])
    assert ring == ((5, "c"), (9, "b"))
    assert [derive_ring_owner(ring, at) for at in (0, 5, 6, 9, 10)] == ["c", "c", "b", "b", "c"]


@pytest.mark.clause("group.allocation.consistent-hash-ring")
def test_custom_hash_replaces_md5() -> None:
    strategy = ConsistentHash(1, lambda text: 7 if text == "c2-0" else len(text))
    assert strategy.allocate(view_of(2, ["c1", "c2"]), "c1") == view_of(2, []).queues
