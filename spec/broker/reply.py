"""Replies: how the answer to a request between clients finds the one who asked.

A client that sends a request writes its own id into the message. Whoever consumes it sends a reply
that names that id, and the broker hands the reply to the client over the connection that the client
keeps open for its heartbeats.

Why it can fail: the broker knows only its own connections. A reply that is sent to a broker at which
the asker is not registered reaches nobody, and the sender is told so.

What is allowed: the reply is stored as well, whether or not it was handed over. What the log keeps
is the reply as it was sent; only the copy that is handed over says when that happened.
"""

from collections.abc import Mapping
from typing import Final

from spec.values.property import PUSH_REPLY_TIME, REPLY_TO_CLIENT
from spec.values.system_flag import COMPRESSED, COMPRESSION_MASK
from spec.values.units import Milliseconds

PUSH_TIMEOUT_MS: Final = Milliseconds(10_000)
"""How long the asker may take to confirm, Apache's `Broker2Client.callClient`."""

STORED_FLAGS: Final = COMPRESSED | COMPRESSION_MASK
"""The system flags that a stored reply keeps: without them a compressed body could not be read."""

NO_MESSAGE_ID: Final = "0"
"""What a reply that was handed over, but not stored, is called."""


def derive_asker(properties: Mapping[str, str]) -> str | None:
    """The client that waits for the reply, None if the reply does not say.

    Clause: broker.reply.goes-to-the-asker
    """
    return properties.get(REPLY_TO_CLIENT)


def derive_pushed_properties(properties: Mapping[str, str], now_ms: int) -> dict[str, str]:
    """The properties of the copy that is handed over.

    Clause: broker.reply.says-when-pushed
    """
    return {**properties, PUSH_REPLY_TIME: str(now_ms)}
