"""The flag of a pull: what its client allows and brings along, in the bits of one integer.

The client sets the bits, the broker reads them; both sides use these names.
"""

from enum import IntFlag


class PullFlag(IntFlag):
    """Bits of a pull request's `sysFlag`."""

    COMMIT = 1
    """The commit offset in the request counts."""
    SUSPEND = 2
    """The broker may hold the request while there is nothing to answer."""
    SUBSCRIPTION = 4
    """The subscription is in the request."""
    CLASS_FILTER = 8
    """Filtering by an uploaded class; no broker of 4.9.x or later does it."""
    LITE_PULL = 16
    """The user asks for messages; 5.x then uses another request code."""
