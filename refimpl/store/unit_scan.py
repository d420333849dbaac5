"""How many units of a queue's file are written, found without looking at them one by one.

Recovery reads every unit of every queue; the rule is `spec.layout.consume_queue.is_written`: a
position that is not negative and a size above zero. Taken byte by byte over all units at once,
that is arithmetic on very long integers, which costs a hundredth of a loop.
"""

from typing import Final

from spec.layout.consume_queue import UNIT_SIZE

_SIZE_AT: Final = 8
_SIZE_LENGTH: Final = 4
_TO_ONE: Final = bytes([1] * 128) + bytes(128)
"""A byte with the highest bit, that of a negative number, becomes zero, every other one becomes one."""


def count_written(data: bytes) -> int:
    """The number of written units at the start of a file, up to the first that is not.

    Clause: store.queue.written-unit
    """
    count = len(data) // UNIT_SIZE
    data = data[: count * UNIT_SIZE]
    size_bytes = [data[_SIZE_AT + number :: UNIT_SIZE] for number in range(_SIZE_LENGTH)]
    highest = size_bytes[0].translate(_TO_ONE)
    any_bit = 0
    for column in size_bytes:
        any_bit |= int.from_bytes(column, "big")
    columns = (data[0::UNIT_SIZE].translate(_TO_ONE), highest, any_bit.to_bytes(count, "big"))
    places = [place for column in columns if (place := column.find(0)) >= 0]
    return min(places, default=count)
