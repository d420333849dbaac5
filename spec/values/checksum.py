"""The checksum of message bodies and registrations: a CRC-32 of which Apache keeps 31 bits.

The highest bit is left out so that a signed 32-bit field never shows a negative number; whoever
compares with a plain CRC-32 refuses half of all good bodies.
"""

import zlib
from typing import Final

CHECKSUM_MASK: Final = 0x7FFF_FFFF
"""What is kept of a CRC-32."""


def derive_checksum(data: bytes | bytearray | memoryview) -> int:
    """CRC-32 (IEEE) of the bytes as they are stored or sent, without the highest bit.

    Clauses: store.record.body-crc, wire.body.registration-checksum
    """
    return zlib.crc32(data) & CHECKSUM_MASK
