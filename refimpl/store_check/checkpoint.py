"""The checkpoint: whether it claims more than the log holds.

The time of the log is written after the log was forced to disk, so a time behind the last record
means that records are gone which nobody could lose. The other two times may run ahead of the log
in a power cut; after a clean stop they may not.
"""

from refimpl.store_check.finding import Severity
from refimpl.store_check.shape import Listing
from refimpl.store_check.situation import Situation
from spec.layout.checkpoint import CHECKPOINT_SIZE, Checkpoint, decode_checkpoint
from spec.layout.directory import CHECKPOINT_FILE
from spec.rejection import Rejection

_LAYOUT = "store.checkpoint.layout"
_FIELD_SIZE = 8


def read_checkpoint(situation: Situation, listing: Listing) -> Checkpoint:
    """The three times, all zero if they cannot be read; what is wrong with the file is known.

    It is read before the log: a broker that runs meanwhile moves it on.

    Clause: store.checkpoint.layout
    """
    if not listing.has(CHECKPOINT_FILE):
        reason = "there is no checkpoint: recovery reads the log from its beginning"
        situation.add(Severity.WARNING, CHECKPOINT_FILE, 0, _LAYOUT, reason)
        return Checkpoint()
    data = situation.source.read(CHECKPOINT_FILE, 0, CHECKPOINT_SIZE + 1)
    size = next(entry.size for entry in listing.root if entry.name == CHECKPOINT_FILE)
    if size != CHECKPOINT_SIZE:
        reason = f"the file has {size} bytes, {CHECKPOINT_SIZE} are expected"
        situation.add(Severity.ERROR, CHECKPOINT_FILE, min(size, CHECKPOINT_SIZE), _LAYOUT, reason)
    try:
        checkpoint = decode_checkpoint(data)
    except Rejection:
        return Checkpoint()
    for number, time_ms in enumerate(checkpoint):
        if time_ms < 0:
            reason = f"the time is {time_ms}"
            situation.add(Severity.ERROR, CHECKPOINT_FILE, number * _FIELD_SIZE, _LAYOUT, reason)
    return checkpoint


def check_times(situation: Situation, checkpoint: Checkpoint, last_stored_at_ms: int) -> None:
    """No time lies behind the last store time in the log.

    Clause: store.checkpoint.safe-time
    """
    severities = (Severity.ERROR, situation.healed, situation.healed)
    names = ("log", "queues", "index")
    for number, (time_ms, severity, name) in enumerate(zip(checkpoint, severities, names, strict=True)):
        if time_ms > last_stored_at_ms:
            reason = f"the time of the {name} is {time_ms}, the last record was stored at {last_stored_at_ms}"
            clause = "store.checkpoint.safe-time"
            situation.add(severity, CHECKPOINT_FILE, number * _FIELD_SIZE, clause, reason)
