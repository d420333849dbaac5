"""Whether a message is likely still in memory: an estimate from its distance to the log's end.

The broker does not ask the kernel. A message counts as "on disk" when the bytes written after
it exceed a share of the machine's memory. Two unrelated answers depend on it: how large one
pull may be, and whether a new group on a young queue starts at 0. The amount of memory is a
parameter here, so that the same input gives the same answer on every machine.
"""

from typing import Final

MEMORY_SHARE_PERCENT: Final = 40
"""Apache's `accessMessageInMemoryMaxRatio`. Its 30 % for slaves never takes effect."""


def is_on_disk(
    log_end: int, position: int, memory_bytes: int, share_percent: int = MEMORY_SHARE_PERCENT
) -> bool:
    """Whether more than the share of memory was written since the byte at `position`.

    Clause: broker.pull.on-disk-estimate
    """
    return log_end - position > memory_bytes * share_percent // 100
