"""Ports and addresses: bound before they are served, and errors that say what to do."""

import socket
import time
from datetime import UTC, datetime

import pytest

from refimpl.real.local_zone import LocalZone
from refimpl.real.peer import derive_host, split_address
from refimpl.real.port import Port, PortError, derive_advertised, derive_reachable, join_address
from spec.values.host import Host


def test_a_port_in_use_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        number = other.getsockname()[1]
        with pytest.raises(PortError) as raised:
            Port("127.0.0.1", number)
        assert str(raised.value) == f"cannot listen on 127.0.0.1:{number}: the port is in use"


def test_an_address_of_another_machine_is_told() -> None:
    with pytest.raises(
        PortError, match=r"^cannot listen on 192\.0\.2\.1:0: cannot assign requested address$"
    ):
        Port("192.0.2.1", 0)
    with pytest.raises(PortError, match=r"^nobody\.invalid is no address of this machine: "):
        Port("nobody.invalid", 0)


def test_a_free_port_is_found_and_given_back() -> None:
    first = Port("localhost", 0)
    assert first.address == "127.0.0.1"
    assert first.number > 0
    first.close()
    second = Port("127.0.0.1", first.number)
    assert second.number == first.number
    second.close()


@pytest.mark.parametrize(
    ("address", "reachable"),
    [("0.0.0.0", "127.0.0.1"), ("::", "::1"), ("127.0.0.1", "127.0.0.1"), ("10.1.2.3", "10.1.2.3")],
)
def test_what_listens_everywhere_is_reached_on_this_machine(address: str, reachable: str) -> None:
    assert derive_reachable(address) == reachable


def test_what_listens_on_one_address_is_advertised_by_it() -> None:
    assert derive_advertised("10.1.2.3") == "10.1.2.3"
    assert derive_advertised("0.0.0.0") != "0.0.0.0"


@pytest.mark.parametrize(
    ("address", "parts"),
    [("127.0.0.1:9876", ("127.0.0.1", 9876)), ("[::1]:5", ("::1", 5)), ("a.b:1", ("a.b", 1))],
)
def test_addresses_are_split_and_joined(address: str, parts: tuple[str, int]) -> None:
    assert split_address(address) == parts
    assert join_address(*parts) == address


@pytest.mark.parametrize("address", ["", ":", "x", "x:", ":5", "x:y", "x:-1", "x:²"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match=r"is no address, expected HOST:PORT$"):
        split_address(address)


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("127.0.0.1", Host(b"\x7f\0\0\1", 5)),
        ("::ffff:127.0.0.1", Host(b"\x7f\0\0\1", 5)),
        ("fe80::1%eth0", Host(b"\xfe\x80" + bytes(13) + b"\1", 5)),
    ],
)
def test_peers_are_known_by_the_address_that_they_have(address: str, host: Host) -> None:
    assert derive_host(address, 5) == host


def test_the_local_zone_is_that_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    try:
        zone = LocalZone()
        winter = datetime(2026, 1, 15, 12, tzinfo=UTC).astimezone(zone)
        summer = datetime(2026, 7, 15, 12, tzinfo=UTC).astimezone(zone)
        assert (winter.hour, summer.hour) == (13, 14)
        assert winter.astimezone(UTC).hour == summer.astimezone(UTC).hour == 12
        assert (zone.utcoffset(None).total_seconds(), winter.dst(), winter.tzname()) == (0, None, "local")
    finally:
        monkeypatch.undo()
        time.tzset()
