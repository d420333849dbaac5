"""Texts by namespace and key: Apache's KVConfigManager, on disk after every change.

The table is written whole and takes effect only when it is on disk. If the disk refuses, the old
table stays in force, though after a crash the new one may be found: its writer was told of an error
and knows neither.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from refimpl.effect import Severity
from refimpl.ports import DiskError
from refimpl.store.config_store import ConfigStore
from spec.layout.config.config_file import KV_CONFIG
from spec.layout.config.kv_config import KvConfigTable
from spec.layout.safe_write import LoadedFrom
from spec.nameserver.key_value import Namespace, delete, get, list_namespace, put
from spec.rejection import Rejection
from spec.wire.code import ResponseCode

Note: TypeAlias = Callable[[Severity, str], None]


class KeyValueTable:
    """The table of one name server."""

    def __init__(self, folder: str, config: ConfigStore, note: Note) -> None:
        self._path = f"{folder}/{KV_CONFIG.name}"
        self._config = config
        self._note = note
        self._table = self._load()

    def _load(self) -> Mapping[str, Namespace]:
        """What was saved; a damaged file is told, and with its copy damaged too the start is refused.

        Clauses: store.config.load-falls-back, store.config.unreadable-is-not-absent
        """
        loaded = self._config.load(KV_CONFIG)
        reasons = "; ".join(map(str, loaded.refusals))
        if loaded.source is LoadedFrom.NOTHING_READABLE:
            reason = (
                f"{self._path} and its saved copy cannot be read ({reasons}): repair one of them,"
                " or move both away to begin without"
            )
            raise Rejection("store.config.unreadable-is-not-absent", 0, reason)
        if loaded.source is LoadedFrom.BACKUP:
            self._note(
                Severity.WARNING, f"{self._path} is not usable, its saved copy counts: {reasons or 'missing'}"
            )
        return {} if loaded.value is None else loaded.value.config_table

    @property
    def character_count(self) -> int:
        """How many characters all namespaces, keys and values have."""
        return _count_characters(self._table)

    def put(self, namespace: str, key: str, value: str, character_limit: int) -> str | None:
        """The value is on disk and in force, or there is no room for it: then the reason."""
        table = put(self._table, namespace, key, value)
        count = _count_characters(table)
        if count > max(character_limit, self.character_count):
            return (
                f"the key-value table would have {count} characters, over {character_limit} (keyValueLimit)"
            )
        self._save(table)
        return None

    def delete(self, namespace: str, key: str) -> None:
        """The key is gone, on disk too.

        Clause: nameserver.key-value.delete-is-idempotent
        """
        # It is written even if the key is unknown: a write that failed may have left it on disk.
        self._save(delete(self._table, namespace, key))

    def get(self, namespace: str, key: str) -> tuple[ResponseCode, str | None]:
        """The value, or "not found"."""
        return get(self._table, namespace, key)

    def list_namespace(self, namespace: str) -> tuple[ResponseCode, Namespace | None]:
        """The keys and values of a namespace, sorted by key, or "not found"."""
        code, found = list_namespace(self._table, namespace)
        return code, None if found is None else dict(sorted(found.items()))

    def _save(self, table: Mapping[str, Namespace]) -> None:
        try:
            self._config.save(KV_CONFIG, KvConfigTable(table))
        except DiskError as error:
            self._note(Severity.ERROR, f"{self._path} is not written, the old table stays: {error}")
            raise
        self._table = table


def _count_characters(table: Mapping[str, Namespace]) -> int:
    return sum(
        len(namespace) + sum(len(key) + len(value) for key, value in texts.items())
        for namespace, texts in table.items()
    )
