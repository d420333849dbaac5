"""A stored message as the broker stores it once more: what the producer gave stays as it was."""

from refimpl.message_identity import Identity, derive_identity
from refimpl.store.new_message import NewMessage
from spec.layout.stored_message import StoredMessage
from spec.values.message_id import MessageId, encode_message_id
from spec.values.units import QueueId


def renew(stored: StoredMessage, topic: str, queue_id: int, property_text: str | None = None) -> NewMessage:
    """The same message for another place: body, flags, birth and attempts are those of the stored one."""
    return NewMessage(
        topic,
        QueueId(queue_id),
        stored.body,
        stored.born_host,
        stored.store_host,
        stored.property_text if property_text is None else property_text,
        stored.flag,
        stored.system_flag,
        stored.born_at_ms,
        stored.reconsume_times,
    )


def derive_offset_id(stored: StoredMessage) -> str:
    """The offset message id of a stored message."""
    return encode_message_id(MessageId(stored.store_host, stored.position))


def derive_stored_identity(stored: StoredMessage) -> Identity:
    """The names of a stored message."""
    return derive_identity(stored.properties(), stored.reconsume_times, derive_offset_id(stored))
