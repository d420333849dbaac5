"""Pulls: guarded, answered from the store, or held until there is something to answer.

Apache's PullMessageProcessor. A pull that is taken up after it was held runs through all guards
again, since everything may have changed meanwhile; it commits nothing and is not held again.
"""

from collections.abc import Mapping
from itertools import count
from typing import Final, NamedTuple

from refimpl.broker.hold_service import HoldService, Pull
from refimpl.broker.parts import BrokerParts
from refimpl.remoting.request import Handler, Reply, Request
from refimpl.store.message_read import Found
from refimpl.store.new_message import NewMessage
from spec.broker.long_poll import is_held
from spec.broker.offset_table import Carrier, is_commit_of_pull
from spec.broker.pull_guard import CarriedSubscription, KnownSubscription, PullTarget, check_pull
from spec.broker.pull_outcome import derive_code, derive_suggested_broker_id
from spec.broker.topic import is_readable
from spec.group.consumption import MessageModel
from spec.history.kind import Kind
from spec.recovery.state import QueueName
from spec.rejection import Rejection
from spec.values.message_queue import MessageQueue
from spec.values.name import OFFSET_MOVED_TOPIC
from spec.values.property import KEYS, TAGS, encode_properties
from spec.values.pull_flag import PullFlag
from spec.values.subscription import EVERYTHING, ExpressionType, Subscription, subscribe_tags
from spec.values.units import Milliseconds, QueueId
from spec.wire.body.offset import OffsetMovedEvent
from spec.wire.code import LaterRequestCode, RequestCode, ResponseCode
from spec.wire.header.pull import PullMessageHeader, PullMessageResponseHeader

COUNT_LIMIT: Final = 8_192
"""What a pull may ask for at most: the answer is limited anyway, and what is scanned must be, too."""

_WHY: Final[Mapping[ResponseCode, str]] = {
    ResponseCode.NO_PERMISSION: "the broker, the group or the topic is closed to reading",
    ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST: "there is no such consumer group: create it first",
    ResponseCode.TOPIC_NOT_EXIST: "there is no such topic: create it first",
    ResponseCode.SYSTEM_ERROR: "the queue is not one of the topic, or the expression is not one of tags",
    ResponseCode.SUBSCRIPTION_PARSE_FAILED: "the expression cannot be parsed",
    ResponseCode.SUBSCRIPTION_NOT_EXIST: "the group is not online, or does not subscribe the topic:"
    " its heartbeat has not arrived yet",
    ResponseCode.SUBSCRIPTION_NOT_LATEST: "the group's subscription is newer than the broker's:"
    " the next heartbeat will bring it",
}
_STATUS: Final[Mapping[ResponseCode, str]] = {
    ResponseCode.SUCCESS: "found",
    ResponseCode.PULL_NOT_FOUND: "no-new",
    ResponseCode.PULL_RETRY_IMMEDIATELY: "no-match",
    ResponseCode.PULL_OFFSET_MOVED: "moved",
}


class _Asked(NamedTuple):
    """What the pull is judged by: its own subscription, or the one that the group left behind."""

    subscription: Subscription
    known: KnownSubscription
    carried: CarriedSubscription


class PullDesk:
    """Hands messages to consumers."""

    def __init__(self, parts: BrokerParts) -> None:
        self._parts = parts
        self._numbers = count(1)
        self.holds = HoldService(parts.settings, parts.store, parts.recorder, self._run_again)

    def handlers(self) -> Mapping[int, Handler]:
        """By request code; 361 is what the lite pull of 5.x sends in place of 11."""
        return {RequestCode.PULL_MESSAGE: self.on_pull, LaterRequestCode.LITE_PULL_MESSAGE: self.on_pull}

    def on_pull(self, request: Request) -> Reply | None:
        """Messages, a refusal, or nothing yet: the pull is held."""
        header = request.header(PullMessageHeader)
        client = self._parts.consumers.client_id_of(header.consumer_group, request.connection)
        pull = Pull(request, header, client or str(request.peer), next(self._numbers))
        return self._run(pull, request.now_ms, is_first_pass=True)

    def _run_again(self, pull: Pull, now_ms: int) -> None:
        self._parts.respond(pull.request, lambda: self._run(pull, now_ms, is_first_pass=False))

    def _run(self, pull: Pull, now_ms: int, *, is_first_pass: bool) -> Reply | None:
        header = pull.header
        asked = self._derive_asked(header)
        refused = self._check(header, asked, now_ms)
        if refused is not None:
            self._record(pull, asked, header.queue_offset, "error", now_ms)
            return Reply(
                refused, f"{header.topic[:127]} for {header.consumer_group[:255]}: {_WHY[refused]}", {}
            )
        if is_commit_of_pull(header.sys_flag, is_slave=False, is_first_pass=is_first_pass):
            self._commit(pull, now_ms)
        found = self._read(header, asked.subscription)
        code = derive_code(found.status, header.queue_offset)
        is_rerun = not is_first_pass or self.holds.is_full()
        if is_held(code, header.sys_flag, is_rerun=is_rerun):
            self.holds.hold(pull, asked.subscription, now_ms)
            return None
        if code is ResponseCode.PULL_OFFSET_MOVED:
            self._store_moved(header, found, now_ms)
        self._record(pull, asked, found.next_offset, _STATUS[code], now_ms)
        return self._answer(header, code, found)

    def _derive_asked(self, header: PullMessageHeader) -> _Asked:
        """Which subscription counts, and what the guards have to know of it.

        Clause: broker.pull.carried-subscription
        """
        topic, consumers = header.topic, self._parts.consumers
        if header.sys_flag & PullFlag.SUBSCRIPTION:
            return self._derive_carried(header)
        known = consumers.subscription(header.consumer_group, topic)
        config = self._parts.groups.known(header.consumer_group)
        manner = consumers.manner(header.consumer_group)
        is_broadcast = manner is not None and manner.message_model is MessageModel.BROADCASTING
        facts = KnownSubscription(
            is_group_online=manner is not None,
            is_broadcast_refused=is_broadcast and config is not None and not config.is_broadcast_enabled,
            is_topic_subscribed=known is not None,
            version=known.version if known is not None else 0,
            is_expression=known is not None and known.expression_type is ExpressionType.SQL92,
        )
        subscription = known or subscribe_tags(topic, EVERYTHING, Milliseconds(0))
        return _Asked(subscription, facts, CarriedSubscription())

    def _derive_carried(self, header: PullMessageHeader) -> _Asked:
        version = Milliseconds(header.sub_version)
        is_expression = header.expression_type == ExpressionType.SQL92.value
        nothing = subscribe_tags(header.topic, EVERYTHING, version)
        try:
            wanted = nothing if is_expression else subscribe_tags(header.topic, header.subscription, version)
        except Rejection:
            return _Asked(nothing, KnownSubscription(), CarriedSubscription(is_legal=False))
        return _Asked(
            wanted, KnownSubscription(version=version), CarriedSubscription(is_expression=is_expression)
        )

    def _check(self, header: PullMessageHeader, asked: _Asked, now_ms: int) -> ResponseCode | None:
        """The refusal by the first guard that fails.

        Clause: broker.pull.guard-order
        """
        topic = self._parts.topics.find(header.topic)
        group = self._parts.groups.find(header.consumer_group, now_ms)
        target = PullTarget(
            is_broker_readable=is_readable(self._parts.settings.permission),
            has_group=group is not None,
            is_consume_enabled=group is None or group.is_consume_enabled,
            has_topic=topic is not None,
            is_topic_readable=topic is None or is_readable(topic.permission),
            read_queue_count=topic.read_queue_count if topic is not None else 0,
        )
        return check_pull(
            target, header.queue_id, header.sys_flag, header.sub_version, asked.known, carried=asked.carried
        )

    def _commit(self, pull: Pull, now_ms: int) -> None:
        """The offset that rides along is applied.

        Clause: broker.offset.pull-commits-once
        """
        header = pull.header
        self._parts.offsets.commit(
            header.consumer_group,
            header.topic,
            header.queue_id,
            header.commit_offset,
            carrier=Carrier.PULL,
            client=pull.client,
            now_ms=now_ms,
        )

    def _read(self, header: PullMessageHeader, subscription: Subscription) -> Found:
        wanted = frozenset(subscription.codes) or None
        name = QueueName(header.topic, QueueId(header.queue_id))
        return self._parts.store.read(
            name, header.queue_offset, min(header.max_msg_nums, COUNT_LIMIT), wanted
        )

    def _answer(self, header: PullMessageHeader, code: ResponseCode, found: Found) -> Reply:
        group = self._parts.groups.known(header.consumer_group)
        suggested = derive_suggested_broker_id(
            is_slave_read_enabled=self._parts.settings.is_slave_read_enabled,
            is_slow=found.suggests_slave,
            normal_broker_id=group.broker_id if group is not None else 0,
            slow_broker_id=group.slow_broker_id if group is not None else 1,
        )
        fields = PullMessageResponseHeader(suggested, found.next_offset, found.min_offset, found.max_offset)
        self._parts.statistics.get(header.consumer_group, header.topic, found.message_count, found.byte_count)
        return Reply(code, found.status.value, fields.encode(), found.body)

    def _store_moved(self, header: PullMessageHeader, found: Found, now_ms: int) -> None:
        """Whoever watches for it finds an event: a group was sent to another offset."""
        settings = self._parts.settings
        queue = MessageQueue(header.topic, settings.name, header.queue_id)
        event = OffsetMovedEvent(header.consumer_group, queue, header.queue_offset, found.next_offset)
        message = NewMessage(
            OFFSET_MOVED_TOPIC,
            QueueId(0),
            event.encode(),
            settings.host,
            settings.host,
            encode_properties({TAGS: header.consumer_group, KEYS: header.consumer_group}),
            born_at_ms=Milliseconds(now_ms),
            waits=False,
        )
        self._parts.intake.put(message, now_ms, lambda *_: None)

    def _record(self, pull: Pull, asked: _Asked, next_offset: int, status: str, now_ms: int) -> None:
        recorder = self._parts.recorder
        if recorder.is_on:
            header = pull.header
            event = recorder.event(Kind.SERVED, now_ms)._replace(
                group=header.consumer_group,
                topic=header.topic,
                queue=header.queue_id,
                client=pull.client,
                offset=header.queue_offset,
                next=next_offset,
                request=pull.number,
                status=status,
                version=header.sub_version,
                evaluated=asked.subscription.version,
            )
            recorder.add(event)
