"""Consumer groups: the table by connection is the fold of the rules, and its members are told in time."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refimpl.broker.client_info import ClientInfo
from refimpl.broker.consumer_registry import ConsumerRegistry
from refimpl.broker.recorder import Recorder
from refimpl.broker.settings import BrokerSettings
from refimpl.effect import Severity
from refimpl.history_log import HistoryLog
from spec.broker.membership import (
    Cause,
    ConsumerGroup,
    Manner,
    Member,
    derive_expired,
    derive_notified,
    register,
    unregister,
)
from spec.group.consumption import ConsumeType, MessageModel
from spec.group.start_position import StartPolicy
from spec.history.declaration import Declaration
from spec.history.event import Event
from spec.history.kind import Kind
from spec.values.host import host_of
from spec.values.subscription import ExpressionType, subscribe_tags
from spec.values.units import Milliseconds
from spec.wire.body.heartbeat import ConsumerData
from spec.wire.body.subscription import SubscriptionRecord, derive_subscription
from spec.wire.language import Language

PEER = host_of("10.0.0.9", 4711)


def client(connection: int, client_id: str = "", at_ms: int = 0) -> ClientInfo:
    return ClientInfo(connection, client_id or f"c{connection}", Language.JAVA, 399, PEER, at_ms)


def record(topic: str, expression: str = "*", version: int = 1) -> SubscriptionRecord:
    return SubscriptionRecord(topic, expression, sub_version=Milliseconds(version))


def data(
    *records: SubscriptionRecord, group: str = "g", model: MessageModel = MessageModel.CLUSTERING
) -> ConsumerData:
    return ConsumerData(group, ConsumeType.PUSH, model, StartPolicy.FIRST_OFFSET, records)


class Office:
    """A registry with all that leaves it."""

    def __init__(self, settings: BrokerSettings | None = None) -> None:
        self.told: list[tuple[int, str]] = []
        self.notes: list[tuple[Severity, str]] = []
        self.events: list[Event] = []
        log = HistoryLog("run", Declaration(frozenset(Kind)), self.events.append, 0)
        self.registry = ConsumerRegistry(
            settings or BrokerSettings(),
            Recorder(log, "n", "b"),
            lambda connection, group: self.told.append((connection, group)),
            lambda severity, text: self.notes.append((severity, text)),
        )

    def beat(self, info: ClientInfo, what: ConsumerData, *, is_group_notified: bool = True) -> bool:
        return self.registry.register(info, what, info.heartbeat_at_ms, is_group_notified=is_group_notified)

    def take_told(self) -> list[tuple[int, str]]:
        told, self.told = self.told, []
        return told

    def history(self) -> list[tuple[Kind, int, str, str, str]]:
        return [(one.kind, one.time_ms, one.group, one.client, one.cause) for one in self.events[1:]]


@pytest.mark.clause("broker.member.change-is-told-to-all", "broker.member.replaced-id-is-no-change")
def test_a_new_connection_is_told_to_all_and_a_known_one_to_nobody() -> None:
    office = Office()
    assert office.beat(client(1), data(record("T")))
    assert office.take_told() == [(1, "g")]
    assert office.beat(client(2), data(record("T")))
    assert office.take_told() == [(1, "g"), (2, "g")]
    assert not office.beat(client(1, at_ms=30), data(record("T")))
    assert not office.beat(client(2, "other", 40), data(record("T", "A", 2), model=MessageModel.BROADCASTING))
    assert office.take_told() == []
    manner = Manner(ConsumeType.PUSH, MessageModel.BROADCASTING, StartPolicy.FIRST_OFFSET)
    expected = (subscribe_tags("T", "A", Milliseconds(2)),)
    assert office.registry.find("g") == ConsumerGroup(
        (Member(1, "c1", 30), Member(2, "other", 40)), expected, manner
    )
    assert office.registry.manner("g") == manner
    assert office.registry.clients("g") == (client(1, at_ms=30), client(2, "other", 40))
    assert office.history() == [
        (Kind.JOIN, 0, "g", "c1", ""),
        (Kind.JOIN, 0, "g", "c2", ""),
        (Kind.LEAVE, 40, "g", "c2", "replaced"),
        (Kind.JOIN, 40, "g", "other", ""),
    ]


@pytest.mark.clause("broker.member.change-is-told-to-all")
@pytest.mark.parametrize("settings", [None, BrokerSettings(is_change_notified=False)])
def test_a_group_or_a_broker_that_does_not_notify_tells_nobody_of_a_newcomer(
    settings: BrokerSettings | None,
) -> None:
    office = Office(settings)
    assert office.beat(client(1), data(), is_group_notified=settings is not None)
    office.beat(client(2), data(), is_group_notified=settings is not None)
    office.registry.unregister("g", 2, 5, is_group_notified=settings is not None)
    assert office.take_told() == []


@pytest.mark.clause("broker.member.change-is-told-to-all", "broker.member.empty-group-ends")
def test_a_farewell_is_told_to_those_who_stay_and_the_last_one_ends_the_group() -> None:
    office = Office()
    office.beat(client(1), data(record("T")))
    office.beat(client(2), data(record("T")))
    office.take_told()
    office.registry.unregister("g", 9, 4, is_group_notified=True)  # nobody knows this one
    office.registry.unregister("h", 1, 4, is_group_notified=True)
    assert office.take_told() == []
    office.registry.unregister("g", 1, 5, is_group_notified=True)
    assert office.take_told() == [(2, "g")]
    assert office.registry.groups_of(1) == ()
    office.registry.unregister("g", 2, 6, is_group_notified=True)
    assert office.take_told() == []
    assert (office.registry.find("g"), office.registry.groups()) == (None, ())
    assert (office.registry.subscription("g", "T"), office.registry.manner("g")) == (None, None)
    assert office.history()[2:] == [
        (Kind.LEAVE, 5, "g", "c1", "unregistered"),
        (Kind.LEAVE, 6, "g", "c2", "unregistered"),
    ]


@pytest.mark.clause("broker.member.close-is-told")
def test_a_closed_connection_leaves_all_its_groups_and_the_rest_is_told_in_any_case() -> None:
    office = Office()
    for group in ("g", "h"):
        office.beat(client(1), data(group=group), is_group_notified=False)
        office.beat(client(2), data(group=group), is_group_notified=False)
    assert office.registry.groups_of(1) == ("g", "h")
    office.registry.drop_connection(1, 7)
    assert office.take_told() == [(2, "g"), (2, "h")]
    assert office.registry.groups_of(1) == ()
    office.registry.drop_connection(1, 8)
    assert office.take_told() == []
    assert office.history()[4:] == [
        (Kind.LEAVE, 7, "g", "c1", "closed"),
        (Kind.LEAVE, 7, "h", "c1", "closed"),
    ]


@pytest.mark.clause("broker.member.expiry-is-strict", "broker.member.expiry-is-silent")
def test_a_scan_removes_the_silent_without_telling_and_names_each_connection_once() -> None:
    office = Office(BrokerSettings(member_expiry_ms=100))
    office.beat(client(1), data())
    office.beat(client(1), data(group="h"))
    office.beat(client(2, at_ms=50), data())
    office.take_told()
    assert office.registry.scan(100) == ()
    assert office.registry.scan(101) == (1,)
    assert office.take_told() == []
    assert office.registry.groups() == ("g",)
    assert office.registry.clients("g") == (client(2, at_ms=50),)
    assert office.history()[3:] == [
        (Kind.LEAVE, 101, "g", "c1", "expired"),
        (Kind.LEAVE, 101, "h", "c1", "expired"),
    ]


def test_a_subscription_that_cannot_be_understood_is_left_out_and_told_once() -> None:
    office = Office()
    sql = SubscriptionRecord("S", "", expression_type=ExpressionType.SQL92)
    what = data(record("T", "A"), record("U", " || "), sql)
    assert office.beat(client(1), what)
    assert not office.beat(client(1, at_ms=1), what)
    assert office.registry.subscription("g", "T") == subscribe_tags("T", "A", Milliseconds(1))
    assert [office.registry.subscription("g", topic) for topic in ("U", "S")] == [None, None]
    who = "'c1' of group 'g' subscribes"
    assert office.notes == [
        (
            Severity.WARNING,
            f"{who} 'U' by ' || ', which is left out: ' || ' names no tag; ask for everything with '*'",
        ),
        (Severity.WARNING, f"{who} 'S' by '', which is left out: an SQL92 expression is empty"),
    ]


def test_clients_are_found_by_id_and_by_connection_and_groups_by_topic() -> None:
    office = Office()
    office.beat(client(1, "same"), data(record("T")))
    office.beat(client(2, "same"), data(record("T")))
    office.beat(client(3), data(record("U"), group="h"))
    registry = office.registry
    assert (registry.connection_of("g", "same"), registry.connection_of("g", "none")) == (1, None)
    assert (registry.client_id_of("g", 2), registry.client_id_of("g", 3)) == ("same", "")
    assert registry.client_id_of("none", 1) == ""
    assert (registry.groups_of_topic("T"), registry.groups_of_topic("X")) == (("g",), ())
    assert registry.groups() == ("g", "h")


class Step(NamedTuple):
    """What happens next to the group, 10 ms after what happened before."""

    deed: str
    connection: int
    client_id: str
    topics: tuple[str, ...]


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(["beat", "beat", "leave", "close", "scan"]),
        st.integers(1, 4),
        st.sampled_from("ab"),
        st.lists(st.sampled_from("TUV"), max_size=2).map(tuple),
    ),
    max_size=25,
)


def fold(group: ConsumerGroup | None, step: Step, now_ms: int) -> tuple[ConsumerGroup | None, Sequence[int]]:
    """The group after the step and who is told, by the rules on whole groups."""
    if step.deed == "beat":
        what = data(*(record(topic, version=now_ms) for topic in step.topics))
        subscriptions = tuple(map(derive_subscription, what.subscription_data_set))
        manner = Manner(what.consume_type, what.message_model, what.consume_from_where)
        arrived = Member(step.connection, step.client_id, now_ms)
        after, is_changed = register(group or ConsumerGroup(), arrived, subscriptions, manner)
        return after, derive_notified(after, Cause.REGISTERED, is_changed=is_changed)
    if group is None:
        return None, ()
    if step.deed == "scan":
        return unregister(group, derive_expired(group.members, now_ms, 45)), ()
    is_member = any(member.connection == step.connection for member in group.members)
    cause = Cause.UNREGISTERED if step.deed == "leave" else Cause.CLOSED
    after_leave = unregister(group, [step.connection])
    return after_leave, derive_notified(after_leave, cause, is_changed=is_member)


@pytest.mark.clause(
    "broker.member.new-connection-changes",
    "broker.member.subscription-change",
    "broker.member.last-manner-counts",
    "broker.member.empty-group-ends",
)
@given(STEPS)
def test_the_table_is_at_every_step_what_the_rules_make_of_the_whole_group(steps: list[Step]) -> None:
    office = Office(BrokerSettings(member_expiry_ms=45))
    group: ConsumerGroup | None = None
    for number, step in enumerate(steps):
        now_ms = 10 * number
        group, told = fold(group, step, now_ms)
        match step.deed:
            case "beat":
                what = data(*(record(topic, version=now_ms) for topic in step.topics))
                office.beat(client(step.connection, step.client_id, now_ms), what)
            case "leave":
                office.registry.unregister("g", step.connection, now_ms, is_group_notified=True)
            case "close":
                office.registry.drop_connection(step.connection, now_ms)
            case _:
                office.registry.scan(now_ms)
        assert office.registry.find("g") == group
        assert office.take_told() == [(connection, "g") for connection in told]
        for topic in "TUV":
            kept = () if group is None else group.subscriptions
            expected = next((one for one in kept if one.topic == topic), None)
            assert office.registry.subscription("g", topic) == expected
