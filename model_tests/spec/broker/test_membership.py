import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.broker.membership import (
    Cause,
    ConsumerGroup,
    Manner,
    Member,
    derive_expired,
    derive_notified,
    is_expired,
    list_client_ids,
    register,
    register_member,
    register_subscriptions,
    unregister,
)
from spec.broker.producer_choice import ProducerConnection, choose_producer
from spec.group.consumption import MessageModel
from spec.values.subscription import Subscription, subscribe_tags
from spec.values.units import Milliseconds

GROUP = ConsumerGroup((Member(1, "a", 0), Member(2, "b", 50_000)))


def subscription(topic: str, expression: str, version: int) -> Subscription:
    return subscribe_tags(topic, expression, Milliseconds(version))


@pytest.mark.clause("broker.member.new-connection-changes", "broker.member.replaced-id-is-no-change")
def test_only_a_new_connection_changes_the_members() -> None:
    members, is_changed = register_member(GROUP.members, Member(3, "a", 9))
    assert (members, is_changed) == ((*GROUP.members, Member(3, "a", 9)), True)
    members, is_changed = register_member(GROUP.members, Member(2, "c", 9))
    assert (members, is_changed) == ((Member(1, "a", 0), Member(2, "c", 9)), False)


@pytest.mark.clause("broker.member.subscription-change", "broker.filter.highest-version-counts")
def test_topics_that_come_or_go_change_the_group_but_newer_versions_do_not() -> None:
    first, newer, other = subscription("T", "A", 1), subscription("T", "B", 2), subscription("U", "*", 1)
    assert register_subscriptions((), (first,)) == ((first,), True)
    assert register_subscriptions((first,), (newer,)) == ((newer,), False)
    assert register_subscriptions((newer,), (first,)) == ((newer,), False)
    assert register_subscriptions((first,), (first, other)) == ((first, other), True)
    assert register_subscriptions((first, other), (first,)) == ((first,), True)


@pytest.mark.clause("broker.filter.highest-version-counts")
def test_highest_version_of_a_topic_that_one_heartbeat_names_twice_is_kept() -> None:
    older, newer = subscription("T", "A", 1), subscription("T", "B", 2)
    assert register_subscriptions((), (newer, older)) == ((newer,), True)
    assert register_subscriptions((), (older, newer)) == ((newer,), True)


@pytest.mark.clause("broker.member.subscription-change")
def test_members_with_different_topics_overwrite_each_other_at_every_heartbeat() -> None:
    group = ConsumerGroup()
    changes = []
    for client, topic in (("a", "T"), ("b", "U"), ("a", "T"), ("b", "U")):
        member = Member(ord(client), client, 0)
        group, is_changed = register(group, member, (subscription(topic, "*", 1),))
        changes.append(is_changed)
    assert changes == [True, True, True, True]
    assert [kept.topic for kept in group.subscriptions] == ["U"]


@pytest.mark.clause("broker.member.last-manner-counts")
def test_last_heartbeat_says_how_the_group_consumes_without_a_change() -> None:
    broadcast = Manner(message_model=MessageModel.BROADCASTING)
    group, is_changed = register(GROUP, Member(1, "a", 9), (), broadcast)
    expected = ConsumerGroup((Member(1, "a", 9), Member(2, "b", 50_000)), (), broadcast)
    assert (group, is_changed) == (expected, False)
    assert unregister(group, [1]) == ConsumerGroup((Member(2, "b", 50_000),), (), broadcast)


@pytest.mark.clause("broker.member.expiry-is-strict")
def test_scan_closes_who_was_silent_for_more_than_two_minutes() -> None:
    assert not is_expired(0, 120_000)
    assert is_expired(0, 120_001)
    assert derive_expired(GROUP.members, 120_001) == (1,)


@pytest.mark.clause("broker.member.expiry-is-strict")
def test_scan_with_its_own_expiry_time_closes_by_that_time() -> None:
    assert derive_expired(GROUP.members, 50_100, expiry_ms=100) == (1,)
    assert derive_expired(GROUP.members, 50_101, expiry_ms=100) == (1, 2)
    assert derive_expired(GROUP.members, 130_000, expiry_ms=130_000) == ()


@pytest.mark.clause("broker.member.empty-group-ends")
def test_group_ends_with_its_last_connection() -> None:
    assert unregister(GROUP, [1]) == ConsumerGroup((Member(2, "b", 50_000),))
    assert unregister(GROUP, [1, 2]) is None
    assert unregister(GROUP, [7]) == GROUP


@pytest.mark.clause(
    "broker.member.change-is-told-to-all", "broker.member.close-is-told", "broker.member.expiry-is-silent"
)
@pytest.mark.parametrize(
    ("cause", "is_changed", "is_group_notified", "is_broker_notifying", "notified"),
    [
        (Cause.REGISTERED, True, True, True, (1, 2)),
        (Cause.REGISTERED, False, True, True, ()),
        (Cause.REGISTERED, True, False, True, ()),
        (Cause.UNREGISTERED, True, True, True, (1, 2)),
        (Cause.UNREGISTERED, True, False, True, ()),
        (Cause.CLOSED, True, False, True, (1, 2)),
        (Cause.CLOSED, True, True, False, ()),
        (Cause.EXPIRED, True, True, True, ()),
    ],
)
def test_who_is_told_depends_on_the_cause(
    cause: Cause,
    *,
    is_changed: bool,
    is_group_notified: bool,
    is_broker_notifying: bool,
    notified: tuple[int, ...],
) -> None:
    told = derive_notified(
        GROUP,
        cause,
        is_changed=is_changed,
        is_group_notified=is_group_notified,
        is_broker_notifying=is_broker_notifying,
    )
    assert told == notified
    assert derive_notified(None, cause) == ()


@pytest.mark.clause("broker.member.change-is-told-to-all", "broker.member.close-is-told")
def test_all_members_are_told_where_nothing_speaks_against_it() -> None:
    told = {cause: derive_notified(GROUP, cause) for cause in Cause}
    assert told == {
        Cause.REGISTERED: (1, 2),
        Cause.UNREGISTERED: (1, 2),
        Cause.CLOSED: (1, 2),
        Cause.EXPIRED: (),
    }


@pytest.mark.clause("broker.member.list-by-connection", "broker.member.empty-list-is-an-error")
def test_list_has_one_id_a_connection_and_none_is_an_error() -> None:
    assert list_client_ids(ConsumerGroup((Member(1, "a", 0), Member(2, "a", 0)))) == ("a", "a")
    assert list_client_ids(None) is None
    assert list_client_ids(ConsumerGroup()) is None


@pytest.mark.clause("broker.member.new-connection-changes", "broker.member.empty-group-ends")
@given(st.lists(st.tuples(st.booleans(), st.integers(1, 4)), max_size=20))
def test_members_are_exactly_the_connections_that_came_and_did_not_leave(
    steps: list[tuple[bool, int]],
) -> None:
    group: ConsumerGroup | None = None
    online: dict[int, None] = {}
    for is_arrival, connection in steps:
        if is_arrival:
            group, is_changed = register(group or ConsumerGroup(), Member(connection, "c", 0), ())
            assert is_changed == (connection not in online)
            online[connection] = None
        elif group is not None:
            group = unregister(group, [connection])
            online.pop(connection, None)
    members = () if group is None else group.members
    assert [member.connection for member in members] == list(online)


@pytest.mark.clause("broker.transaction.producer-in-turn")
@pytest.mark.parametrize(
    ("connections", "counter", "chosen"),
    [
        ((), 5, None),
        ((ProducerConnection(), ProducerConnection()), 0, 0),
        ((ProducerConnection(), ProducerConnection()), 1, 1),
        ((ProducerConnection(), ProducerConnection()), 2, 0),
        ((ProducerConnection(is_writable=False), ProducerConnection()), 0, 1),
        ((ProducerConnection(is_writable=False), ProducerConnection(is_active=False)), 1, 0),
        ((ProducerConnection(is_active=False),), 0, None),
    ],
)
def test_producer_is_chosen_in_turn(
    connections: tuple[ProducerConnection, ...], counter: int, chosen: int | None
) -> None:
    assert choose_producer(connections, counter) == chosen


@pytest.mark.clause("broker.transaction.producer-in-turn")
def test_fourth_connection_is_not_looked_at() -> None:
    congested = ProducerConnection(is_writable=False)
    assert choose_producer((congested, congested, congested, ProducerConnection()), 0) == 2
