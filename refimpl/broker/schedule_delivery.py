"""What comes out of the schedule topic: the message as it was sent, and where it belongs."""

from refimpl.broker.renewal import renew
from refimpl.store.new_message import NewMessage
from spec.layout.stored_message import StoredMessage
from spec.rejection import Rejection
from spec.values.java_literal import decode_int32
from spec.values.property import REAL_QUEUE_ID, REAL_TOPIC


def derive_delivered(stored: StoredMessage) -> NewMessage:
    """The message for its real topic; refuses one that does not say where it belongs.

    Its delay is over but its level stays in its properties, as Apache leaves it there: whoever
    stores this must not have it delayed again.

    Clause: broker.schedule.not-before-due
    """
    properties = stored.properties()
    topic = properties.get(REAL_TOPIC)
    if topic is None:
        raise Rejection("broker.schedule.not-before-due", 0, "the message does not name its real topic")
    return renew(stored, topic, decode_int32(properties.get(REAL_QUEUE_ID, "")))
