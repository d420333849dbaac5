"""Records of the log: their size, the places that are patched, and small inputs."""

from spec.layout.record import decode_record
from spec.layout.record_patch import derive_stored_at_position
from spec.layout.record_walk import Stop, StopKind, read_next
from spec.layout.stored_message import derive_record_size
from spec.rejection import Rejection
from spec.values.system_flag import TransactionType, transaction_type, with_host_bits, with_transaction_type


def size_is_the_sum_of_the_fields(
    body: int,
    topic: int,
    properties: int,
    born_ipv6: bool,  # noqa: FBT001 - a solver passes by position
    store_ipv6: bool,  # noqa: FBT001 - a solver passes by position
) -> bool:
    """The formula gives what the fields add up to, one by one.

    clause: store.record.size-formula
    pre: 0 <= body < 2**31
    pre: 1 <= topic <= 127
    pre: 0 <= properties <= 32767
    post: __return__
    """
    fixed = 4 + 4 + 4 + 4 + 4 + 8 + 8 + 4 + 8 + 8 + 4 + 8
    born_host = 20 if born_ipv6 else 8
    store_host = 20 if store_ipv6 else 8
    total = fixed + born_host + store_host + 4 + body + 1 + topic + 2 + properties
    return derive_record_size(body, topic, properties, born_ipv6=born_ipv6, store_ipv6=store_ipv6) == total


def store_time_follows_the_born_host(system_flag: int) -> bool:
    """The store time stands at 56 or 68, and only the born host's bit decides.

    clause: store.record.patch-positions
    pre: 0 <= system_flag < 2**7
    post: __return__
    """
    born_ipv6 = system_flag // 16 % 2 == 1
    return derive_stored_at_position(system_flag) == (68 if born_ipv6 else 56)


def fewer_than_eight_bytes_are_never_a_record(data: bytes) -> bool:
    """Any few bytes are refused, and with nothing but a Rejection.

    clause: store.record.whole
    pre: len(data) <= 7
    post: __return__
    """
    try:
        decode_record(data)
    except Rejection as refusal:
        return refusal.clause == "store.record.whole"
    return False


def short_walk_always_stops(data: bytes) -> bool:
    """Fewer than eight bytes are the end, zeros or damage, and never a record or a blank.

    clause: store.walk.stop-reasons
    pre: len(data) <= 4
    post: __return__
    """
    stop = read_next(data, 0)
    return isinstance(stop, Stop) and stop.kind is not StopKind.BLANK


def host_bits_are_set_and_nothing_else(
    system_flag: int,
    born_ipv6: bool,  # noqa: FBT001 - a solver passes by position
    store_ipv6: bool,  # noqa: FBT001 - a solver passes by position
) -> bool:
    """Both host bits say what they were told, and every other bit stays.

    clause: store.flag.host-bits
    pre: 0 <= system_flag < 2**6
    post: __return__
    """
    once = with_host_bits(system_flag, born_ipv6=born_ipv6, store_ipv6=store_ipv6)
    others = once // 64 == system_flag // 64 and once % 16 == system_flag % 16
    return others and once // 16 % 4 == born_ipv6 + 2 * store_ipv6


def transaction_bits_are_replaced(system_flag: int, bits: int) -> bool:
    """The new part of the transaction is read back, and clearing it gives the other bits.

    clause: store.flag.transaction-bits
    pre: 0 <= system_flag < 2**5
    pre: 0 <= bits < 4
    post: __return__
    """
    kind = TransactionType(bits * 4)
    changed = with_transaction_type(system_flag, kind)
    return transaction_type(changed) is kind and changed - kind == system_flag - system_flag // 4 % 4 * 4


def up_to_eight_bytes_are_never_a_record(data: bytes) -> bool:
    """Eight bytes, enough for a size and a magic, are refused too, with nothing but a Rejection.

    clause: store.record.whole
    pre: len(data) <= 8
    post: __return__
    """
    try:
        decode_record(data)
    except Rejection:
        return True
    return False
