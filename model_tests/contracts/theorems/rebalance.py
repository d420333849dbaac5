"""Rebalance: who is not assigned is dropped, who is keeps its tenure while its pull lives."""

from spec.group.consumption import ConsumeType, ListenerKind, MessageModel
from spec.group.rebalance import AcquireStep, Fate, derive_acquire_steps, judge_held


def kept_queue_is_assigned(idle: int, *, is_assigned: bool, is_push: bool) -> bool:
    """A queue is kept only if it is assigned.

    clause: group.rebalance.drops-unassigned
    pre: 0 <= idle
    post: __return__
    """
    fate = judge_held(is_assigned=is_assigned, idle_ms=idle, is_push=is_push)
    return (fate is Fate.NOT_ASSIGNED) == (not is_assigned)


def dead_pull_is_replaced_by_push_only(idle: int, *, is_push: bool) -> bool:
    """An assigned queue is replaced after more than 120 s without a pull, by push consumers only.

    clause: group.rebalance.replaces-dead-pull
    pre: 0 <= idle
    post: __return__
    """
    fate = judge_held(is_assigned=True, idle_ms=idle, is_push=is_push)
    return (fate is Fate.PULL_EXPIRED) == (is_push and idle > 120_000)


def question_comes_after_the_lock(kind: ListenerKind, model: MessageModel, consume_type: ConsumeType) -> bool:
    """The start position is asked after the lock was won and before the tenure begins.

    clause: group.rebalance.acquire-order
    post: __return__
    """
    steps = derive_acquire_steps(kind, model, consume_type)
    is_locked = kind is ListenerKind.ORDERLY and model is MessageModel.CLUSTERING
    ask, begin = steps.index(AcquireStep.QUERY_START), steps.index(AcquireStep.BEGIN_TENURE)
    return ask < begin and (AcquireStep.LOCK in steps) == is_locked == (steps[0] is AcquireStep.LOCK)
