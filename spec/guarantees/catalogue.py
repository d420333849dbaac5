"""Every guarantee, in the order of the book."""

from typing import Final

from spec.guarantees.delay import CursorIsCommit, NeverEarly, NoLevelStuck
from spec.guarantees.liveness import CountersTrue, HeldPullAnswered, PullGoesOn, ServiceComesRound
from spec.guarantees.monitor import Monitor
from spec.guarantees.ownership import OneOwnerPerView, Partition
from spec.guarantees.route import RegistrationFenced, RouteFollowed
from spec.guarantees.store import IndexEqualsLog, NothingTakenBack, OffsetAssignedOnce, OneMessagePerOffset
from spec.guarantees.transaction import NoCheckAfterResolution, NoHalfForgotten
from spec.guarantees.wire import ResponseMatched, RoundTrip

MONITORS: Final[tuple[type[Monitor], ...]] = (
    Partition,
    OneOwnerPerView,
    NeverEarly,
    CursorIsCommit,
    NoLevelStuck,
    PullGoesOn,
    HeldPullAnswered,
    CountersTrue,
    ServiceComesRound,
    OneMessagePerOffset,
    IndexEqualsLog,
    OffsetAssignedOnce,
    NothingTakenBack,
    NoHalfForgotten,
    NoCheckAfterResolution,
    RegistrationFenced,
    RouteFollowed,
    RoundTrip,
    ResponseMatched,
)
