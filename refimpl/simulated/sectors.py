"""The written sectors of a file: what was never written is not there and reads as zeros.

A file of 1 GiB with one message in it costs one sector. A snapshot costs nothing until one of the
two sides is written to: crash images of one disk share all that they have in common.
"""


class Sectors:
    """Sector numbers and their contents, copied only when a shared one is changed."""

    __slots__ = ("_contents", "_is_shared")

    def __init__(self, contents: dict[int, bytes] | None = None) -> None:
        self._contents = {} if contents is None else contents
        self._is_shared = contents is not None

    def snapshot(self) -> "Sectors":
        """The same contents, to be changed independently."""
        self._is_shared = True
        return Sectors(self._contents)

    def get(self, number: int) -> bytes | None:
        """The sector's content, or nothing if it is a hole."""
        return self._contents.get(number)

    def put(self, number: int, content: bytes | None) -> None:
        """The sector has this content; none makes it a hole."""
        if self._is_shared:
            self._contents = dict(self._contents)
            self._is_shared = False
        if content is None:
            self._contents.pop(number, None)
        else:
            self._contents[number] = content

    def numbers_from(self, first: int) -> list[int]:
        """The sectors that are no holes, from `first` on, in order."""
        return sorted(number for number in self._contents if number >= first)

    def cut(self, size: int, sector_size: int) -> None:
        """Everything from byte `size` on is zero."""
        last, inside = divmod(size, sector_size)
        for number in self.numbers_from(last + (inside > 0)):
            self.put(number, None)
        if inside and (content := self.get(last)):
            self.put(last, content[:inside].ljust(sector_size, b"\0"))

    def __contains__(self, number: int) -> bool:
        return number in self._contents

    def __len__(self) -> int:
        return len(self._contents)
