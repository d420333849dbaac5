"""Topics, as administrators make, look at and delete them: a part of Apache's AdminBrokerProcessor.

Deleting a topic takes its configuration, its queues and everybody's offsets of it; the offsets are
off the disk before the answer leaves, so that a restart does not bring them back. The records stay
in the log until retention takes them.
"""

from collections.abc import Mapping

from refimpl.broker.parts import BrokerParts
from refimpl.remoting.request import OK, Handler, Reply, Request, refuse, succeed
from spec.broker.topic import TopicConfig, derive_system_topics, explain_bad_topic, explain_protected
from spec.history.kind import Kind
from spec.values.name import is_system_topic
from spec.wire.body.group import GroupList
from spec.wire.body.topic import TopicList
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.admin import CreateTopicHeader, TopicHeader


class TopicDesk:
    """Looks after topics."""

    def __init__(self, parts: BrokerParts) -> None:
        self._parts = parts
        self._system_topics = derive_system_topics(parts.settings.cluster, parts.settings.name)

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {
            RequestCode.UPDATE_AND_CREATE_TOPIC: self.on_put,
            RequestCode.DELETE_TOPIC_IN_BROKER: self.on_delete,
            RequestCode.GET_ALL_TOPIC_CONFIG: self.on_list,
            RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: self.on_consumers,
            RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: self.on_system_topics,
            RequestCode.CLEAN_UNUSED_TOPIC: self.on_clean_unused,
        }

    def on_put(self, request: Request) -> Reply:
        """The topic is as asked for; whether it is ordered cannot be asked for.

        Clauses: broker.admin.system-topic, broker.admin.topic-limits
        """
        header = request.header(CreateTopicHeader)
        topic = TopicConfig(
            header.topic,
            header.read_queue_nums,
            header.write_queue_nums,
            header.perm,
            header.topic_filter_type,
            header.topic_sys_flag or 0,
        )
        refused = explain_protected(topic.name, self._system_topics) or explain_bad_topic(topic)
        if refused is not None:
            return refuse(ResponseCode.SYSTEM_ERROR, refused)
        self._parts.topics.put(topic, request.now_ms)
        return OK

    def on_delete(self, request: Request) -> Reply:
        """There is no such topic, and nothing of it is left but records in the log.

        Clauses: broker.admin.system-topic, store.queue.emptied-goes-on
        """
        topic = request.header(TopicHeader).topic
        refused = explain_protected(topic, self._system_topics)
        if refused is not None:
            return refuse(ResponseCode.SYSTEM_ERROR, refused)
        self._remove(topic, request.now_ms)
        return OK

    def _remove(self, topic: str, now_ms: int) -> None:
        parts = self._parts
        parts.offsets.remove_topic(topic)
        parts.offsets.persist()
        parts.topics.remove(topic, now_ms)
        parts.store.remove_topic(topic)
        parts.statistics.forget_topic(topic)
        if parts.recorder.is_on:
            event = parts.recorder.event(Kind.DELETE, now_ms)
            parts.recorder.add(event._replace(status="topic", topic=topic))

    def on_list(self, _request: Request) -> Reply:
        """All topics, as the file has them."""
        return succeed(None, self._parts.topics.table())

    def on_consumers(self, request: Request) -> Reply:
        """The groups that subscribe the topic, or have committed anything of it."""
        topic = request.header(TopicHeader).topic
        online = self._parts.consumers.groups_of_topic(topic)
        return succeed(None, GroupList(frozenset((*online, *self._parts.offsets.groups_of(topic)))))

    def on_system_topics(self, _request: Request) -> Reply:
        """The topics that cannot be changed or deleted.

        Clause: broker.admin.system-topic
        """
        return succeed(None, TopicList(self._system_topics))

    def on_clean_unused(self, request: Request) -> Reply:
        """Queues of topics that are not configured are gone, except those that the broker itself uses."""
        for topic in self._parts.store.queues.topics():
            is_in_use = self._parts.topics.find(topic) is not None or is_system_topic(topic)
            if not is_in_use and topic not in self._system_topics:
                self._remove(topic, request.now_ms)
        return OK
