"""A message as user code sends it and a broker first sees it.

Topic, body, a flag that belongs to the user, and properties. Everything else (queue, offsets,
hosts, times) is given to a message when it is stored: see `spec.layout.record`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from spec.rejection import Rejection
from spec.values import property as known
from spec.values.java_literal import decode_boolean, decode_int32
from spec.values.java_text import java_hash
from spec.values.name import SCHEDULE_TOPIC
from spec.values.units import Milliseconds, TagCode

NO_TAG: Final = TagCode(0)
"""The code of a message without a tag."""

UNKNOWN_LEVEL_DELAY_MS: Final = Milliseconds(1000)
"""What Apache waits when a delay level has no entry in its table."""


@dataclass(frozen=True, slots=True)
class Message:
    """What user code hands to a producer, and gets back in a listener."""

    topic: str
    body: bytes
    flag: int = 0
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def tag(self) -> str | None:
        """The one tag, if there is one."""
        return self.properties.get(known.TAGS)

    @property
    def keys(self) -> tuple[str, ...]:
        """The index keys that the user gave."""
        return known.split_keys(self.properties.get(known.KEYS, ""))

    @property
    def unique_id(self) -> str | None:
        """The id that the producing client gave, if it gave one."""
        return self.properties.get(known.UNIQUE_KEY)

    @property
    def delay_level(self) -> int:
        """The delay level, 0 when the message is not delayed."""
        return parse_delay_level(self.properties)

    @property
    def waits_for_store(self) -> bool:
        """Whether the sender waits for flush and replica, which it does unless it says `false`."""
        return decode_boolean(self.properties.get(known.WAIT, "true"))


def parse_delay_level(properties: Mapping[str, str]) -> int:
    """The level in `DELAY`, 0 when there is none; refuses a text that is not a 32-bit integer.

    Clause: store.queue.schedule-tag-is-due-time
    """
    text = properties.get(known.DELAY, "0")
    try:
        return decode_int32(text)
    except Rejection as refusal:
        raise Rejection("store.queue.schedule-tag-is-due-time", 0, f"delay level: {refusal.reason}") from None


def derive_due_at(level: int, stored_at_ms: int, delays_ms: tuple[int, ...]) -> Milliseconds:
    """When a scheduled message is due: its store time plus the delay of its level.

    A level above the table counts as the highest one; one below, or no table, waits a second.

    Clause: store.queue.schedule-tag-is-due-time
    """
    is_known = level > 0 and delays_ms
    delay_ms = delays_ms[min(level, len(delays_ms)) - 1] if is_known else UNKNOWN_LEVEL_DELAY_MS
    return Milliseconds(stored_at_ms + delay_ms)


def derive_tag_code(
    topic: str, properties: Mapping[str, str], stored_at_ms: int, delays_ms: tuple[int, ...]
) -> TagCode:
    """What a consume-queue unit says about a message: the hash of its tag, or when it is due.

    A delay level that cannot be read counts as none: a strange property must not make a stored
    message unreachable.

    Clauses: store.queue.tag-code, store.queue.schedule-tag-is-due-time
    """
    if topic == SCHEDULE_TOPIC:
        try:
            level = parse_delay_level(properties)
        except Rejection:
            level = 0
        if level > 0:
            return TagCode(derive_due_at(level, stored_at_ms, delays_ms))
    tag = properties.get(known.TAGS)
    return TagCode(java_hash(tag)) if tag else NO_TAG
