"""The topics of one broker: Apache's TopicConfigManager.

Every change advances the version that name servers compare, and is on disk before the answer that
depends on it leaves: the broker saves at the end of the turn in which something changed.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from refimpl.broker.config_table import Note, load_table
from refimpl.broker.settings import BrokerSettings
from refimpl.store.config_store import ConfigStore
from spec.broker.topic import (
    DataVersion,
    TopicConfig,
    advance_version,
    derive_built_in_topics,
    derive_created_topic,
)
from spec.layout.config.config_file import TOPICS
from spec.values.name import AUTO_CREATE_TOPIC
from spec.wire.body.topic import TopicConfigTable

Changed: TypeAlias = Callable[[str, int], None]
"""Hears of a topic that was created or changed, and when."""

TOPIC_LIMIT: Final = 100_000
"""Topics that sends may create; a decision: every one costs memory here and in each name server."""


class TopicTable:
    """Topics by name."""

    def __init__(self, settings: BrokerSettings, config: ConfigStore, note: Note) -> None:
        self._settings = settings
        self._config = config
        self._note = note
        self._topics: dict[str, TopicConfig] = {}
        self._is_dirty = False
        self.version = DataVersion()
        self.on_change: list[Changed] = []

    def load(self, now_ms: int) -> None:
        """What was saved is here, and so are the built-in topics."""
        saved = load_table(self._config, TOPICS, self._note)
        if saved is not None:
            self._topics = dict(saved.topic_config_table)
            self.version = saved.data_version
        settings = self._settings
        for topic in derive_built_in_topics(
            settings.cluster,
            settings.name,
            is_auto_create_enabled=settings.is_topic_auto_created,
            template_queue_count=settings.topic_queue_count,
            level_count=len(settings.store.delays_ms),
        ):
            self.ensure(topic, now_ms)

    def find(self, topic: str) -> TopicConfig | None:
        """The topic, if there is one."""
        return self._topics.get(topic)

    def all(self) -> Mapping[str, TopicConfig]:
        """Every topic, sorted by name."""
        return dict(sorted(self._topics.items()))

    def create_on_send(
        self, topic: str, default_topic: str, asked_queue_count: int, now_ms: int
    ) -> TopicConfig | None:
        """The topic, made by the pattern of the default topic if it was missing and may be made.

        Clause: broker.topic.auto-create
        """
        known = self._topics.get(topic)
        if known is not None or len(self._topics) >= TOPIC_LIMIT:
            return known
        is_closed = default_topic == AUTO_CREATE_TOPIC and not self._settings.is_topic_auto_created
        template = None if is_closed else self._topics.get(default_topic)
        created = derive_created_topic(topic, template, asked_queue_count)
        if created is not None:
            self.put(created, now_ms)
        return created

    def ensure(self, topic: TopicConfig, now_ms: int) -> TopicConfig:
        """The topic of this name, which is the given one if there was none."""
        known = self._topics.get(topic.name)
        if known is None:
            self.put(topic, now_ms)
        return known or topic

    def put(self, topic: TopicConfig, now_ms: int) -> None:
        """The topic is as given, and everybody who wants to know has heard of it.

        Clause: broker.topic.version-advances
        """
        self._topics[topic.name] = topic
        self.advance(now_ms)
        for changed in self.on_change:
            changed(topic.name, now_ms)

    def remove(self, topic: str, now_ms: int) -> bool:
        """Whether there was such a topic; there is none now."""
        if self._topics.pop(topic, None) is None:
            return False
        self.advance(now_ms)
        return True

    def advance(self, now_ms: int) -> None:
        """The table counts as changed: whoever compares versions looks at it again."""
        self.version = advance_version(self.version, now_ms)
        self._is_dirty = True

    def table(self) -> TopicConfigTable:
        """The table as it travels and as it is saved."""
        return TopicConfigTable(self.all(), self.version)

    def persist(self) -> None:
        """What changed is on disk."""
        if self._is_dirty:
            self._config.save(TOPICS, self.table())
            self._is_dirty = False
