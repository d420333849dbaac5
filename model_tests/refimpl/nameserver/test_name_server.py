"""The core as a whole: what it answers at all, several of them, and what their history is worth."""

import pytest

from model_tests.refimpl.nameserver.office import MASTER, OTHER, SLAVE, START, Office, reply, topic
from refimpl.effect import Send
from refimpl.history_log import HistoryLog
from refimpl.nameserver.settings import NameServerSettings
from spec.guarantees.judge import judge_history
from spec.guarantees.route import RegistrationFenced
from spec.guarantees.verdict import Verdict
from spec.history.declaration import Declaration
from spec.history.event import Event
from spec.history.kind import Kind
from spec.history.well_formed import checked
from spec.wire.code import NAME_SERVER_REQUESTS, RequestCode
from spec.wire.remoting_header import ONEWAY_BIT

OBSERVED = Declaration(frozenset(Kind))


def test_every_name_server_request_is_served_and_no_other() -> None:
    for code in RequestCode:
        answer = Office().ask(code)
        remark = f" request type {int(code)} not supported"
        assert ((answer.code, answer.remark) == (3, remark)) == (code not in NAME_SERVER_REQUESTS), code


@pytest.mark.clause("wire.reply.unknown-code")
def test_unknown_codes_are_refused_or_in_the_dialect_of_4_9_not_answered() -> None:
    assert Office().ask(9999) == reply(3, " request type 9999 not supported")
    silent = Office(NameServerSettings(is_silent_on_unknown=True))
    assert silent.talk(9999) == []
    assert silent.route().code == 17


@pytest.mark.clause("wire.reply.oneway-silent")
def test_oneway_requests_are_carried_out_in_silence() -> None:
    office = Office()
    assert office.talk(RequestCode.REGISTER_BROKER, MASTER.fields(), flag=ONEWAY_BIT) == []
    assert office.core.broker_count == 1
    assert office.talk(RequestCode.PUT_KV_CONFIG, {"key": "k"}, flag=ONEWAY_BIT) == []


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"topicConfigSerializeWrapper":7}', b"\xff", b"[" * 100_000])
def test_bodies_that_make_no_sense_are_answered_and_change_nothing(body: bytes) -> None:
    office = Office()
    version_body = body.replace(b"topicConfigSerializeWrapper", b"counter").replace(b"7", b"{}")
    for code, fields, content in (
        (RequestCode.REGISTER_BROKER, MASTER.fields(), body),
        (RequestCode.REGISTER_BROKER, MASTER.fields(compressed="true"), body),
        (RequestCode.QUERY_DATA_VERSION, MASTER.identity(), version_body),
    ):
        (effect,) = office.talk(code, fields, content)
        assert isinstance(effect, Send)
        assert effect.frame.code == 1
        assert (effect.frame.remark or "").startswith("at ")
    assert office.core.broker_count == 0


class Installation:
    """Two name servers, one history."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        log = HistoryLog("run", OBSERVED, self.events.append, START)
        settings = (NameServerSettings(node=f"name-server-{number}") for number in (1, 2))
        self.first, self.second = (Office(chosen, events=self.events, log=log) for chosen in settings)
        self.log = log

    def pass_time(self, milliseconds: int) -> None:
        for office in (self.first, self.second):
            office.pass_time(milliseconds)

    def verdict(self) -> tuple[Verdict, tuple[str, ...]]:
        self.log.end(self.first.now_ms)
        (judgement,) = judge_history(checked(self.events), [RegistrationFenced])
        return judgement.verdict, tuple(witness.summary for witness in judgement.witnesses)


def test_two_name_servers_know_nothing_of_each_other() -> None:
    both = Installation()
    both.first.register(MASTER, topic("T"))
    both.first.put("N", "k", "v")
    assert (both.first.has_route(), both.second.has_route()) == (True, False)
    assert both.second.value("N", "k") is None


@pytest.mark.clause("guarantee.rte.registration-fenced")
def test_one_crashes_the_other_serves_and_the_first_learns_anew() -> None:
    both = Installation()
    for office in (both.first, both.second):
        office.register(MASTER, topic("T"))
    both.first.put("N", "k", "v")
    both.log.add(Event("", 0, START, "name-server-1", Kind.DOWN, status="crash"))
    both.first.disk.crash()
    assert both.second.has_route()
    both.first = Office(both.first.settings, both.first.disk, START, both.events, both.log)
    assert (both.first.has_route(), both.first.value("N", "k")) == (False, "v")
    for _ in range(2):
        both.pass_time(30_000)
        for office in (both.first, both.second):
            office.register(MASTER, topic("T"))
    assert both.first.route() == both.second.route()
    assert both.verdict() == (Verdict.HELD, ())


@pytest.mark.clause("guarantee.rte.registration-fenced")
def test_a_fail_over_with_a_late_farewell_keeps_the_guarantee() -> None:
    both = Installation()
    for office in (both.first, both.second):
        office.register(MASTER, topic("T"))
        office.register(SLAVE)
        office.register(OTHER)
        office.close(1)
        office.register(SLAVE.as_id(0), topic("T"))
        office.farewell(MASTER)
        office.farewell(OTHER)
    both.pass_time(60_000)
    assert both.verdict() == (Verdict.HELD, ())


@pytest.mark.clause("guarantee.rte.registration-fenced")
def test_the_farewell_of_4_9_breaks_the_guarantee_and_the_history_shows_it() -> None:
    office = Office(NameServerSettings(is_farewell_fenced=False))
    office.register(MASTER)
    office.register(SLAVE.as_id(0))
    office.farewell(MASTER)
    (judgement,) = judge_history(checked(office.events), [RegistrationFenced])
    assert judgement.verdict is Verdict.VIOLATED
    assert [witness.summary for witness in judgement.witnesses] == [
        "unregistering 127.0.0.1:10911 removed broker-a at 127.0.0.1:20911"
    ]


@pytest.mark.clause("guarantee.rte.registration-fenced")
def test_a_broker_that_one_name_server_never_hears_of_is_found_in_the_history() -> None:
    both = Installation()
    both.first.register(MASTER)
    both.pass_time(40_000)
    both.first.register(MASTER)
    assert both.verdict() == (
        Verdict.VIOLATED,
        ("name-server-2 does not know broker-a at 127.0.0.1:10911",),
    )


def test_a_name_server_that_is_stopped_has_closed_its_incarnation() -> None:
    office = Office()
    office.core.stop(START + 5)
    assert [(event.kind, event.time_ms) for event in office.events] == [
        (Kind.BEGIN, START),
        (Kind.UP, START),
        (Kind.DOWN, START + 5),
    ]
