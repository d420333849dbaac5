"""Theorems on frames: lengths pack and unpack, the limit is exact, flags say what they say."""

from spec.values.java_literal import is_int16, is_int32
from spec.wire.binary_header import is_length_within, pack_fixed, unpack_fixed
from spec.wire.connection import is_call_expired, is_idle
from spec.wire.frame import FRAME_LIMIT, derive_frame_size, is_frame_legal, pack_mark, unpack_mark
from spec.wire.remoting_header import is_oneway, is_reply_to, is_response
from spec.wire.reply import is_reply_due


def mark_returns_type_and_header_length(serialization: int, header_length: int) -> bool:
    """What is packed into the mark comes out of it.

    clause: wire.frame.mark
    pre: 0 <= serialization <= 255
    pre: 0 <= header_length < 2**24
    post: __return__
    """
    return unpack_mark(pack_mark(serialization, header_length)) == (serialization, header_length)


def mark_fits_32_bits(serialization: int, header_length: int) -> bool:
    """The mark of a legal frame is an unsigned integer of 32 bits, with the type in the highest byte.

    clause: wire.frame.mark
    pre: 0 <= serialization <= 255
    pre: 0 <= header_length < 2**24
    post: __return__
    """
    mark = pack_mark(serialization, header_length)
    return 0 <= mark < 2**32 and mark // 2**24 == serialization


def legal_frame_has_room_for_header_and_body(length: int, header_length: int) -> bool:
    """A legal frame holds its prefix and header, leaves a body of no negative size, and keeps the limit.

    clause: wire.frame.header-within
    pre: -(2**31) <= length < 2**31
    pre: -(2**31) <= header_length < 2**31
    post: __return__
    """
    if not is_frame_legal(length, header_length):
        return True
    body_length = derive_frame_size(length) - 8 - header_length
    return header_length >= 0 and body_length >= 0 and derive_frame_size(length) <= 16_777_216


def frame_limit_is_exact(length: int) -> bool:
    """A frame without header is legal from length 4 to 16 777 212 and for no other length.

    clause: wire.frame.limit
    pre: -(2**31) <= length < 2**31
    post: __return__
    """
    return is_frame_legal(length, 0, FRAME_LIMIT) == (4 <= length <= 16_777_212)


def first_byte_of_a_legal_frame_is_zero(length: int, header_length: int) -> bool:
    """No legal frame has a length whose highest byte is not zero.

    clause: wire.frame.first-byte
    pre: 0 <= length < 2**32
    pre: 0 <= header_length < 2**24
    post: __return__
    """
    return not is_frame_legal(length, header_length) or length >> 24 == 0


def parts_of_a_header_stay_within_it(start: int, length: int, limit: int) -> bool:
    """A length that is accepted is not negative and does not lead past the limit; every such one is.

    clause: wire.binary-header.lengths
    pre: 0 <= start <= limit < 2**24
    pre: -(2**31) <= length < 2**31
    post: __return__
    """
    return is_length_within(start, length, limit) == (length >= 0 and start + length <= limit)


def narrow_lanes_of_a_binary_header_survive(code: int, language: int, version: int) -> bool:
    """Code, language and version come back from the bytes they travel in.

    clause: wire.binary-header.layout
    pre: is_int16(code)
    pre: 0 <= language <= 255
    pre: is_int16(version)
    post: __return__
    """
    lanes = (code, language, version, 7, 1, 0)
    return unpack_fixed(pack_fixed(lanes)) == lanes


def wide_lanes_of_a_binary_header_survive(opaque: int, flag: int, remark_length: int) -> bool:
    """Opaque, flag and the remark's length come back from the bytes they travel in.

    clause: wire.binary-header.layout
    pre: is_int32(opaque)
    pre: is_int32(flag)
    pre: is_int32(remark_length)
    post: __return__
    """
    lanes = (105, 0, 399, opaque, flag, remark_length)
    return unpack_fixed(pack_fixed(lanes)) == lanes


def integers_of_16_bits_have_32(number: int) -> bool:
    """What fits a binary header's code fits a JSON header's, and the bounds are those of two's complement.

    clause: wire.binary-header.code-16-bits
    pre: -(2**40) <= number <= 2**40
    post: __return__
    """
    narrow = is_int16(number) == (-32_768 <= number <= 32_767)
    wide = is_int32(number) == (-2_147_483_648 <= number <= 2_147_483_647)
    return narrow and wide and (is_int32(number) or not is_int16(number))


def oneway_and_response_exclude_each_other(flag: int) -> bool:
    """No frame is both, and only the two lowest bits decide.

    clause: wire.header.oneway-bit
    pre: 0 <= flag < 2**31
    post: __return__
    """
    low = flag % 4
    return (
        not (is_response(flag) and is_oneway(flag))
        and is_response(flag) == (low in {1, 3})
        and is_oneway(flag) == (low == 2)
    )


def a_reply_is_due_for_plain_requests_only(flag: int) -> bool:
    """Requests are answered; oneway requests and responses are not.

    clause: wire.reply.oneway-silent
    pre: 0 <= flag < 2**31
    post: __return__
    """
    return is_reply_due(flag) == (not is_response(flag) and not is_oneway(flag))


def a_push_never_completes_a_call(flag: int, opaque: int, pending: int) -> bool:
    """A frame without the response bit answers no call, even one of the same number.

    clause: wire.header.reply-match
    pre: 0 <= flag < 2**31
    pre: is_int32(opaque)
    pre: is_int32(pending)
    post: __return__
    """
    return is_reply_to(flag, opaque, pending) == (flag % 2 == 1 and opaque == pending)


def a_call_never_expires_within_its_timeout(begun_ms: int, timeout_ms: int, waited_ms: int) -> bool:
    """The sweep gives up a call a second after its timeout and not earlier.

    clause: wire.connection.call-expiry
    pre: 0 <= begun_ms < 2**40
    pre: 0 <= timeout_ms < 2**31
    pre: 0 <= waited_ms < 2**32
    post: __return__
    """
    return is_call_expired(begun_ms, timeout_ms, begun_ms + waited_ms) == (waited_ms >= timeout_ms + 1_000)


def traffic_either_way_keeps_a_connection(read_ms: int, write_ms: int, now_ms: int) -> bool:
    """A connection is idle only if both directions were silent for two minutes.

    clause: wire.connection.idle-close
    pre: 0 <= read_ms <= now_ms
    pre: 0 <= write_ms <= now_ms
    pre: now_ms < 2**40
    post: __return__
    """
    silent = (now_ms - read_ms >= 120_000, now_ms - write_ms >= 120_000)
    return is_idle(read_ms, write_ms, now_ms) == all(silent)
