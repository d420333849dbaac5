"""The system flag: what producer and broker say about a message, in the bits of one integer.

User code has a flag of its own. This one is the protocol's: whether the body is compressed and
how, which part of a transaction the message is, and how long the two hosts of its record are.
A wrong host bit makes everything behind the host unreadable, so the bits belong to the layout.
"""

from enum import IntEnum
from typing import Final

COMPRESSED: Final = 0x01
MULTI_TAG: Final = 0x02
TRANSACTION_MASK: Final = 0x0C
BORN_HOST_IPV6: Final = 0x10
STORE_HOST_IPV6: Final = 0x20
NEED_UNWRAP: Final = 0x40
"""Written by 5.x only."""
INNER_BATCH: Final = 0x80
"""Written by 5.x only."""
COMPRESSION_MASK: Final = 0x700
"""Written since 4.9.4; clear before, where zlib is the only method."""


class TransactionType(IntEnum):
    """Which part of a transaction a message is: the value is the bits."""

    NONE = 0x00
    PREPARED = 0x04
    COMMIT = 0x08
    ROLLBACK = 0x0C


_TRANSACTION_TYPES: Final = {int(kind): kind for kind in TransactionType}
_WITH_QUEUE_ENTRY: Final = (int(TransactionType.NONE), int(TransactionType.COMMIT))


class CompressionType(IntEnum):
    """How a compressed body was compressed: the value is the bits as 4.9.4 and later write them."""

    LZ4 = 0x100
    ZSTD = 0x200
    ZLIB = 0x300


def transaction_type(system_flag: int) -> TransactionType:
    """The part of a transaction that bits 2 and 3 name; all four patterns have a meaning.

    Clause: store.flag.transaction-bits
    """
    return _TRANSACTION_TYPES[system_flag & TRANSACTION_MASK]


def with_transaction_type(system_flag: int, kind: TransactionType) -> int:
    """The flag with the transaction bits replaced and every other bit as it was.

    A half message gets none, a final one commit.

    Clauses: store.flag.transaction-bits, broker.transaction.half-is-hidden, broker.transaction.final-message
    """
    return system_flag & ~TRANSACTION_MASK | kind


def has_queue_entry(system_flag: int) -> bool:
    """Whether a message gets a consume-queue unit and advances its queue: not if prepared or rolled back.

    Clause: store.queue.transaction-halves-have-no-unit
    """
    return system_flag & TRANSACTION_MASK in _WITH_QUEUE_ENTRY


def is_compressed(system_flag: int) -> bool:
    """Whether the stored body is compressed."""
    return system_flag & COMPRESSED != 0


def compression_type(system_flag: int) -> CompressionType | None:
    """The method of a compressed body; None for a bit pattern that no version defines.

    A clear field means zlib, because 4.9.3 and earlier know nothing else and leave it clear.

    Clause: store.flag.compression-bits
    """
    bits = system_flag & COMPRESSION_MASK
    if bits == 0:
        return CompressionType.ZLIB
    return next((kind for kind in CompressionType if kind == bits), None)


def with_host_bits(system_flag: int, *, born_ipv6: bool, store_ipv6: bool) -> int:
    """The flag with both host bits saying how long the hosts are.

    Clause: store.flag.host-bits
    """
    cleared = system_flag & ~(BORN_HOST_IPV6 | STORE_HOST_IPV6)
    return cleared | (BORN_HOST_IPV6 if born_ipv6 else 0) | (STORE_HOST_IPV6 if store_ipv6 else 0)
