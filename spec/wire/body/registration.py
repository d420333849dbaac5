"""What a broker tells a name server about its topics, plain and compressed.

The plain form is JSON. The compressed form is a zlib stream of length-prefixed parts, in which
a topic is five words; flags and order are lost on the way. A few hundred compressed bytes can
claim gigabytes, so what comes out of the stream is bounded, and a count is never believed before
its entries have been seen.
"""

import zlib
from struct import Struct
from typing import Final

from spec.broker.topic import DataVersion, TopicConfig, TopicFilter
from spec.rejection import Rejection
from spec.values.checksum import derive_checksum
from spec.values.java_literal import decode_int32
from spec.values.zlib_stream import expand_stream
from spec.wire.body.record import JsonRecord, RecordCodec, json_record
from spec.wire.body.topic import TopicConfigTable
from spec.wire.fastjson import encode_fastjson, parse_fastjson
from spec.wire.frame import FRAME_LIMIT
from spec.wire.remoting_header import encode_text
from spec.wire.version import is_register_body_complete

_LENGTH: Final = Struct(">i")
_WORD_COUNT: Final = 5
_VERSION: Final = RecordCodec(DataVersion)


@json_record
class RegisterBrokerBody(JsonRecord):
    """The topics of a broker, and the filter servers beside it."""

    topic_config_serialize_wrapper: TopicConfigTable = TopicConfigTable()
    filter_server_list: tuple[str, ...] = ()


def is_body_intact(declared_checksum: int, body: bytes) -> bool:
    """Whether the declared `bodyCrc32` is that of the bytes as they were sent; 0 declares nothing.

    Clause: wire.body.registration-checksum
    """
    return declared_checksum in {0, derive_checksum(body)}


def decode_registration(
    body: bytes, *, is_compressed: bool, sender_version: int, size_limit: int = FRAME_LIMIT
) -> RegisterBrokerBody:
    """The registration, in the form that the sender's header and version announce.

    Clauses: wire.body.registration-forms, wire.body.decompression-bound, wire.version.register-body
    """
    if not body:
        return RegisterBrokerBody()
    if not is_register_body_complete(sender_version):
        return RegisterBrokerBody(TopicConfigTable.decode(body))
    return (
        decode_compressed(body, size_limit=size_limit) if is_compressed else RegisterBrokerBody.decode(body)
    )


def inflate(data: bytes, size_limit: int) -> bytes:
    """What the zlib stream holds, if it is whole, alone, and not larger than the limit.

    Clause: wire.body.decompression-bound
    """
    clause = "wire.body.decompression-bound"
    content, rest = expand_stream(data, size_limit, form_clause=clause, limit_clause=clause)
    if rest:
        raise Rejection(clause, len(data) - rest, "bytes follow the stream")
    return content


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
    version = _VERSION.decode(parts.read_part())
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
    version = _VERSION.encode(table.data_version)
    return zlib.compress(b"".join([_prefixed(version), *counted, _prefixed(servers)]))


def _prefixed(part: bytes) -> bytes:
    return _LENGTH.pack(len(part)) + part


def encode_topic_words(topic: TopicConfig) -> bytes:
    """`name readQueueNums writeQueueNums perm topicFilterType`, with single spaces.

    Clause: wire.body.registration-forms
    """
    clause = "wire.body.registration-forms"
    if not topic.name or " " in topic.name:
        raise Rejection(clause, 0, f"{topic.name[:40]!r} is not one word")
    counts = f"{topic.read_queue_count} {topic.write_queue_count} {topic.permission}"
    return encode_text(f"{topic.name} {counts} {topic.topic_filter.value}", clause, "topic")


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
