"""What a crash leaves: everything durable, and whichever pending changes were chosen."""

from collections.abc import Sequence
from random import Random
from typing import TypeAlias

from refimpl.simulated.names import NameChange, apply_change
from refimpl.simulated.node import FileChange, FileNode, Folder, Node

Pending: TypeAlias = FileChange | NameChange
"""A change that a crash may keep or lose."""


def collect_pending(root: Folder, name_changes: Sequence[NameChange]) -> tuple[Pending, ...]:
    """Every change that no sync has reached, in the order in which they were made."""
    files: dict[int, FileNode] = {}
    waiting: list[Node] = [root, *(change.node for change in name_changes)]
    waiting += [place.folder for change in name_changes for place in change.places]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if node.number in seen:
            continue
        seen.add(node.number)
        if isinstance(node, FileNode):
            files[node.number] = node
        else:
            waiting += [*node.visible.values(), *node.durable.values()]
    changes: list[Pending] = [change for file in files.values() for change in file.pending]
    return tuple(sorted([*changes, *name_changes], key=lambda change: change.serial))


def derive_survivor(
    root: Folder, name_changes: Sequence[NameChange], kept: frozenset[int], sector_size: int
) -> Folder:
    """A new tree: the durable names with these changes, and their files with the kept serials."""
    names: dict[int, dict[str, Node]] = {}
    for change in name_changes:
        for place in change.places:
            names.setdefault(place.folder.number, dict(place.folder.durable))
        apply_change(change, names)

    def rebuild(folder: Folder, path: str) -> Folder:
        survivor = Folder(folder.number, path, folder.modified_ms)
        for name, node in sorted(names.get(folder.number, folder.durable).items()):
            inner = survivor.path_of(name)
            survivor.durable[name] = (
                rebuild(node, inner) if isinstance(node, Folder) else node.survive(inner, kept, sector_size)
            )
        survivor.visible = dict(survivor.durable)
        return survivor

    return rebuild(root, root.path)


def choose_randomly(random: Random, pending: Sequence[Pending]) -> tuple[int, ...]:
    """The indices that a crash keeps: none, all, each by chance, or all up to the middle of one call."""
    everything = range(len(pending))
    match random.choice(("none", "all", "each", "torn")) if pending else "none":
        case "none":
            return ()
        case "all":
            return tuple(everything)
        case "each":
            share = random.random()
            return tuple(index for index in everything if random.random() < share)
        case _:
            torn = random.choice(sorted({change.call for change in pending}))
            return tuple(
                index
                for index, change in enumerate(pending)
                if change.call < torn or (change.call == torn and random.getrandbits(1))
            )
