"""Every request of the captures is answered by the reference as it was answered then.

What is answered otherwise is listed with its reason, and each reason is needed.
"""

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

import pytest

from model_tests.vectors.captured_comparison import (
    SENDS,
    Difference,
    Said,
    collect_said,
    compare,
    derive_told,
)
from model_tests.vectors.captured_replay import BROKER, SETTINGS, Outcome, Replay
from model_tests.vectors.captured_session import Exchange, Pushed, read_session
from spec.values.message_id import decode_message_id
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.frame import Frame
from spec.wire.header.client import ConsumerGroupHeader


class Session(NamedTuple):
    """Captures that were recorded from one server, one after the other."""

    captures: tuple[str, ...]
    has_topic: bool
    """Whether the topic was there before the first client came."""


SESSIONS: Final = {
    "JavaScript": Session(
        ("npm-ali-ons_produce", "npm-ali-ons_cluster", "npm-ali-ons_broadcast"), has_topic=True
    ),
    "JavaScript, not signed": Session(("npm-ali-ons_nosign_sql",), has_topic=True),
    "JavaScript, no topic": Session(("ali-ons_noroute",), has_topic=False),
    "Python": Session(
        (
            "py-rocketmq044_produce",
            "py-rocketmq044_cluster",
            "py-rocketmq044_broadcast",
            "py-rocketmq044_orderly",
        ),
        has_topic=False,
    ),
    # The server of these four had been sent three messages before, as by the first capture of the others.
    "Python, more sends": Session(
        (
            "py-rocketmq044_produce",
            "py-rocketmq044_batch",
            "py-rocketmq044_delay",
            "py-rocketmq044_orderlysend",
            "py-rocketmq044_pull",
        ),
        has_topic=False,
    ),
}


class Result(NamedTuple):
    """A session that was replayed."""

    outcomes: tuple[Outcome, ...]
    said: Said
    differences: tuple[tuple[Exchange, Difference], ...]
    pushes: dict[str, list[str]]
    """The groups of which the broker told each client that they changed, by connection."""


@cache
def run(name: str) -> Result:
    """What became of the session; it is run once for all tests."""
    session = SESSIONS[name]
    steps = read_session(*session.captures)
    replay = Replay(steps, has_topic=session.has_topic)
    said = collect_said(steps)
    differences = tuple(
        (outcome.exchange, difference) for outcome in replay.outcomes for difference in compare(outcome, said)
    )
    pushes = {connection: _groups_of(replay.pushes(connection)) for connection in said.heartbeats}
    return Result(replay.outcomes, said, differences, pushes)


def _groups_of(pushes: list[Frame]) -> list[str]:
    assert {push.code for push in pushes} <= {RequestCode.NOTIFY_CONSUMER_IDS_CHANGED}
    return [ConsumerGroupHeader.decode(push.extension_fields).consumer_group for push in pushes]


# Differences that are meant


class Allowed(NamedTuple):
    """A difference and why it is right; `is_so` looks at what was found instead."""

    reason: str
    codes: frozenset[RequestCode]
    what: str
    is_so: Callable[[Exchange, object], bool]


def _is_of_sql(exchange: Exchange) -> bool:
    return exchange.fields.get("expressionType") == "SQL92"


PULLS: Final = frozenset({RequestCode.PULL_MESSAGE})
NO_SQL: Final = (
    "a broker without enablePropertyFilter refuses SQL expressions; the recording server did not look at them"
)
ALLOWED: Final = (
    Allowed(
        "an id names the host of the broker and the place in its log; stored messages have a property more",
        SENDS,
        "field msgId",
        lambda _, found: decode_message_id(str(found)).store_host == BROKER,
    ),
    Allowed(
        "a broker says where it is; the recording server did not",
        SENDS,
        "field MSG_REGION",
        lambda _, found: found == SETTINGS.region,
    ),
    Allowed(
        "a broker says whether sends are to be traced; the recording server did not",
        SENDS,
        "field TRACE_ON",
        lambda _, found: found == "true",
    ),
    Allowed(
        NO_SQL,
        PULLS,
        "code",
        lambda exchange, found: _is_of_sql(exchange) and found == ResponseCode.SYSTEM_ERROR,
    ),
    Allowed(
        f"{NO_SQL}, and held such pulls",
        PULLS,
        "answer",
        lambda exchange, found: (
            _is_of_sql(exchange) and isinstance(found, Frame) and found.code == ResponseCode.SYSTEM_ERROR
        ),
    ),
)


def _find_allowed(exchange: Exchange, difference: Difference) -> Allowed | None:
    return next(
        (
            allowed
            for allowed in ALLOWED
            if exchange.frame.code in allowed.codes
            and difference.what == allowed.what
            and allowed.is_so(exchange, difference.found)
        ),
        None,
    )


@pytest.mark.parametrize("name", SESSIONS)
def test_every_answer_is_the_recorded_one_unless_there_is_a_reason(name: str) -> None:
    unexplained = [
        difference
        for exchange, difference in run(name).differences
        if _find_allowed(exchange, difference) is None
    ]
    assert unexplained == []


def test_every_reason_is_needed() -> None:
    found = [_find_allowed(*pair) for name in SESSIONS for pair in run(name).differences]
    assert {allowed for allowed in found if allowed is not None} == set(ALLOWED)


def test_every_captured_request_was_asked_and_its_answer_compared() -> None:
    outcomes = [outcome for name in SESSIONS for outcome in run(name).outcomes]
    places = {outcome.exchange.place for outcome in outcomes}
    # The requests of one capture are asked twice, to prepare the server of another session.
    assert (len(places), len(outcomes)) == (192, 199)
    answered = {o.exchange.place for o in outcomes if o.exchange.answer and o.answer}
    assert Counter(o.exchange.frame.code for o in outcomes if o.exchange.place in places - answered) == {
        RequestCode.PULL_MESSAGE: 16
    }


@pytest.mark.parametrize("name", SESSIONS)
def test_members_are_told_of_their_groups_as_then_and_of_each_topic_that_came(name: str) -> None:
    result = run(name)
    told = derive_told(result.said)
    assert result.pushes == told
    # The recording server told new members only.
    recorded = {step[1:] for step in read_session(*SESSIONS[name].captures) if isinstance(step, Pushed)}
    clients = {connection: beats[0].client_id for connection, beats in result.said.heartbeats.items()}
    assert {(clients[connection], group) for connection in told for group in told[connection]} == recorded


def test_a_remark_is_the_status_of_a_pull_or_why_something_is_refused() -> None:
    remarks = Counter[tuple[int, str | None]]()
    for name in SESSIONS:
        for exchange, answer in run(name).outcomes:
            if answer is not None and not _is_of_sql(exchange):
                remarks[answer.code, answer.remark and answer.remark.partition(";")[0]] += 1
    no_route = "No topic route info in name server for the topic: "
    assert remarks == {
        (ResponseCode.SUCCESS, None): 145,
        (ResponseCode.SUCCESS, "FOUND"): 12,
        (ResponseCode.PULL_NOT_FOUND, "OFFSET_OVERFLOW_ONE"): 13,
        # Apache makes an empty queue of one that is only looked up, and says NO_MESSAGE_IN_QUEUE.
        (ResponseCode.PULL_NOT_FOUND, "NO_MATCHED_LOGIC_QUEUE"): 1,
        (ResponseCode.TOPIC_NOT_EXIST, f"{no_route}EcoTopic"): 6,
        (ResponseCode.TOPIC_NOT_EXIST, f"{no_route}%RETRY%CG_py_cluster"): 1,
        (ResponseCode.TOPIC_NOT_EXIST, f"{no_route}%RETRY%CG_py_orderly"): 1,
    }
