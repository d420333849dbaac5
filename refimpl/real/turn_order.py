"""Who is next: connections with something to take, in an order in which nobody waits for long.

Those that were left out of a full turn come first, then those whose bytes came, then those that
had their turn and have more. So a peer with much to say is heard once a round, like any other.
"""

from refimpl.real.connection import Connection


class TurnOrder:
    """The connections of one node that take part in its next turn."""

    def __init__(self) -> None:
        self._next: dict[Connection, None] = {}
        self._again: dict[Connection, None] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nobody has anything to take."""
        return not self._next and not self._again

    def add(self, connection: Connection) -> None:
        """It takes part; one that has more already stays behind the others."""
        if connection not in self._again:
            self._next[connection] = None

    def add_again(self, connection: Connection) -> None:
        """It had its turn and takes part again."""
        self._again[connection] = None

    def forget(self, connection: Connection) -> None:
        """It takes no part."""
        self._next.pop(connection, None)
        self._again.pop(connection, None)

    def take(self) -> list[Connection]:
        """All of them, in their order; the next turn has none yet."""
        order = [*self._next, *self._again]
        self._next.clear()
        self._again.clear()
        return order
