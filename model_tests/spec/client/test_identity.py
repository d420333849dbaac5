"""The name by which a client is known."""

from ipaddress import IPv4Address, IPv6Address

import pytest

from spec.client.identity import choose_address, derive_client_id, derive_instance_name
from spec.group.consumption import MessageModel


@pytest.mark.clause("client.identity.form")
@pytest.mark.parametrize(
    ("unit", "is_stream", "text"),
    [
        (None, False, "h@i"),
        ("", False, "h@i"),
        (" ", False, "h@i"),
        ("u", False, "h@i@u"),
        ("u", True, "h@i@u@STREAM"),
    ],
)
def test_parts_are_joined_by_an_at_sign(unit: str | None, *, is_stream: bool, text: str) -> None:
    assert derive_client_id("h", "i", unit, is_stream=is_stream) == text


@pytest.mark.clause("client.identity.unique", "client.identity.broadcasting-stable")
@pytest.mark.parametrize(
    ("configured", "model", "name"),
    [
        ("DEFAULT", None, "31#42"),
        ("DEFAULT", MessageModel.CLUSTERING, "31#42"),
        ("DEFAULT", MessageModel.BROADCASTING, "DEFAULT"),
        ("mine", MessageModel.CLUSTERING, "mine"),
    ],
)
def test_default_instance_is_replaced_unless_broadcasting(
    configured: str, model: MessageModel | None, name: str
) -> None:
    assert derive_instance_name(configured, model, 31, 42) == name


@pytest.mark.clause("client.identity.address-choice")
@pytest.mark.parametrize(
    ("addresses", "chosen"),
    [
        (["10.0.0.7", "10.0.0.8"], "10.0.0.7"),
        (["192.168.0.1", "127.0.0.2", "10.0.0.7"], "10.0.0.7"),
        (["192.168.0.1", "192.168.0.2"], "192.168.0.2"),
        (["fe80::1", "192.168.0.1"], "192.168.0.1"),
        (["fe80::1", "fe80::2"], "fe80::1"),
        ([], None),
    ],
)
def test_address_that_looks_public_is_preferred(addresses: list[str], chosen: str | None) -> None:
    parsed = [IPv6Address(text) if ":" in text else IPv4Address(text) for text in addresses]
    assert choose_address(parsed) == chosen
