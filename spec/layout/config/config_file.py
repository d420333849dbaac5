"""A configuration file: its name, the table in it, and how the table is spelled.

Apache writes fastjson's dialect, in which integer and object keys stand without quotes, pretty
printed with tabs (the name server's file is compact). It reads standard JSON as well, so the
reference writes standard JSON, which every tool reads, and accepts both. How a file is replaced
is said in `spec.layout.safe_write`; the tables are the bodies of the admin requests of the same
meaning, and are defined with them.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final, Generic, TypeVar

from spec.layout.config.consumer_filter import ConsumerFilterTable
from spec.layout.config.kv_config import KvConfigTable
from spec.layout.config.local_offset import LocalOffsetTable
from spec.layout.safe_write import Loaded, choose_loaded
from spec.wire.body.group import GroupConfigTable
from spec.wire.body.offset import ConsumerOffsetTable, DelayOffsetTable
from spec.wire.body.record import JsonRecord
from spec.wire.body.topic import TopicConfigTable

TableT = TypeVar("TableT", bound=JsonRecord)


class Persistence(Enum):
    """When Apache writes a file; a clean stop writes every file of a broker."""

    EVERY_CHANGE = "at every change"
    EVERY_5_S = "every 5 s, first after 10 s"
    EVERY_10_S = "every 10 s, first after 10 s"


@dataclass(frozen=True, slots=True)
class ConfigFile(Generic[TableT]):
    """One kind of file."""

    name: str
    table: type[TableT]
    persistence: Persistence
    is_pretty: bool = True

    def decode(self, data: bytes) -> TableT:
        """The table in the file, from standard JSON or from the dialect.

        Clause: store.config.both-spellings
        """
        return self.table.decode(data)

    def encode(self, table: TableT, *, is_dialect: bool = False) -> bytes:
        """The file's content; in Apache's own spelling when asked.

        Clause: store.config.both-spellings
        """
        return table.encode(is_dialect=is_dialect, is_pretty=self.is_pretty)

    def respell(self, data: bytes, *, is_dialect: bool) -> bytes:
        """The same table in the other spelling.

        Clause: store.config.both-spellings
        """
        return self.encode(self.decode(data), is_dialect=is_dialect)

    def load(self, main: bytes | None, backup: bytes | None) -> Loaded[TableT]:
        """The table that counts, of the file and its saved copy.

        Clause: store.config.load-falls-back
        """
        return choose_loaded(main, backup, self.decode)


TOPICS: Final = ConfigFile("topics.json", TopicConfigTable, Persistence.EVERY_CHANGE)
CONSUMER_OFFSETS: Final = ConfigFile("consumerOffset.json", ConsumerOffsetTable, Persistence.EVERY_5_S)
SUBSCRIPTION_GROUPS: Final = ConfigFile("subscriptionGroup.json", GroupConfigTable, Persistence.EVERY_CHANGE)
DELAY_OFFSETS: Final = ConfigFile("delayOffset.json", DelayOffsetTable, Persistence.EVERY_10_S)
CONSUMER_FILTERS: Final = ConfigFile("consumerFilter.json", ConsumerFilterTable, Persistence.EVERY_10_S)
LOCAL_OFFSETS: Final = ConfigFile("offsets.json", LocalOffsetTable, Persistence.EVERY_5_S)
"""Of a broadcasting client: in a folder per client id and group."""
KV_CONFIG: Final = ConfigFile("kvConfig.json", KvConfigTable, Persistence.EVERY_CHANGE, is_pretty=False)
"""Of a name server."""
