"""What a decoder says to bytes: nothing, or which clause they break and where."""

from collections.abc import Callable

from spec.rejection import Rejection


def refusal_of(decode: Callable[[bytes], object], data: bytes) -> tuple[str, int] | None:
    """Clause and position of the refusal, None if the bytes are accepted; other errors pass through."""
    try:
        decode(data)
    except Rejection as rejection:
        return rejection.clause, rejection.position
    return None
