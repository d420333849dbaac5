"""Hex digits as people paste them: spaces, newlines, colons and `0x` between them do not count."""

import re
from typing import Final

_SEPARATORS: Final = b" \t\r\n\v\f:,_-"
_PREFIX: Final = re.compile(rb"0[xX]")
_STRANGE: Final = re.compile(rb"0[xX]|([^0-9a-fA-F \t\r\n\v\f:,_-])")


class HexError(ValueError):
    """Text that is not hex, with what is wrong with it and where."""


class HexText:
    """Turns hex text into bytes, block by block, so that its size does not matter."""

    __slots__ = ("_digit", "_seen", "_zero", "digits")

    def __init__(self) -> None:
        self._zero = b""
        """A last `0` that may yet turn out to open a `0x`."""
        self._digit = b""
        self._seen = 0
        self.digits = 0
        """How many hex digits there were."""

    def feed(self, block: bytes, *, is_last: bool = False) -> bytes:
        """The bytes that are whole with this block."""
        text = self._zero + block
        self._zero = b"0" if text.endswith(b"0") and not is_last else b""
        text = text.removesuffix(b"0") if self._zero else text
        digits = _PREFIX.sub(b"", text).translate(None, _SEPARATORS)
        self.digits += len(digits)
        digits = self._digit + digits
        self._digit = digits[-1:] if len(digits) % 2 else b""
        try:
            found = bytes.fromhex(digits[: len(digits) - len(self._digit)].decode("latin-1"))
            int(self._digit or b"0", 16)
        except ValueError:
            raise HexError(self._explain(text)) from None
        self._seen += len(text)
        if is_last and self._digit:
            raise HexError(f"{self.digits} hex digits, expected an even number")
        return found

    def _explain(self, text: bytes) -> str:
        strange = next((match for match in _STRANGE.finditer(text) if match[1]), None)
        if strange is None:
            return "not hex"
        character = ascii(strange[1].decode("latin-1"))
        return f"character {character} at {self._seen + strange.start()} is not a hex digit"
