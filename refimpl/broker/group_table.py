"""The consumer groups that a broker knows, and their settings: Apache's SubscriptionGroupManager."""

from collections.abc import Mapping
from typing import Final

from refimpl.broker.config_table import Note, load_table
from refimpl.broker.settings import BrokerSettings
from refimpl.store.config_store import ConfigStore
from spec.broker.subscription_group import BUILT_IN_GROUPS, GroupConfig, derive_created_group
from spec.broker.topic import DataVersion, advance_version
from spec.layout.config.config_file import SUBSCRIPTION_GROUPS
from spec.values.name import is_group_legal
from spec.wire.body.group import GroupConfigTable

GROUP_LIMIT: Final = 100_000
"""Groups that first uses may create; a decision, as for topics."""


class GroupTable:
    """Group settings by name."""

    def __init__(self, settings: BrokerSettings, config: ConfigStore, note: Note) -> None:
        self._settings = settings
        self._config = config
        self._note = note
        self._groups: dict[str, GroupConfig] = {}
        self._is_dirty = False
        self._is_urgent = False
        self.version = DataVersion()

    def load(self, now_ms: int) -> None:
        """What was saved is here, and so are the built-in groups.

        Clause: broker.group.built-in
        """
        saved = load_table(self._config, SUBSCRIPTION_GROUPS, self._note)
        if saved is not None:
            self._groups = dict(saved.subscription_group_table)
            self.version = saved.data_version
        for name in BUILT_IN_GROUPS:
            if name not in self._groups:
                self.put(GroupConfig(name), now_ms)

    def known(self, name: str) -> GroupConfig | None:
        """The group, if there is one."""
        return self._groups.get(name)

    def find(self, name: str, now_ms: int) -> GroupConfig | None:
        """The group, made by its first use if that is allowed.

        Clause: broker.group.auto-create
        """
        known = self._groups.get(name)
        if known is not None or len(self._groups) >= GROUP_LIMIT or not is_group_legal(name):
            return known
        created = derive_created_group(name, is_auto_create_enabled=self._settings.is_group_auto_created)
        if created is not None:
            self._groups[name] = created
            self._touch(now_ms)
        return created

    def put(self, group: GroupConfig, now_ms: int) -> None:
        """The group is as given."""
        self._groups[group.name] = group
        self._touch(now_ms)
        self._is_urgent = True

    def remove(self, name: str, now_ms: int) -> bool:
        """Whether there was such a group; there is none now."""
        if self._groups.pop(name, None) is None:
            return False
        self._touch(now_ms)
        self._is_urgent = True
        return True

    def _touch(self, now_ms: int) -> None:
        self.version = advance_version(self.version, now_ms)
        self._is_dirty = True

    def all(self) -> Mapping[str, GroupConfig]:
        """Every group, sorted by name."""
        return dict(sorted(self._groups.items()))

    def table(self) -> GroupConfigTable:
        """The table as it travels and as it is saved."""
        return GroupConfigTable(self.all(), self.version)

    def persist_urgent(self) -> None:
        """What somebody decided is on disk; a group that its first use made can wait, or be made again."""
        if self._is_urgent:
            self.persist()

    def persist(self) -> None:
        """What changed is on disk."""
        if self._is_dirty:
            self._config.save(SUBSCRIPTION_GROUPS, self.table())
            self._is_dirty = self._is_urgent = False
