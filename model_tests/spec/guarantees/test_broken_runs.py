"""One wrong step in a legal run is found among thousands of right ones."""

from collections.abc import Callable

import pytest

from model_tests.legal_run import LegalRun
from spec.guarantees.judge import judge_history
from spec.history.event import Event, Outcome
from spec.history.kind import Kind

LEGAL = LegalRun(5, is_eventful=False).run(240)

Step = Callable[[Event], list[Event]]
"""What stands in the place of an event."""


def find_middle(fits: Callable[[Event], bool]) -> int:
    places = [place for place, event in enumerate(LEGAL) if fits(event)]
    assert len(places) > 3, "the run must offer enough places to break"
    return places[len(places) // 2]


def break_run(fits: Callable[[Event], bool], step: Step) -> list[Event]:
    place = find_middle(fits)
    broken = [*LEGAL[:place], *step(LEGAL[place]), *LEGAL[place + 1 :]]
    return [event._replace(sequence=sequence) for sequence, event in enumerate(broken)]


def is_concurrent(event: Event) -> bool:
    return event.group == "concurrent-group"


def is_kind(kind: Kind) -> Callable[[Event], bool]:
    return lambda event: event.kind is kind


WRONG_STEPS: dict[str, tuple[str, Callable[[Event], bool], Step]] = {
    "a member takes every queue": (
        "OWN-1",
        lambda event: event.kind is Kind.VIEW and len(event.queues) > 1,
        lambda event: [event._replace(assigned=event.queues)],
    ),
    "a tenure pulls twice at a time": (
        "OWN-4",
        is_kind(Kind.PULL),
        lambda event: [event, event._replace(request=10**9)],
    ),
    "a commit runs ahead of the work": (
        "OFF-2",
        lambda event: event.kind is Kind.COMMIT and event.cause == "update",
        lambda event: [event._replace(offset=event.offset + 50)],
    ),
    "a commit that no tenure ever held": (
        "OFF-3",
        lambda event: event.kind is Kind.COMMIT and event.offset > 20,
        lambda event: [event._replace(offset=-1)],
    ),
    "a commit goes back without a cause": (
        "OFF-4",
        lambda event: event.kind is Kind.COMMIT and event.offset > 20,
        lambda event: [event._replace(offset=3)],
    ),
    "a lock is granted twice": (
        "LCK-1",
        lambda event: event.kind is Kind.LOCK and event.outcome is Outcome.OK,
        lambda event: [event, event._replace(client="somebody-else")],
    ),
    "a failed message is not returned": (
        "NLS-3",
        is_kind(Kind.BACK),
        lambda event: [event._replace(outcome=Outcome.FAIL)],
    ),
    "a finished message is presented again": (
        "DUP",
        lambda event: event.kind is Kind.END and event.status == "success" and is_concurrent(event),
        lambda event: [event, event._replace(kind=Kind.START, status="", request=10**9)],
    ),
    "an ordered call jumps ahead": (
        "ORD-1",
        lambda event: event.kind is Kind.START and not is_concurrent(event),
        lambda event: [
            event._replace(offset=event.offset + 2, message="later", request=10**9),
            event._replace(
                kind=Kind.END, offset=event.offset + 2, message="later", request=10**9, status="success"
            ),
            event,
        ],
    ),
    "an attempt is counted twice": (
        "RTY-1",
        is_kind(Kind.BACK),
        lambda event: [event._replace(attempt=event.attempt + 1)],
    ),
    "a delayed message comes out early": (
        "DLY-1",
        is_kind(Kind.DELIVER),
        lambda event: [event._replace(due_ms=event.time_ms + 1)],
    ),
    "an index entry is left out": ("STO-1", is_kind(Kind.DISPATCH), lambda _: []),
    "an offset is given out twice": (
        "STO-3",
        is_kind(Kind.APPEND),
        lambda event: [event, event._replace(message="twin", position=event.position + 1)],
    ),
    "a woken pull is held again": (
        "LIV-2",
        is_kind(Kind.WAKE),
        lambda event: [event, event._replace(kind=Kind.HOLD, offset=0, cause="")],
    ),
    "a tenure starts elsewhere than it was told": (
        "OFF-1",
        is_kind(Kind.OWN),
        lambda event: [event._replace(offset=event.offset + 5)],
    ),
}


@pytest.mark.parametrize("name", WRONG_STEPS)
def test_wrong_step_is_found(name: str) -> None:
    rule, fits, step = WRONG_STEPS[name]
    violated = {judgement.rule for judgement in judge_history(break_run(fits, step)) if judgement.violations}
    assert rule in violated


def test_unbroken_run_violates_nothing() -> None:
    assert [judgement for judgement in judge_history(LEGAL) if judgement.violations] == []
