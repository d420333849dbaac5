"""The ranges of Java's integers: what fits is exactly what survives being cut to the width."""

from spec.values.java_literal import is_int32, is_int64


def _cut(number: int, bits: int) -> int:
    """The number that remains of the low bits, read as two's complement."""
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half


def int32_holds_what_survives_the_cut(number: int) -> bool:
    """A number fits 32 bits if and only if cutting it to 32 bits leaves it as it is.

    clause: wire.header-fields.integer-range
    pre: -(1 << 40) <= number <= 1 << 40
    post: __return__
    """
    return is_int32(number) == (_cut(number, 32) == number)


def int64_holds_what_survives_the_cut(number: int) -> bool:
    """A number fits 64 bits if and only if cutting it to 64 bits leaves it as it is.

    clause: wire.header-fields.integer-range
    pre: -(1 << 70) <= number <= 1 << 70
    post: __return__
    """
    return is_int64(number) == (_cut(number, 64) == number)


def int32_is_part_of_int64(number: int) -> bool:
    """What fits 32 bits fits 64.

    clause: wire.header-fields.integer-range
    pre: -(1 << 70) <= number <= 1 << 70
    post: __return__
    """
    return is_int64(number) or not is_int32(number)
