"""Allocation: equal views give disjoint shares that leave nothing out."""

from spec.group.allocation.averagely import derive_average_slice
from spec.group.allocation.circle import derive_circle_positions
from spec.group.allocation.consistent_hash import derive_ring, derive_ring_owner
from spec.group.allocation.machine_room import derive_room_positions
from spec.group.allocation.nearby import derive_shares


def average_slices_partition_the_queues(queue_count: int, member_count: int) -> bool:
    """The slices follow each other without gap or overlap and cover every queue.

    clause: group.allocation.partition
    pre: 0 <= queue_count <= 2 ** 31
    pre: 1 <= member_count <= 6
    post: __return__
    """
    reached = 0
    for index in range(member_count):
        start, end = derive_average_slice(queue_count, member_count, index)
        if end > start:
            if start != reached:
                return False
            reached = end
    return reached == queue_count


def average_slices_of_two_members_are_disjoint(
    queue_count: int, member_count: int, first: int, second: int
) -> bool:
    """A member's slice ends before the slice of any later member begins.

    clause: group.allocation.agreement
    pre: 0 <= queue_count <= 64
    pre: 1 <= member_count <= 5
    pre: 0 <= first < second < member_count
    post: __return__
    """
    _, end = derive_average_slice(queue_count, member_count, first)
    start, _ = derive_average_slice(queue_count, member_count, second)
    return end <= start


def average_slices_are_balanced(queue_count: int, member_count: int, first: int, second: int) -> bool:
    """Sizes differ by at most one, and earlier members have the larger ones.

    clause: group.allocation.balance
    pre: 0 <= queue_count <= 64
    pre: 1 <= member_count <= 5
    pre: 0 <= first < second < member_count
    post: __return__
    """
    one = derive_average_slice(queue_count, member_count, first)
    two = derive_average_slice(queue_count, member_count, second)
    return 0 <= (one[1] - one[0]) - (two[1] - two[0]) <= 1


def surplus_members_get_nothing(queue_count: int, member_count: int, index: int) -> bool:
    """Behind the last queue there are only empty slices, and nobody's slice is negative.

    clause: group.allocation.average-slices
    pre: 0 <= queue_count <= index < member_count <= 2 ** 20
    post: __return__
    """
    start, end = derive_average_slice(queue_count, member_count, index)
    return start == end


def average_slice_stays_in_the_list(queue_count: int, member_count: int, index: int) -> bool:
    """A slice that is not empty lies between the first and the last queue.

    clause: group.allocation.average-slices
    pre: 0 <= queue_count <= 64
    pre: 1 <= member_count <= 5
    pre: 0 <= index < member_count
    post: __return__
    """
    start, end = derive_average_slice(queue_count, member_count, index)
    return 0 <= start <= end and (start == end or end <= queue_count)


def circle_deals_each_queue_once(queue_count: int, member_count: int) -> bool:
    """Every position is dealt to exactly one member.

    clause: group.allocation.partition
    pre: 0 <= queue_count <= 8
    pre: 1 <= member_count <= 4
    post: __return__
    """
    dealt = [0] * queue_count
    for index in range(member_count):
        for position in derive_circle_positions(queue_count, member_count, index):
            dealt[position] += 1
    return all(times == 1 for times in dealt)


def circle_is_balanced(queue_count: int, member_count: int, first: int, second: int) -> bool:
    """Nobody is dealt more than one queue more than anybody else.

    clause: group.allocation.balance
    pre: 0 <= queue_count <= 12
    pre: 1 <= member_count <= 4
    pre: 0 <= first < second < member_count
    post: __return__
    """
    one = len(derive_circle_positions(queue_count, member_count, first))
    two = len(derive_circle_positions(queue_count, member_count, second))
    return 0 <= one - two <= 1


def machine_room_shares_partition_the_queues(queue_count: int, member_count: int) -> bool:
    """Every queue of the rooms belongs to exactly one member.

    clause: group.allocation.machine-room-shares
    pre: 0 <= queue_count <= 8
    pre: 1 <= member_count <= 4
    post: __return__
    """
    owners = [0] * queue_count
    for index in range(member_count):
        for position in derive_room_positions(queue_count, member_count, index):
            owners[position] += 1
    return all(count == 1 for count in owners)


def nearby_shares_each_queue_among_equal_participants(
    queue_rooms: tuple[int, ...], member_rooms: tuple[int, ...], first: int, second: int
) -> bool:
    """Two members that share a queue agree on who takes part and on what is shared.

    clause: group.allocation.nearby-rooms
    pre: len(queue_rooms) <= 2
    pre: 1 <= len(member_rooms) <= 2
    pre: all(0 <= room <= 2 for room in queue_rooms + member_rooms)
    pre: 0 <= first < len(member_rooms)
    pre: 0 <= second < len(member_rooms)
    post: __return__
    """
    one = derive_shares(queue_rooms, member_rooms, first)
    two = derive_shares(queue_rooms, member_rooms, second)
    return all(share == other for share in one for other in two if set(share[0]) & set(other[0]))


def nearby_leaves_no_queue_without_participants(
    queue_rooms: tuple[int, ...], member_rooms: tuple[int, ...]
) -> bool:
    """Every queue is in exactly one sharing of every member that takes part in it, and somebody does.

    clause: group.allocation.nearby-rooms
    pre: len(queue_rooms) <= 2
    pre: 1 <= len(member_rooms) <= 2
    pre: all(0 <= room <= 2 for room in queue_rooms + member_rooms)
    post: __return__
    """
    for queue in range(len(queue_rooms)):
        takers = 0
        for index in range(len(member_rooms)):
            found = [share for share in derive_shares(queue_rooms, member_rooms, index) if queue in share[0]]
            if len(found) > 1 or any(index not in share[1] for share in found):
                return False
            takers += len(found)
        if takers == 0:
            return False
    return True


def ring_owner_is_the_next_point(points: tuple[tuple[int, int], ...], hash_value: int) -> bool:
    """The owner's point is the lowest at or above the hash, or the lowest of all.

    clause: group.allocation.consistent-hash-ring
    pre: 1 <= len(points) <= 3
    pre: all(0 <= point < 16 and 0 <= owner < 3 for point, owner in points)
    pre: 0 <= hash_value < 16
    post: __return__
    """
    ring = derive_ring(points)
    after = [point for point in ring if point[0] >= hash_value]
    return derive_ring_owner(ring, hash_value) == (after or ring)[0][1]


def later_point_overwrites_equal_hash(
    points: tuple[tuple[int, int], ...], hash_value: int, owner: int
) -> bool:
    """A point that is added last owns its own hash.

    clause: group.allocation.consistent-hash-ring
    pre: len(points) <= 3
    pre: all(0 <= point < 16 and 0 <= other < 3 for point, other in points)
    pre: 0 <= hash_value < 16
    post: __return__
    """
    return derive_ring_owner(derive_ring((*points, (hash_value, owner))), hash_value) == owner


def joining_moves_queues_only_to_the_newcomer(
    points: tuple[tuple[int, int], ...], new_point: int, hash_value: int
) -> bool:
    """After a member joined, a queue has its old owner or the newcomer.

    clause: group.allocation.consistent-hash-stability
    pre: 1 <= len(points) <= 2
    pre: all(0 <= point < 16 and 0 <= owner < 3 for point, owner in points)
    pre: 0 <= new_point < 16
    pre: 0 <= hash_value < 16
    post: __return__
    """
    newcomer = 9
    before = derive_ring_owner(derive_ring(points), hash_value)
    return derive_ring_owner(derive_ring((*points, (new_point, newcomer))), hash_value) in (before, newcomer)


def leaving_moves_only_the_queues_of_the_leaver(points: tuple[tuple[int, int], ...], hash_value: int) -> bool:
    """After a member left, every queue it did not own has its old owner; points are all different.

    clause: group.allocation.consistent-hash-stability
    pre: 1 <= len(points) <= 3
    pre: all(0 <= point < 16 and 0 <= owner < 3 for point, owner in points)
    pre: len(set(point for point, _ in points)) == len(points)
    pre: 0 <= hash_value < 16
    post: __return__
    """
    leaver = 0
    before = derive_ring_owner(derive_ring(points), hash_value)
    rest = tuple(point for point in points if point[1] != leaver)
    return before == leaver or derive_ring_owner(derive_ring(rest), hash_value) == before
