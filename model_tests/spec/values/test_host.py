import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.rejection import Rejection
from spec.values.host import Host, decode_host, encode_host, host_of

hosts = st.builds(
    Host,
    st.one_of(st.binary(min_size=4, max_size=4), st.binary(min_size=16, max_size=16)),
    st.integers(0, 65_535),
)


@pytest.mark.clause("store.host.address-and-port")
@given(hosts)
def test_host_reads_back_as_it_was_written(host: Host) -> None:
    assert decode_host(encode_host(host)) == host


@pytest.mark.clause("store.host.address-and-port")
@given(st.binary(max_size=24))
def test_any_bytes_are_a_host_or_refused(data: bytes) -> None:
    try:
        outcome = encode_host(decode_host(data)).hex()
    except Rejection as refusal:
        outcome = refusal.clause
    assert outcome in {data.hex(), "store.host.address-and-port"}


def test_host_is_written_as_people_write_it() -> None:
    assert str(host_of("127.0.0.1", 10_911)) == "127.0.0.1:10911"
    assert str(host_of("::1", 9_876)) == "[::1]:9876"
    assert (host_of("10.0.0.1", 1).is_ipv6, host_of("::1", 1).is_ipv6) == (False, True)


@pytest.mark.parametrize("host", [Host(b"abc", 1), Host(b"abcd", -1), Host(b"abcd", 65_536)])
@pytest.mark.clause("store.host.address-and-port")
def test_host_that_could_not_be_read_back_is_not_written(host: Host) -> None:
    with pytest.raises(Rejection, match=r"port|address"):
        encode_host(host)


def test_text_that_is_no_address_is_refused() -> None:
    with pytest.raises(Rejection, match="not an IP address"):
        host_of("localhost", 1)
