"""Sets of offsets that cost what their gaps cost.

Offsets are settled nearly in order, so a set of a million of them is usually one interval. Kept
as disjoint intervals in rising order, never touching each other.
"""

from bisect import bisect_right


class OffsetSet:
    """A set of whole numbers as disjoint half-open intervals."""

    __slots__ = ("_ends", "_starts")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def __contains__(self, offset: int) -> bool:
        place = bisect_right(self._starts, offset) - 1
        return place >= 0 and offset < self._ends[place]

    def __bool__(self) -> bool:
        return bool(self._starts)

    def add(self, offset: int) -> None:
        """The offset is in the set."""
        if self._ends and self._ends[-1] == offset:
            self._ends[-1] = offset + 1
        else:
            self.add_range(offset, offset + 1)

    def add_range(self, start: int, end: int) -> None:
        """Every offset in [start, end) is in the set."""
        if start >= end:
            return
        first = bisect_right(self._starts, start)
        if first and self._ends[first - 1] >= start:
            first -= 1
            start = self._starts[first]
        last = bisect_right(self._starts, end)
        if last > first:
            end = max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]

    def cut(self, end: int) -> None:
        """No offset at or above `end` is in the set any more."""
        while self._starts and self._starts[-1] >= end:
            self._starts.pop()
            self._ends.pop()
        if self._ends and self._ends[-1] > end:
            self._ends[-1] = end

    def coarsen(self, limit: int) -> None:
        """The set has at most `limit` intervals; its lowest gaps are filled if it had more."""
        surplus = len(self._starts) - limit
        if surplus > 0:
            del self._starts[1 : surplus + 1]
            del self._ends[:surplus]

    def lowest_missing(self, start: int) -> int:
        """The lowest offset at or above `start` that is not in the set."""
        place = bisect_right(self._starts, start) - 1
        return max(start, self._ends[place]) if place >= 0 else start

    def intervals(self) -> list[tuple[int, int]]:
        """The half-open intervals, in rising order."""
        return list(zip(self._starts, self._ends, strict=True))
