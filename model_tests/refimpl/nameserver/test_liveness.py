"""Brokers that fall silent, and connections that end."""

from dataclasses import replace

import pytest

from model_tests.refimpl.nameserver.office import MASTER, OTHER, SLAVE, START, Office, topic
from refimpl.effect import Close, Note, Severity
from refimpl.nameserver.settings import NameServerSettings
from spec.history.event import Outcome
from spec.history.kind import Kind

LOST = "broker broker-a (id 0, 127.0.0.1:10911, cluster C) is dropped: "


def test_the_first_scan_is_after_five_seconds_and_then_every_ten() -> None:
    office = Office(NameServerSettings(expiry_ms=1))
    found: list[int] = []
    for _ in range(3):
        office.register()
        while office.core.broker_count:
            office.pass_time(1)
        found.append(office.now_ms - START)
    assert found == [5_000, 15_000, 25_000]


@pytest.mark.clause("nameserver.liveness.expiry-is-strict")
def test_a_silent_broker_is_dropped_by_the_first_scan_after_two_minutes() -> None:
    office = Office()
    office.pass_time(5_000)
    office.register(MASTER, topic("T"))
    assert office.pass_time(120_000) == []
    assert office.has_route()
    assert office.pass_time(10_000) == [
        Note(Severity.WARNING, LOST + "expired"),
        Close(1, "the broker was silent for too long"),
    ]
    assert not office.has_route()
    assert office.close(1) == []


def test_a_broker_that_registers_every_thirty_seconds_stays() -> None:
    office = Office()
    for _ in range(20):
        office.register(MASTER, topic("T"))
        assert office.pass_time(30_000) == []
    assert office.has_route()


@pytest.mark.clause("nameserver.liveness.close-drops-at-once")
def test_a_closed_connection_drops_its_broker_at_once_and_nobody_else() -> None:
    office = Office()
    office.register(MASTER, topic("T"))
    office.register(SLAVE)
    office.register(OTHER, topic("T"), topic("U"))
    assert office.close(1) == [Note(Severity.WARNING, LOST + "connection-closed")]
    assert b'"brokerAddrs":{1:"127.0.0.1:20911"}' in office.route().body
    office.close(3)
    assert [office.has_route(name) for name in "TU"] == [True, False]
    assert office.close(9) == []
    office.close(2)
    assert (office.core.broker_count, office.core.topic_count) == (0, 0)


def test_the_end_of_an_older_connection_means_nothing() -> None:
    office = Office()
    office.register(MASTER, topic("T"))
    office.register(replace(MASTER, connection=5), topic("T"))
    office.close(1)
    assert office.has_route()
    office.close(5)
    assert not office.has_route()


def test_a_connection_over_which_another_broker_is_heard_stays_open() -> None:
    office = Office()
    office.register(MASTER)
    office.pass_time(60_000)
    office.register(replace(OTHER, connection=1))
    assert office.pass_time(70_000) == [Note(Severity.WARNING, LOST + "expired")]
    assert office.core.broker_count == 1


def test_the_history_tells_why_a_broker_is_gone() -> None:
    office = Office()
    office.register(MASTER)
    office.close(1)
    office.register(MASTER)
    office.pass_time(130_000)
    told = [
        (event.broker, event.replica, event.address, event.outcome, event.cause, event.time_ms - START)
        for event in office.events
        if event.kind is Kind.UNREGISTER
    ]
    place = ("broker-a", 0, "127.0.0.1:10911", Outcome.OK)
    assert told == [(*place, "connection-closed", 0), (*place, "expired", 125_000)]
