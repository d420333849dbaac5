"""Every guarantee, in the order of the book."""

from typing import Final

from spec.guarantees.broadcast import NobodyExcluded, ProgressKept
from spec.guarantees.convergence import OneOwnerWhenCalm
from spec.guarantees.delay import CursorIsCommit, NeverEarly, NoLevelStuck
from spec.guarantees.duplicate import DuplicateExplained
from spec.guarantees.filter import ListenerMatch, NothingWantedSkipped
from spec.guarantees.liveness import CountersTrue, PullGoesOn, ServiceComesRound
from spec.guarantees.lock import LeaseRespected
from spec.guarantees.lock_execution import ExecutionExclusive
from spec.guarantees.lock_handover import HandedOn
from spec.guarantees.lock_start import StartExclusive, StartGated
from spec.guarantees.long_poll import HeldPullAnswered
from spec.guarantees.monitor import Monitor
from spec.guarantees.no_loss import NoOrphan
from spec.guarantees.no_loss_progress import NothingWaitsForever
from spec.guarantees.no_loss_transfer import CustodyTransferred
from spec.guarantees.offset_decision import DecisionsStick
from spec.guarantees.offset_decrease import DecreaseAttributed
from spec.guarantees.offset_progress import FinishedIsCommitted
from spec.guarantees.offset_provenance import PositionsHeld
from spec.guarantees.offset_resume import StartsWhereToldTo
from spec.guarantees.offset_safety import CommitPassesNothing
from spec.guarantees.order import GroupOrder, TenureOrder
from spec.guarantees.ownership import OneOwnerPerView, Partition
from spec.guarantees.retry import AttemptCounted, ReturnedOnce
from spec.guarantees.route import RegistrationFenced, RouteFollowed
from spec.guarantees.store import IndexEqualsLog, NothingTakenBack, OffsetAssignedOnce, OneMessagePerOffset
from spec.guarantees.tenancy import OneTenureAtATime
from spec.guarantees.transaction import NoCheckAfterResolution, NoHalfForgotten
from spec.guarantees.wire import ResponseMatched, RoundTrip

MONITORS: Final[tuple[type[Monitor], ...]] = (
    Partition,
    OneOwnerPerView,
    OneOwnerWhenCalm,
    OneTenureAtATime,
    StartsWhereToldTo,
    CommitPassesNothing,
    PositionsHeld,
    DecreaseAttributed,
    FinishedIsCommitted,
    DecisionsStick,
    LeaseRespected,
    StartGated,
    StartExclusive,
    ExecutionExclusive,
    HandedOn,
    TenureOrder,
    GroupOrder,
    NoOrphan,
    NothingWaitsForever,
    CustodyTransferred,
    DuplicateExplained,
    AttemptCounted,
    ReturnedOnce,
    NeverEarly,
    CursorIsCommit,
    NoLevelStuck,
    ListenerMatch,
    NothingWantedSkipped,
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
    ProgressKept,
    NobodyExcluded,
    RegistrationFenced,
    RouteFollowed,
    RoundTrip,
    ResponseMatched,
)
