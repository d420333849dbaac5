"""`override` for Python 3.11, where the standard library does not have it yet.

The type checker demands that every overriding method says so. It reads the declaration from
typing_extensions, which exists for it alone; at run time the decorator does nothing.
"""

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from typing_extensions import override as override  # noqa: PLC0414 - the form that re-exports
else:
    _Method = TypeVar("_Method")

    def override(method: _Method) -> _Method:
        """Leave the method as it is."""
        return method
