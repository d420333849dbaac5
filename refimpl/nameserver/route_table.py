"""Where topics are: for each topic its queues behind each broker name.

A query looks at one topic, the end of a name at the topics of that name; nothing but the lists of
all topics looks at all of them.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from spec.broker.topic import TopicConfig
from spec.nameserver.registration import BrokerEntry, merge_topics
from spec.nameserver.route import QueueData, Route, delete_topic, derive_queue_data, derive_route

Change: TypeAlias = Callable[[QueueData], QueueData]


class RouteTable:
    """The routes of one name server."""

    def __init__(self) -> None:
        self._queues: dict[str, dict[str, QueueData]] = {}
        self._topics: dict[str, dict[str, TopicConfig]] = {}
        self._count = 0

    @property
    def count(self) -> int:
        """How many topics there are, each counted for each broker name that has it."""
        return self._count

    def topics(self) -> frozenset[str]:
        """Every topic that has queues somewhere."""
        return frozenset(self._queues)

    def topics_of(self, names: frozenset[str]) -> frozenset[str]:
        """Every topic that has queues behind one of the broker names."""
        return frozenset().union(*(self._topics.get(name, ()) for name in names))

    def count_new(self, name: str, topics: Mapping[str, TopicConfig]) -> int:
        """How many of the topics are new behind the broker name."""
        known = self._topics.get(name, {})
        return sum(topic not in known for topic in topics)

    def merge(self, name: str, topics: Mapping[str, TopicConfig]) -> None:
        """The broker name has these topics too, as they are given here.

        Clause: nameserver.registration.missing-topics-stay
        """
        self._count += self.count_new(name, topics)
        self._topics[name] = merge_topics(self._topics.get(name, {}), topics)
        for topic, config in topics.items():
            self._queues.setdefault(topic, {})[name] = derive_queue_data(name, config)

    def end_name(self, name: str) -> None:
        """No route leads to the broker name.

        Clause: nameserver.registration.empty-name-ends
        """
        for topic in tuple(self._topics.get(name, ())):
            self._remove(topic, frozenset({name}))
        self._topics.pop(name, None)

    def delete(self, topic: str, names: frozenset[str] | None) -> None:
        """The topic has no queues behind these broker names, or behind any.

        Clause: nameserver.route.delete-topic
        """
        if topic in self._queues:
            self._remove(topic, names)

    def _remove(self, topic: str, names: frozenset[str] | None) -> None:
        before = self._queues[topic]
        left = delete_topic(before, names)
        for name in before:
            if name not in left:
                del self._topics[name][topic]
                self._count -= 1
        if left:
            self._queues[topic] = left
        else:
            del self._queues[topic]

    def change(self, name: str, change: Change) -> int:
        """The queues of the broker name have changed in all routes; how many topics that concerned."""
        topics = self._topics.get(name, {})
        for topic in topics:
            queues = self._queues[topic]
            queues[name] = change(queues[name])
        return len(topics)

    def queues_of(self, topic: str) -> tuple[QueueData, ...]:
        """The queues of the topic, by broker name."""
        return tuple(data for _, data in sorted(self._queues.get(topic, {}).items()))

    def find(self, topic: str, entries: Mapping[str, BrokerEntry], order: str | None) -> Route | None:
        """The route of the topic, None without one.

        Clauses: nameserver.route.not-empty, nameserver.route.registered-brokers
        """
        return derive_route(self.queues_of(topic), entries, order_configuration=order)
