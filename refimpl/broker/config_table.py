"""How a broker's table comes back from its file: whole, from its saved copy, or not at all.

A broker does not start over tables that are there and cannot be read: without its offsets every
group would begin anew. Whoever runs it decides, by moving the files away.
"""

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from refimpl.effect import Severity
from refimpl.store.config_store import ConfigStore
from spec.layout.config.config_file import ConfigFile
from spec.layout.safe_write import LoadedFrom
from spec.rejection import Rejection
from spec.wire.body.record import JsonRecord

TableT = TypeVar("TableT", bound=JsonRecord)

Note: TypeAlias = Callable[[Severity, str], None]
"""Tells whoever runs the process."""


def load_table(config: ConfigStore, file: ConfigFile[TableT], note: Note) -> TableT | None:
    """The table in the file, None at a first start; a damaged file is told, two of them are refused.

    Clauses: store.config.load-falls-back, store.config.unreadable-is-not-absent
    """
    loaded = config.load(file)
    reasons = "; ".join(map(str, loaded.refusals))
    if loaded.source is LoadedFrom.NOTHING_READABLE:
        reason = (
            f"config/{file.name} and its saved copy cannot be read ({reasons}): repair one of them,"
            " or move both away to begin without"
        )
        raise Rejection("store.config.unreadable-is-not-absent", 0, reason)
    if loaded.source is LoadedFrom.BACKUP:
        note(
            Severity.WARNING,
            f"config/{file.name} is not usable, its saved copy counts: {reasons or 'missing'}",
        )
    return loaded.value
