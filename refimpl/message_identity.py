"""By which name a history speaks of a message.

A message keeps its name wherever it is stored: behind a delay, as a half message and as the
committed one. The name is the unique key that its producer gave, or the offset message id under
which it was stored first. A copy for a retry has a name of its own, which counts the attempts,
and names the message that it descends from.
"""

from collections.abc import Mapping
from typing import NamedTuple

from spec.values.property import ORIGIN_MESSAGE_ID, UNIQUE_KEY


class Identity(NamedTuple):
    """The columns `message` and `origin` of an event."""

    message: str
    origin: str = ""
    """Empty for an original."""


def derive_identity(properties: Mapping[str, str], reconsume_times: int, offset_id: str) -> Identity:
    """The names of a message; `offset_id` counts where the properties name no earlier one."""
    first = properties.get(UNIQUE_KEY) or properties.get(ORIGIN_MESSAGE_ID) or offset_id
    return Identity(f"{first}#{reconsume_times}", first) if reconsume_times > 0 else Identity(first)
