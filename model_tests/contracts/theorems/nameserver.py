"""Theorems on the name server: a farewell removes itself, silence is believed late."""

from spec.broker.topic import DataVersion, TopicConfig, derive_created_topic
from spec.nameserver.liveness import clamp_register_period_ms, is_dropped, is_expired
from spec.nameserver.registration import BrokerEntry, is_topic_update, register, unregister

ADDRESSES = ("a:1", "b:1", "c:1")


def farewell_removes_only_itself(first: int, second: int, leaver: int, broker_id: int) -> bool:
    """An address is gone after a farewell exactly when it is the one that said it, under its own id.

    clause: nameserver.registration.farewell-removes-itself
    pre: 0 <= first <= 2
    pre: 0 <= second <= 2
    pre: first != second
    pre: 0 <= leaver <= 2
    pre: 0 <= broker_id <= 1
    post: __return__
    """
    here = {0: ADDRESSES[first], 1: ADDRESSES[second]}
    after = unregister(BrokerEntry("c", "n", here), broker_id, ADDRESSES[leaver])
    is_own = here[broker_id] == ADDRESSES[leaver]
    kept = {i: where for i, where in here.items() if not (is_own and i == broker_id)}
    return after is not None and after.addresses == kept


def address_stands_under_one_id(old_id: int, new_id: int, other: int) -> bool:
    """A broker that comes back under another id is found under that one only.

    clause: nameserver.registration.one-id-per-address
    pre: 0 <= old_id <= 2
    pre: 0 <= new_id <= 2
    pre: 0 <= other <= 2
    post: __return__
    """
    before = register(register(None, "c", "n", other, "b:1"), "c", "n", old_id, "a:1")
    after = register(before, "c", "n", new_id, "a:1").addresses
    return [i for i, where in after.items() if where == "a:1"] == [new_id]


def silent_broker_is_dropped_after_two_minutes(registered_ms: int, silence_ms: int) -> bool:
    """A scan drops a broker exactly when it was silent for more than 120 000 ms.

    clause: nameserver.liveness.expiry-is-strict
    pre: 0 <= registered_ms <= 10**15
    pre: 0 <= silence_ms <= 10**12
    post: __return__
    """
    return is_expired(registered_ms, registered_ms + silence_ms) == (silence_ms > 120000)


def closed_connection_drops_at_once(registered_ms: int, now_ms: int) -> bool:
    """A broker whose connection closed is dropped however fresh its registration is.

    clause: nameserver.liveness.close-drops-at-once
    pre: 0 <= registered_ms <= now_ms <= 10**15
    post: __return__
    """
    return is_dropped(registered_ms, now_ms, is_connection_closed=True)


def slave_never_changes_topics(broker_id: int, known: int, counter: int) -> bool:
    """Topics change by a master's registration with another version, and by nothing else.

    clause: nameserver.registration.master-speaks-for-topics
    pre: 0 <= broker_id <= 3
    pre: 0 <= known <= 10**6
    pre: 0 <= counter <= 10**6
    post: __return__
    """
    is_update = is_topic_update(broker_id, DataVersion(1, known), DataVersion(1, counter))
    return is_update == (broker_id == 0 and known != counter)


def registration_comes_well_before_expiry(period_ms: int) -> bool:
    """Whatever period is configured, a broker registers at least once before it would be forgotten.

    clause: nameserver.registration.period
    pre: -(2**31) <= period_ms < 2**31
    post: __return__
    """
    return 10000 <= clamp_register_period_ms(period_ms) <= 60000


def created_topic_is_no_template(permission: int, template_queues: int, asked: int) -> bool:
    """A topic made by a first send has at most the template's queues and cannot be a template.

    clause: broker.topic.auto-create-drops-inherit
    pre: 0 <= permission <= 15
    pre: 0 <= template_queues <= 16
    pre: 0 <= asked <= 1024
    post: __return__
    """
    template = TopicConfig("t", template_queues, template_queues, permission)
    created = derive_created_topic("n", template, asked)
    if created is None:
        return permission & 1 == 0
    is_small = created.write_queue_count == min(asked, template_queues)
    return permission & 1 == 1 and created.permission == permission - 1 and is_small
