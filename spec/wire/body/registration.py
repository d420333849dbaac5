"""What a broker tells a name server about its topics, plain and compressed.

The plain form is JSON. The compressed form is a zlib stream of length-prefixed parts, in which
a topic is five words; flags and order are lost on the way. A few hundred compressed bytes can
claim gigabytes, so what comes out of the stream is bounded, and a count is never believed before
its entries have been seen.
"""

import zlib
from struct import Struct
from typing import Final

from spec.broker.topic import TopicConfig, TopicFilter
from spec.rejection import Rejection
from spec.wire.body.data_version import DataVersion
from spec.wire.body.record import JsonRecord, json_record
from spec.wire.body.topic import TopicConfigTable
from spec.wire.fastjson import encode_fastjson, parse_fastjson
from spec.wire.frame import FRAME_LIMIT
from spec.wire.literal import decode_int32

CHECKSUM_MASK: Final = 0x7FFFFFFF
"""Apache keeps 31 bits of a CRC-32, so that it is never negative."""

TABLE_ONLY_BELOW_VERSION: Final = 37
"""Brokers older than V3_0_11 send the bare topic table."""

_LENGTH: Final = Struct(">i")
_WORD_COUNT: Final = 5


@json_record
class RegisterBrokerBody(JsonRecord):
    """The topics of a broker, and the filter servers beside it."""

    topic_config_serialize_wrapper: TopicConfigTable = TopicConfigTable()
    filter_server_list: tuple[str, ...] = ()


def derive_body_checksum(body: bytes) -> int:
    """The `bodyCrc32` of a registration: over the bytes as they are sent.

    Clause: wire.body.registration-checksum
    """
    return zlib.crc32(body) & CHECKSUM_MASK


def is_body_intact(declared_checksum: int, body: bytes) -> bool:
    """Whether the declared checksum fits; 0 declares nothing.

    Clause: wire.body.registration-checksum
    """
    return declared_checksum in {0, derive_body_checksum(body)}


def decode_registration(
    body: bytes, *, is_compressed: bool, sender_version: int, size_limit: int = FRAME_LIMIT
) -> RegisterBrokerBody:
    """The registration, in the form that the sender's header and version announce.

    Clauses: wire.body.registration-forms, wire.body.decompression-bound
    """
    if not body:
        return RegisterBrokerBody()
    if sender_version < TABLE_ONLY_BELOW_VERSION:
        return RegisterBrokerBody(TopicConfigTable.decode(body))
    return (
        decode_compressed(body, size_limit=size_limit) if is_compressed else RegisterBrokerBody.decode(body)
    )


def inflate(data: bytes, size_limit: int) -> bytes:
    """What the zlib stream holds, if it is whole, alone, and not larger than the limit.

    Clause: wire.body.decompression-bound
    """
    clause = "wire.body.decompression-bound"
    stream = zlib.decompressobj()
    try:
        inflated = stream.decompress(data, size_limit + 1)
    except zlib.error as error:
        raise Rejection(clause, 0, f"not a zlib stream: {error}") from None
    if len(inflated) > size_limit:
        raise Rejection(clause, 0, f"the stream holds more than {size_limit} bytes")
    if not stream.eof:
        raise Rejection(clause, len(data), "the stream ends early")
    if stream.unused_data:
        raise Rejection(clause, len(data) - len(stream.unused_data), "bytes follow the stream")
    return inflated


class _Parts:
    """A cursor over length-prefixed parts."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def _refuse(self, reason: str) -> Rejection:
        return Rejection("wire.body.registration-forms", self._position, f"{reason} (in the inflated stream)")

    def read_count(self) -> int:
        if len(self._data) - self._position < _LENGTH.size:
            raise self._refuse("four bytes of a length are missing")
        count: int = _LENGTH.unpack_from(self._data, self._position)[0]
        if count < 0:
            raise self._refuse(f"the length {count} is negative")
        self._position += _LENGTH.size
        return count

    def read_part(self) -> bytes:
        length = self.read_count()
        end = self._position + length
        if end > len(self._data):
            raise self._refuse(f"a part of {length} bytes does not fit the rest")
        part = self._data[self._position : end]
        self._position = end
        return part

    def finish(self) -> None:
        if self._position != len(self._data):
            raise self._refuse("bytes follow the last part")


def decode_compressed(data: bytes, *, size_limit: int = FRAME_LIMIT) -> RegisterBrokerBody:
    """The registration that the compressed form holds.

    Clauses: wire.body.registration-forms, wire.body.decompression-bound
    """
    parts = _Parts(inflate(data, size_limit))
    version = DataVersion.decode(parts.read_part())
    topics: dict[str, TopicConfig] = {}
    for _ in range(parts.read_count()):
        topic = decode_topic_words(parts.read_part())
        topics[topic.name] = topic
    servers = RegisterBrokerBody.decode_tree({"filterServerList": parse_fastjson(parts.read_part())})
    parts.finish()
    return RegisterBrokerBody(TopicConfigTable(topics, version), servers.filter_server_list)


def encode_compressed(body: RegisterBrokerBody) -> bytes:
    """The registration in the compressed form; topic flags and order do not travel.

    Clause: wire.body.registration-forms
    """
    table = body.topic_config_serialize_wrapper
    topics = [encode_topic_words(topic) for topic in table.topic_config_table.values()]
    servers = encode_fastjson(body.filter_server_list)
    counted = [_LENGTH.pack(len(topics)), *map(_prefixed, topics)]
    return zlib.compress(b"".join([_prefixed(table.data_version.encode()), *counted, _prefixed(servers)]))


def _prefixed(part: bytes) -> bytes:
    return _LENGTH.pack(len(part)) + part


def encode_topic_words(topic: TopicConfig) -> bytes:
    """`name readQueueNums writeQueueNums perm topicFilterType`, with single spaces."""
    counts = f"{topic.read_queue_count} {topic.write_queue_count} {topic.permission}"
    return f"{topic.name} {counts} {topic.topic_filter.value}".encode()


def decode_topic_words(data: bytes) -> TopicConfig:
    """The topic that five words describe.

    Clause: wire.body.registration-forms
    """
    clause = "wire.body.registration-forms"
    try:
        words = data.decode().split(" ")
    except UnicodeDecodeError as error:
        raise Rejection(clause, error.start, f"not UTF-8: {error.reason}") from None
    if len(words) != _WORD_COUNT or not words[0]:
        raise Rejection(clause, 0, f"expected five words for a topic, found {len(words)}")
    if words[4] not in TopicFilter.__members__:
        raise Rejection(clause, 0, f"{words[4][:40]!r} is no topic filter type")
    read_count, write_count, permission = map(decode_int32, words[1:4])
    return TopicConfig(words[0], read_count, write_count, permission, TopicFilter[words[4]])
