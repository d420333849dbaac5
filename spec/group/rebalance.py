"""One rebalance pass: what is held is compared with what should be held.

A pass has three stages. First the assignment: all queues when broadcasting, otherwise what the
strategy gives. If the route or the member list is missing, or the strategy refuses, there is no
answer, and no answer changes nothing; to treat it as "no queues" would drop everything whenever
a broker is slow. Then each held queue of the topic is judged: kept, or dropped because it is not
assigned any more, or because its pull has died (nothing was pulled for two minutes, so the
tenure is replaced). Last the missing queues are acquired; a dropped queue whose removal could
not finish yet (an orderly listener still runs) is not acquired again in this pass.

Everything happens in Apache's queue order, drops before acquisitions, so that equal inputs give
equal effects.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from spec.group.allocation.strategy import Strategy, derive_view
from spec.group.consumption import ConsumeType, ListenerKind, MessageModel, is_lock_needed
from spec.group.tenure import TenureNumber
from spec.rejection import Rejection
from spec.values.message_queue import MessageQueue
from spec.values.units import Milliseconds

PULL_IDLE_LIMIT_MS: Final = Milliseconds(120_000)
"""Apache's `pullMaxIdleTime`: longer without a pull, and the tenure is taken for dead."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """The queues of one topic that this member should hold, in Apache's order."""

    queues: tuple[MessageQueue, ...]


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """The pass could not decide; what is held stays held."""

    reason: str


def derive_assignment(
    model: MessageModel,
    queues: Collection[MessageQueue] | None,
    members: Sequence[str] | None,
    member: str,
    strategy: Strategy,
) -> Assignment | NoAnswer:
    """What the member should hold; `None` stands for a route or list that is not known.

    Clauses: group.rebalance.broadcasting-takes-all, group.rebalance.no-answer-no-change,
    group.rebalance.same-view-one-owner
    """
    if queues is None:
        return NoAnswer("the route is not known")
    if model is MessageModel.BROADCASTING:
        return Assignment(tuple(sorted(set(queues))))
    if members is None:
        return NoAnswer("the member list is not known")
    try:
        share = strategy.allocate(derive_view(queues, members), member)
    except Rejection as refusal:
        return NoAnswer(refusal.reason)
    return Assignment(tuple(sorted(set(share))))


class Fate(Enum):
    """What happens to a held queue, and why."""

    KEEP = "keep"
    NOT_ASSIGNED = "not assigned"
    PULL_EXPIRED = "pull expired"
    NOT_SUBSCRIBED = "not subscribed"


def judge_held(
    *, is_assigned: bool, idle_ms: int, is_push: bool, idle_limit_ms: int = PULL_IDLE_LIMIT_MS
) -> Fate:
    """The fate of one held queue of a subscribed topic; only a push client replaces a dead pull.

    Clauses: group.rebalance.drops-unassigned, group.rebalance.replaces-dead-pull
    """
    if not is_assigned:
        return Fate.NOT_ASSIGNED
    return Fate.PULL_EXPIRED if is_push and idle_ms > idle_limit_ms else Fate.KEEP


@dataclass(frozen=True, slots=True)
class Held:
    """A queue that is held now."""

    queue: MessageQueue
    tenure: TenureNumber
    pulled_at_ms: Milliseconds


@dataclass(frozen=True, slots=True)
class Drop:
    """The tenure to end, and why."""

    held: Held
    reason: Fate


@dataclass(frozen=True, slots=True)
class Change:
    """What one pass does for one topic; the three parts are each in Apache's queue order."""

    keep: tuple[Held, ...]
    drop: tuple[Drop, ...]
    acquire: tuple[MessageQueue, ...]

    def is_nothing(self) -> bool:
        """Whether the pass changes nothing."""
        return not self.drop and not self.acquire


def derive_change(
    topic: str,
    held: Iterable[Held],
    assignment: Assignment | NoAnswer,
    now_ms: Milliseconds,
    *,
    consume_type: ConsumeType = ConsumeType.PUSH,
    idle_limit_ms: Milliseconds = PULL_IDLE_LIMIT_MS,
) -> Change:
    """The pass for one topic; queues of other topics are left out altogether.

    Clauses: group.rebalance.fixed-order, group.rebalance.no-answer-no-change,
    group.rebalance.replaces-dead-pull
    """
    mine = sorted((one for one in held if one.queue.topic == topic), key=lambda one: one.queue)
    if isinstance(assignment, NoAnswer):
        return Change(tuple(mine), (), ())
    assigned = set(assignment.queues)
    judged = [
        (
            one,
            judge_held(
                is_assigned=one.queue in assigned,
                idle_ms=now_ms - one.pulled_at_ms,
                is_push=consume_type is ConsumeType.PUSH,
                idle_limit_ms=idle_limit_ms,
            ),
        )
        for one in mine
    ]
    keep = tuple(one for one, fate in judged if fate is Fate.KEEP)
    drop = tuple(Drop(one, fate) for one, fate in judged if fate is not Fate.KEEP)
    kept = {one.queue for one in keep}
    return Change(keep, drop, tuple(queue for queue in assignment.queues if queue not in kept))


def derive_acquirable(change: Change, unfinished: Collection[MessageQueue]) -> tuple[MessageQueue, ...]:
    """The queues that are acquired now: all but those whose old tenure could not be removed yet.

    Clauses: group.rebalance.replaces-dead-pull, group.tenure.one-live
    """
    return tuple(queue for queue in change.acquire if queue not in unfinished)


def derive_unsubscribed(held: Iterable[Held], topics: Collection[str]) -> tuple[Drop, ...]:
    """The drops after all topics had their pass: every queue of a topic nobody subscribes to.

    Clause: group.rebalance.drops-unsubscribed
    """
    orphans = (one for one in held if one.queue.topic not in topics)
    return tuple(Drop(one, Fate.NOT_SUBSCRIBED) for one in sorted(orphans, key=lambda one: one.queue))


class AcquireStep(Enum):
    """The steps of acquiring one queue; a failed step ends the attempt until the next pass."""

    LOCK = "lock at the broker"
    FORGET_OFFSET = "forget the offset of an earlier tenure"
    QUERY_START = "ask for the start position"
    BEGIN_TENURE = "begin a tenure, marked locked if it was locked"
    PULL = "send the first pull"


def derive_acquire_steps(
    kind: ListenerKind,
    model: MessageModel,
    consume_type: ConsumeType = ConsumeType.PUSH,
    *,
    broadcasting_locks: bool = False,
) -> tuple[AcquireStep, ...]:
    """The steps in their order: the lock comes before the question where to start.

    Clauses: group.rebalance.acquire-order, group.orderly.broadcasting-takes-no-lock
    """
    is_locked = is_lock_needed(kind, model, broadcasting_locks=broadcasting_locks)
    lock = (AcquireStep.LOCK,) if is_locked else ()
    pull = (AcquireStep.PULL,) if consume_type is ConsumeType.PUSH else ()
    middle = (AcquireStep.FORGET_OFFSET, AcquireStep.QUERY_START, AcquireStep.BEGIN_TENURE)
    return (*lock, *middle, *pull)
