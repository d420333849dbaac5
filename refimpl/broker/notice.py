"""The notice that stands in for a message which the store does not take.

The store refused the message itself, so the notice must be one that it takes: it is short, and
nothing in it comes unchecked from the message. It names the record, which stays in the log until
retention removes it and can be read there (mqadmin queryMsgById).
"""

from typing import Final

from refimpl.broker.renewal import derive_offset_id
from refimpl.store.new_message import NewMessage
from spec.layout.stored_message import StoredMessage
from spec.values.host import Host
from spec.values.property import ORIGIN_MESSAGE_ID, TAGS, encode_properties
from spec.values.units import Milliseconds, QueueId

NOTICE_TAG: Final = "refused"
"""The tag of every notice, so that whoever reads a dead-letter topic can tell it from a message."""

TEXT_LIMIT: Final = 512
"""How much of a topic's name or of a reason is told."""


def derive_notice(
    topic: str, stored: StoredMessage, real_topic: str, reason: str, *, host: Host, now_ms: int
) -> NewMessage:
    """The notice: what was refused, where it was to go, and why it did not get there."""
    offset_id = derive_offset_id(stored)
    text = (
        f"message {offset_id} for topic {real_topic[:TEXT_LIMIT]} could not be stored"
        f" ({len(stored.body)} bytes of body): {reason[:TEXT_LIMIT]};"
        " read it with queryMsgById while it is kept"
    )
    return NewMessage(
        topic,
        QueueId(0),
        text.encode("utf-8", "replace"),
        host,
        host,
        encode_properties({ORIGIN_MESSAGE_ID: offset_id, TAGS: NOTICE_TAG}),
        born_at_ms=Milliseconds(now_ms),
    )
