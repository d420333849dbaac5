"""How bytes and texts are refused.

Every decoder in this package is total: any input gives a value or raises a Rejection, and
nothing else. A Rejection is data for people and for programs: which clause was broken, at
which byte (or character) of the input, what was found and what was expected.
"""

from spec.override import override


class Rejection(ValueError):
    """Input that a clause refuses."""

    def __init__(self, clause: str, position: int, reason: str) -> None:
        """Refuse the input because of what stands at `position`."""
        super().__init__(clause, position, reason)
        self.clause = clause
        self.position = position
        self.reason = reason

    @override
    def __str__(self) -> str:
        """One line: where, what, and by which clause."""
        return f"at {self.position}: {self.reason} [{self.clause}]"

    @override
    def __eq__(self, other: object) -> bool:
        """Equal when they refuse the same thing at the same place."""
        return isinstance(other, Rejection) and self.args == other.args

    @override
    def __hash__(self) -> int:
        """By what is refused, where and why."""
        return hash(self.args)

    def shifted(self, distance: int) -> "Rejection":
        """The same refusal, seen from an input in which this one starts `distance` further on."""
        return Rejection(self.clause, self.position + distance, self.reason)
