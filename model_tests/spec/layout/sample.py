"""Stored messages for tests: drawn ones, and a plain one."""

from typing import Final

from hypothesis import strategies as st

from model_tests.spec.values.test_host import hosts
from spec.layout.stored_message import Magic, StoredMessage, make_record
from spec.values.host import Host, host_of
from spec.values.message import Message
from spec.values.units import CommitLogPosition, Milliseconds, QueueId, QueueOffset

HOST: Final = host_of("127.0.0.1", 10_911)

_words = st.text(
    st.characters(exclude_characters="\x01\x02", exclude_categories=["Cs"]), min_size=1, max_size=5
)
_int32 = st.integers(-(2**31), 2**31 - 1)
_int64 = st.integers(-(2**63), 2**63 - 1)
messages = st.builds(
    Message,
    topic=st.text("abcXYZ%|_-é中", min_size=1, max_size=20),
    body=st.binary(max_size=40),
    flag=_int32,
    properties=st.dictionaries(_words, _words, max_size=3),
)


def _record(message: Message, hosts: tuple[Host, Host], ints: tuple[int, ...], magic: Magic) -> StoredMessage:
    return make_record(
        message,
        queue_id=QueueId(ints[0]),
        born_host=hosts[0],
        store_host=hosts[1],
        queue_offset=QueueOffset(ints[1]),
        position=CommitLogPosition(ints[2]),
        system_flag=ints[3],
        born_at_ms=Milliseconds(ints[4]),
        stored_at_ms=Milliseconds(ints[5]),
        reconsume_times=ints[6],
        prepared_position=CommitLogPosition(ints[7]),
        magic=magic,
    )


stored_messages = st.builds(
    _record,
    messages,
    st.tuples(hosts, hosts),
    st.tuples(_int32, _int64, _int64, _int32, _int64, _int64, _int32, _int64),
    st.sampled_from([Magic.MESSAGE, Magic.MESSAGE_V2]),
)


def stored(
    topic: str = "T",
    body: bytes = b"body",
    *,
    queue_id: int = 0,
    queue_offset: int = 0,
    position: int = 0,
    stored_at_ms: int = 1_000,
    system_flag: int = 0,
    properties: dict[str, str] | None = None,
) -> StoredMessage:
    """A message stored by and from the local host."""
    return make_record(
        Message(topic, body, 0, properties or {}),
        queue_id=QueueId(queue_id),
        born_host=HOST,
        store_host=HOST,
        queue_offset=QueueOffset(queue_offset),
        position=CommitLogPosition(position),
        system_flag=system_flag,
        born_at_ms=Milliseconds(stored_at_ms),
        stored_at_ms=Milliseconds(stored_at_ms),
    )
