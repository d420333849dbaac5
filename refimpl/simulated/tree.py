"""The names of a simulated disk: finding them, changing them, making the changes durable."""

from refimpl.ports import DiskError, DiskReason
from refimpl.simulated.medium import Medium
from refimpl.simulated.names import NameChange, Place, apply_change, select_reached
from refimpl.simulated.node import FileNode, Folder, Node
from refimpl.simulated.sectors import Sectors

NAME_BYTES_LIMIT = 255
"""NAME_MAX of Linux."""


class Tree:
    """All that lies below the root, and the changes of names that no sync has reached."""

    def __init__(self, medium: Medium, *, keeps_order: bool) -> None:
        self.keeps_order = keeps_order
        self.changes: list[NameChange] = []
        self._medium = medium

    def look_up(self, names: tuple[str, ...], path: str) -> Node | None:
        """What has this path, if anything."""
        node: Node = self._medium.root
        for name in names:
            inner = node.visible.get(_checked(name, path)) if isinstance(node, Folder) else None
            if inner is None:
                return None
            node = inner
        return node

    def find(self, names: tuple[str, ...], path: str) -> Node:
        """What has this path; refuses a path that leads nowhere."""
        if not names:
            return self._medium.root
        place = self.find_place(names, path)
        if (node := place.folder.visible.get(_checked(place.name, path))) is None:
            raise DiskError(DiskReason.MISSING, path)
        return node

    def find_place(self, names: tuple[str, ...], path: str) -> Place:
        """The name in its folder, whether anything has it or not; refuses a folder that is not there."""
        folder = self._medium.root
        for name in names[:-1]:
            if (inner := folder.visible.get(_checked(name, path))) is None:
                raise DiskError(DiskReason.MISSING, path)
            folder = _as_folder(inner, path)
        return Place(folder, names[-1])

    def find_file(self, names: tuple[str, ...], path: str) -> FileNode:
        """The file of this path; refuses a folder."""
        node = self.find(names, path)
        if isinstance(node, Folder):
            raise DiskError(DiskReason.BROKEN, path, "it is a folder")
        return node

    def make_place(self, names: tuple[str, ...], path: str) -> Place:
        """The name in its folder, which is made if it is not there."""
        folder = self._medium.root
        for name in names[:-1]:
            inner = folder.visible.get(_checked(name, path))
            if inner is None:
                number, now = self._medium.next_serial(), self._medium.now_ms()
                inner = Folder(number, folder.path_of(name), now)
                self.change(inner, added=Place(folder, name))
            folder = _as_folder(inner, path)
        return Place(folder, _checked(names[-1], path))

    def make_file(self, place: Place) -> FileNode:
        """A new and empty file has the name."""
        number, now = self._medium.next_serial(), self._medium.now_ms()
        node = FileNode(number, str(place), Sectors(), 0, now)
        self.change(node, added=place)
        return node

    def change(self, node: Node, *, removed: Place | None = None, added: Place | None = None) -> None:
        """The node has the added name and not the removed one, for readers."""
        serial = self._medium.next_serial()
        change = NameChange(serial, serial, node, removed, added)
        apply_change(change, {place.folder.number: place.folder.visible for place in change.places})
        for place in change.places:
            place.folder.modified_ms = self._medium.now_ms()
        if added:
            node.path = str(added)
        self.changes.append(change)

    def sync(self, names: tuple[str, ...], path: str) -> None:
        """The names in the folder and in those that lead to it are durable."""
        way = [_as_folder(self.find(names[:depth], path), path) for depth in range(len(names) + 1)]
        self._medium.check_failure("sync", path)
        self._medium.syncs_count += 1
        if self._medium.is_sync_ignored:
            return
        numbers = frozenset(folder.number for folder in way)
        reached = select_reached(self.changes, numbers, keeps_order=self.keeps_order)
        for change in reached:
            apply_change(change, {place.folder.number: place.folder.durable for place in change.places})
        done = {change.serial for change in reached}
        self.changes = [change for change in self.changes if change.serial not in done]


def _as_folder(node: Node, path: str) -> Folder:
    if isinstance(node, FileNode):
        raise DiskError(DiskReason.BROKEN, path, f"{node.path} is no folder")
    return node


def _checked(name: str, path: str) -> str:
    if len(name.encode()) > NAME_BYTES_LIMIT:
        raise DiskError(DiskReason.BROKEN, path, "a name is too long")
    return name
