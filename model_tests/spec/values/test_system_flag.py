import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.values.system_flag import (
    CompressionType,
    TransactionType,
    compression_type,
    has_queue_entry,
    transaction_type,
    with_host_bits,
    with_transaction_type,
)

flags = st.integers(-(2**31), 2**31 - 1)


@pytest.mark.clause("store.flag.transaction-bits")
@given(flags, st.sampled_from(TransactionType))
def test_transaction_bits_are_replaced_and_nothing_else(flag: int, kind: TransactionType) -> None:
    changed = with_transaction_type(flag, kind)
    assert transaction_type(changed) is kind
    assert changed & ~0x0C == flag & ~0x0C


@pytest.mark.clause("store.queue.transaction-halves-have-no-unit")
def test_only_plain_and_committed_messages_enter_a_queue() -> None:
    assert [has_queue_entry(kind) for kind in TransactionType] == [True, False, True, False]


@pytest.mark.clause("store.flag.compression-bits")
def test_clear_compression_bits_mean_zlib_and_unknown_bits_mean_nothing() -> None:
    assert [compression_type(bits | 1) for bits in (0x000, 0x100, 0x200, 0x300, 0x400)] == [
        CompressionType.ZLIB,
        CompressionType.LZ4,
        CompressionType.ZSTD,
        CompressionType.ZLIB,
        None,
    ]


@pytest.mark.clause("store.flag.host-bits")
@given(flags, st.booleans(), st.booleans())
def test_host_bits_say_how_long_the_hosts_are(flag: int, born: bool, store: bool) -> None:  # noqa: FBT001 - drawn
    changed = with_host_bits(flag, born_ipv6=born, store_ipv6=store)
    assert (changed & 0x10 != 0, changed & 0x20 != 0) == (born, store)
    assert changed & ~0x30 == flag & ~0x30
