"""The six strategies, against transcriptions of Apache's loops and by their promises."""

import hashlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.group.allocation.averagely import Averagely
from spec.group.allocation.circle import Circle
from spec.group.allocation.configured import Configured
from spec.group.allocation.consistent_hash import ConsistentHash, derive_ring, derive_ring_owner
from spec.group.allocation.machine_room import MachineRoom, derive_broker_room
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
    return derive_view([MessageQueue("T", "b", QueueId(n)) for n in range(count)], members)


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


@given(QUEUES, MEMBERS, st.data())
def test_strategies_equal_the_transcriptions_also_with_duplicate_ids(
    queues: list[MessageQueue], members: list[str], data: st.DataObject
) -> None:
    view = derive_view(queues, members)
    member = data.draw(st.sampled_from(view.members))
    inputs = (list(view.queues), list(view.members), member)
    assert list(Averagely().allocate(view, member)) == average_by_apache(*inputs)
    assert list(ConsistentHash().allocate(view, member)) == ring_by_apache(*inputs)
    assert list(MachineRoom(frozenset({"r1"})).allocate(view, member)) == room_by_apache(*inputs)
    index = view.members.index(member)
    dealt = [queue for at, queue in enumerate(view.queues) if at % len(view.members) == index]
    assert list(Circle().allocate(view, member)) == dealt


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
@pytest.mark.parametrize("strategy", LISTED, ids=lambda strategy: strategy.name)
@pytest.mark.parametrize(
    ("view", "member", "reason"),
    [
        (view_of(1, ["c1"]), "", "the own client id is empty"),
        (view_of(0, ["c1"]), "c1", "the view has no queues"),
        (view_of(1, []), "c1", "the view has no members"),
    ],
)
def test_empty_inputs_are_refused(strategy: Strategy, view: View, member: str, reason: str) -> None:
    with pytest.raises(Rejection) as refusal:
        strategy.allocate(view, member)
    assert (refusal.value.clause, refusal.value.reason) == ("group.allocation.refuses-empty-view", reason)


@pytest.mark.clause("group.allocation.unlisted-owns-nothing")
@pytest.mark.parametrize(
    "strategy", [*LISTED, nearby_strategy(Averagely())], ids=lambda strategy: strategy.name
)
def test_member_that_is_not_listed_owns_nothing(strategy: Strategy) -> None:
    assert strategy.allocate(view_of(8, ["c1", "c2"]), "c3") == ()


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


@pytest.mark.clause("group.allocation.consistent-hash-ring")
def test_ring_of_no_points_has_no_owner_and_a_negative_number_is_refused() -> None:
    assert ConsistentHash(0).allocate(view_of(3, ["c1"]), "c1") == ()
    with pytest.raises(Rejection, match="expected 0 or more"):
        ConsistentHash(-1)


@pytest.mark.clause("group.allocation.consistent-hash-ring")
def test_later_point_overwrites_an_equal_one_and_the_ring_wraps() -> None:
    ring = derive_ring([(5, "a"), (9, "b"), (5, "c")])
    assert ring == ((5, "c"), (9, "b"))
    assert [derive_ring_owner(ring, at) for at in (0, 5, 6, 9, 10)] == ["c", "c", "b", "b", "c"]


@pytest.mark.clause("group.allocation.consistent-hash-ring")
def test_custom_hash_replaces_md5() -> None:
    strategy = ConsistentHash(1, lambda text: 7 if text == "c2-0" else len(text))
    assert strategy.allocate(view_of(2, ["c1", "c2"]), "c1") == view_of(2, []).queues
