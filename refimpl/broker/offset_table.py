"""The committed offsets of all groups: Apache's ConsumerOffsetManager, with a fence behind each reset.

Offsets are kept by `topic@group`, as the file has them. A reset that the broker itself carries out
leaves a fence: what members of that moment commit from before is refused and recorded.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from refimpl.broker.config_table import Note, load_table
from refimpl.broker.recorder import Recorder
from refimpl.store.config_store import ConfigStore
from spec.broker.offset_table import (
    Carrier,
    Commit,
    Fence,
    apply_commit,
    derive_key,
    is_key_of_group,
    is_stale,
    lift_fence,
)
from spec.history.kind import Kind
from spec.layout.config.config_file import CONSUMER_OFFSETS
from spec.layout.config.consumer_offset import SEPARATOR
from spec.values.units import QueueId, QueueOffset
from spec.wire.body.offset import ConsumerOffsetTable

KEY_LIMIT: Final = 1_000_000
"""Pairs of topic and group for which offsets are kept; a decision: a flood of made-up names must end."""


class _Place(NamedTuple):
    group: str
    topic: str
    queue_id: int


class OffsetTable:
    """Where each group goes on."""

    def __init__(self, config: ConfigStore, recorder: Recorder, note: Note) -> None:
        self._config = config
        self._recorder = recorder
        self._note = note
        self._commits: dict[str, dict[QueueId, Commit]] = {}
        self._fences: dict[_Place, Fence] = {}
        self._is_dirty = False

    def load(self) -> None:
        """What was saved is here."""
        saved = load_table(self._config, CONSUMER_OFFSETS, self._note)
        table = saved.offset_table if saved is not None else {}
        self._commits = {
            key: {queue_id: Commit(offset, Carrier.UPDATE) for queue_id, offset in offsets.items()}
            for key, offsets in table.items()
        }

    def find(self, group: str, topic: str, queue_id: int) -> QueueOffset | None:
        """The committed offset, None if there is none."""
        commit = self._commits.get(derive_key(topic, group), {}).get(QueueId(queue_id))
        return None if commit is None else commit.offset

    def answer(self, group: str, topic: str, queue_id: int, client: str) -> QueueOffset | None:
        """The committed offset for a member that goes on there: from now on its commits count.

        Clause: broker.offset.reset-fences
        """
        self._lift(_Place(group, topic, queue_id), client)
        return self.find(group, topic, queue_id)

    def commit(
        self,
        group: str,
        topic: str,
        queue_id: int,
        offset: int,
        *,
        carrier: Carrier,
        client: str,
        now_ms: int,
    ) -> bool:
        """Whether the offset was taken; one from before a reset was not, and the history says so.

        Clauses: broker.offset.commit-overwrites, broker.offset.reset-fences
        """
        place = _Place(group, topic, queue_id)
        new = Commit(QueueOffset(offset), carrier, client)
        if self._fences:
            if is_stale(self._fences.get(place), new):
                self._record(Kind.STALE, place, new, now_ms)
                return False
            self._lift(place, client)
        return self._apply(place, new, now_ms)

    def _apply(self, place: _Place, new: Commit, now_ms: int) -> bool:
        key = derive_key(place.topic, place.group)
        offsets = self._commits.get(key)
        if offsets is None:
            if len(self._commits) >= KEY_LIMIT or key.count(SEPARATOR) != 1:
                return False
            offsets = self._commits[key] = {}
        queue_id = QueueId(place.queue_id)
        offsets[queue_id] = apply_commit(offsets.get(queue_id), new)
        self._is_dirty = True
        self._record(Kind.COMMIT, place, new, now_ms)
        return True

    def reset(
        self, group: str, topic: str, queue_id: int, offset: int, *, members: Iterable[str], now_ms: int
    ) -> None:
        """The group goes on at the offset, and what its present members finished before does not count."""
        place = _Place(group, topic, queue_id)
        self._apply(place, Commit(QueueOffset(offset), Carrier.RESET), now_ms)
        unaware = frozenset(members)
        if unaware:
            self._fences[place] = Fence(QueueOffset(offset), unaware)
        else:
            self._fences.pop(place, None)

    def _lift(self, place: _Place, client: str) -> None:
        fence = lift_fence(self._fences.pop(place, None), client)
        if fence is not None:
            self._fences[place] = fence

    def _record(self, kind: Kind, place: _Place, commit: Commit, now_ms: int) -> None:
        if self._recorder.is_on:
            event = self._recorder.event(kind, now_ms)._replace(
                group=place.group,
                topic=place.topic,
                queue=place.queue_id,
                offset=commit.offset,
                client=commit.client,
                cause=commit.carrier.value,
            )
            self._recorder.add(event)

    def offsets(self, group: str, topic: str) -> Mapping[QueueId, QueueOffset]:
        """The group's offsets of the topic, sorted by queue."""
        commits = self._commits.get(derive_key(topic, group), {})
        return {queue_id: commit.offset for queue_id, commit in sorted(commits.items())}

    def topics_of(self, group: str) -> tuple[str, ...]:
        """The topics for which the group has committed anything, sorted."""
        keys = (key for key in self._commits if is_key_of_group(key, group))
        return tuple(sorted(key.partition(SEPARATOR)[0] for key in keys))

    def groups_of(self, topic: str) -> tuple[str, ...]:
        """The groups that have committed anything of the topic, sorted."""
        start = topic + SEPARATOR
        return tuple(sorted(key.removeprefix(start) for key in self._commits if key.startswith(start)))

    def remove_group(self, group: str) -> None:
        """The group has no offsets.

        Clause: broker.offset.delete-exact-group
        """
        self._remove([key for key in self._commits if is_key_of_group(key, group)])

    def remove_topic(self, topic: str) -> None:
        """Nobody has offsets of the topic, so nobody finds them if it is made again."""
        self._remove([key for key in self._commits if key.startswith(topic + SEPARATOR)])

    def _remove(self, keys: Iterable[str]) -> None:
        for key in keys:
            topic, _, group = key.partition(SEPARATOR)
            for queue_id in self._commits.pop(key):
                self._fences.pop(_Place(group, topic, queue_id), None)
            self._is_dirty = True

    def clone(self, source: str, target: str, topic: str | None, now_ms: int) -> None:
        """The target group goes on where the source group does, in one topic or in all."""
        for name in self.topics_of(source) if topic is None else (topic,):
            for queue_id, offset in self.offsets(source, name).items():
                self._apply(_Place(target, name, queue_id), Commit(offset, Carrier.RESET), now_ms)

    def table(self) -> ConsumerOffsetTable:
        """The table as it travels and as it is saved."""
        table = {
            key: {queue_id: commit.offset for queue_id, commit in sorted(commits.items())}
            for key, commits in sorted(self._commits.items())
        }
        return ConsumerOffsetTable(table)

    def persist(self) -> None:
        """What changed is on disk."""
        if self._is_dirty:
            self._config.save(CONSUMER_OFFSETS, self.table())
            self._is_dirty = False
