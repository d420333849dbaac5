"""Changes of names that no folder sync has reached, and which of them a crash may keep.

A change adds a name, removes one, or does both at once (a rename, also from one folder to another:
it is never half done). File systems order such changes among themselves more or less strictly; what
is allowed here is the most that still makes sense:

- On every single name, the kept changes are a prefix of those that were made: a file that was not
  created cannot have been renamed. Changes of different names are independent of each other.
- A change in a folder is kept only if the folder's own creation is: a file that was moved into a new
  folder is in the old one or in the new one, never in neither.
- A folder's removal is kept only together with everything that emptied it.

With `keeps_order`, the changes of each *folder* are kept as a prefix, as a journal would keep them.
A sync of a folder reaches all changes in it and whatever these need by the same three rules.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from refimpl.simulated.node import Folder, Node
from spec.override import override


class Place(NamedTuple):
    """A name in a folder."""

    folder: Folder
    name: str

    @override
    def __str__(self) -> str:
        return self.folder.path_of(self.name)


Key: TypeAlias = tuple[int, str]
"""The folder's number and the name; no name stands for the whole folder."""


@dataclass(frozen=True, slots=True, repr=False)
class NameChange:
    """A node was taken from a place, put to another, or both."""

    serial: int
    call: int
    node: Node
    removed: Place | None = None
    added: Place | None = None

    @property
    def places(self) -> tuple[Place, ...]:
        """The names that are concerned."""
        return tuple(place for place in (self.removed, self.added) if place is not None)

    @property
    def folders(self) -> set[int]:
        """The folders, by number, in which a name is concerned."""
        return {place.folder.number for place in self.places}

    @property
    def emptied(self) -> int | None:
        """The folder that must have been empty before."""
        return self.node.number if self.added is None and isinstance(self.node, Folder) else None

    def keys(self, *, keeps_order: bool) -> set[Key]:
        """Where the order of changes matters."""
        return {(place.folder.number, "" if keeps_order else place.name) for place in self.places}

    @override
    def __repr__(self) -> str:
        kind = "folder " if isinstance(self.node, Folder) else ""
        if self.removed and self.added:
            return f"<rename {kind}{self.removed} to {self.added}>"
        return f"<{'create' if self.added else 'remove'} {kind}{self.places[0]}>"


def select_possible(
    changes: Iterable[NameChange], kept: frozenset[int], *, keeps_order: bool
) -> list[NameChange]:
    """Those with the kept serials, without the ones that need something that is not kept."""
    selected: list[NameChange] = []
    dropped: set[Key] = set()
    never_made: set[int] = set()
    for change in changes:
        keys = change.keys(keeps_order=keeps_order)
        is_possible = (
            dropped.isdisjoint(keys)
            and never_made.isdisjoint(change.folders)
            and all(folder != change.emptied for folder, _ in dropped)
        )
        if is_possible and change.serial in kept:
            selected.append(change)
            continue
        dropped |= keys
        if change.removed is None:
            never_made.add(change.node.number)
    return selected


def select_reached(
    changes: Sequence[NameChange], folders: frozenset[int], *, keeps_order: bool
) -> list[NameChange]:
    """Those that a sync of these folders makes durable."""
    selected: list[NameChange] = []
    needed: set[Key] = set()
    needed_nodes: set[int] = set()
    reached_folders = set(folders)
    for change in reversed(changes):
        keys = change.keys(keeps_order=keeps_order)
        is_needed = not needed.isdisjoint(keys) or change.node.number in needed_nodes
        if is_needed or not reached_folders.isdisjoint(change.folders):
            selected.append(change)
            needed |= keys
            needed_nodes |= change.folders
            if change.emptied is not None:
                reached_folders.add(change.emptied)
    return selected[::-1]


def apply_change(change: NameChange, names: dict[int, dict[str, Node]]) -> None:
    """The names of the folders, by number, are those after the change."""
    if change.removed:
        names[change.removed.folder.number].pop(change.removed.name, None)
    if change.added:
        names[change.added.folder.number][change.added.name] = change.node
