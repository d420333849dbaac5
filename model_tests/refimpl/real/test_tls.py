"""TLS on a port: disabled, permissive, enforcing, with and without proof of the client."""

import socket
import ssl
from pathlib import Path
from typing import Final

import pytest

from model_tests.refimpl.real.little_server import ECHO, GROW, LittleClient, LittleServer, run_server
from refimpl.real.limit import Limits
from refimpl.real.tls import ClientProof, TlsError, TlsMode, TlsSettings, load_tls

HERE: Final = Path(__file__).with_name("certificate")
AUTHORITY: Final = HERE / "authority.pem"
SERVER: Final = TlsSettings(TlsMode.PERMISSIVE, HERE / "server.pem", HERE / "server.key")
ENFORCING: Final = TlsSettings(TlsMode.ENFORCING, HERE / "server.pem", HERE / "server.key")
PROVING: Final = TlsSettings(
    TlsMode.ENFORCING,
    HERE / "server.pem",
    HERE / "server.key",
    client_authority=AUTHORITY,
    client_proof=ClientProof.REQUIRE,
)


def _context(version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3, *, proves: bool = False) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=AUTHORITY)
    context.check_hostname = False
    context.minimum_version = context.maximum_version = version
    if proves:
        context.load_cert_chain(HERE / "client.pem", HERE / "client.key")
    return context


def _reasons(server: LittleServer) -> list[str]:
    return [line.partition('reason="')[2][:-1] for line in server.log if "connection refused" in line]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_permissive_port_speaks_both(version: ssl.TLSVersion) -> None:
    with run_server(tls=load_tls(SERVER)) as server, server.connect() as plain, server.connect() as secret:
        secret.start_tls(_context(version))
        assert plain.ask(ECHO, b"plain") == b"plain"
        assert secret.ask(ECHO, b"secret") == b"secret"
        assert _reasons(server) == []


def test_frames_of_any_size_go_through_tls_in_order() -> None:
    with run_server(tls=load_tls(ENFORCING)) as server, server.connect() as client:
        client.start_tls(_context())
        assert len(client.ask(GROW, b"3000000")) == 3_000_000
        assert client.ask(ECHO, bytes(2_000_000)) == bytes(2_000_000)
        bodies = [b"%d" % number for number in range(300)]
        client.send(b"".join(client.frame(ECHO, body) for body in bodies))
        assert [answer.body for answer in client.read(300)] == bodies


def test_an_enforcing_port_turns_away_what_is_plain() -> None:
    with run_server(tls=load_tls(ENFORCING)) as server, server.connect() as plain:
        plain.send(plain.frame(ECHO))
        assert plain.read_end() == b""
        assert _reasons(server) == ["first byte 0x00: this port expects TLS, its mode is enforcing"]
        assert server.core.fed == []


def test_a_client_must_prove_itself_if_it_is_asked_to() -> None:
    with run_server(tls=load_tls(PROVING)) as server, server.connect() as known, server.connect() as unknown:
        known.start_tls(_context(proves=True))
        assert known.ask(ECHO, b"it is me") == b"it is me"
        unknown.start_tls(_context())
        with pytest.raises(ssl.SSLError):
            unknown.read_end()
        assert _reasons(server) == ["TLS failed: PEER_DID_NOT_RETURN_A_CERTIFICATE"]
        assert len(server.core.fed) == 1


def test_a_hello_that_is_none_is_told() -> None:
    with run_server(tls=load_tls(SERVER)) as server, server.connect() as good:
        with server.connect() as bad:
            bad.send(b"\x16" + bytes(200))
            bad.read_end()
        assert good.ask(ECHO, b"after") == b"after"
        (reason,) = _reasons(server)
        assert reason.startswith("TLS failed: ")


def test_a_handshake_that_does_not_end_is_given_up() -> None:
    with run_server(Limits(handshake_ms=100, sweep_ms=20), load_tls(SERVER)) as server:
        with server.connect() as slow:
            slow.send(b"\x16\x03\x01")
            assert slow.read_end() == b""
        assert _reasons(server) == ["the TLS handshake is not over after 100 ms"]


def test_the_end_of_a_connection_is_told_through_tls() -> None:
    with run_server(tls=load_tls(ENFORCING)) as server, server.connect() as client:
        client.start_tls(_context())
        client.ask(ECHO)
        assert isinstance(client.socket, ssl.SSLSocket)
        raw = client.socket.unwrap()
        assert raw.recv(1) == b""
        raw.close()
        server.wait(lambda: server.core.closed == [1])
        assert _reasons(server) == []


@pytest.mark.parametrize("authority", [None, AUTHORITY])
def test_a_node_connects_by_tls(authority: Path | None) -> None:
    outward = load_tls(TlsSettings(is_used_outward=True, server_authority=authority))
    with run_server(tls=load_tls(ENFORCING)) as other, run_server(tls=outward) as server:
        answers: list[bytes] = []
        server.call(lambda core: core.connect(f"127.0.0.1:{other.port}"))
        server.wait(lambda: bool(server.core.opened))
        server.call(
            lambda core: core.call(
                -1,
                ECHO,
                None,
                b"secret",
                now_ms=0,
                timeout_ms=3_000,
                then=lambda frame, _: answers.append(b"" if frame is None else frame.body),
            )
        )
        server.wait(lambda: bool(answers))
        assert answers == [b"secret"]


def test_a_node_does_not_trust_a_server_that_its_authority_did_not_sign(tmp_path: Path) -> None:
    other_authority = tmp_path / "other.pem"
    other_authority.write_bytes((HERE / "server.pem").read_bytes())
    outward = load_tls(TlsSettings(is_used_outward=True, server_authority=other_authority))
    with run_server(tls=load_tls(ENFORCING)) as other, run_server(tls=outward) as server:
        server.call(lambda core: core.connect(f"127.0.0.1:{other.port}"))
        server.wait(lambda: server.core.closed == [-1])
        assert server.core.opened == []
        told = "TLS failed: CERTIFICATE_VERIFY_FAILED, unable to get local issuer certificate"
        assert told in _reasons(server)


def test_a_node_that_speaks_tls_to_a_plain_port_gives_up() -> None:
    outward = load_tls(TlsSettings(is_used_outward=True))
    with run_server() as other, run_server(tls=outward) as server:
        server.call(lambda core: core.connect(f"127.0.0.1:{other.port}"))
        server.wait(lambda: server.core.closed == [-1])
        assert server.core.opened == []
        assert "is a TLS hello" in _reasons(other)[0]


def test_a_handshake_with_a_silent_server_is_given_up() -> None:
    outward = load_tls(TlsSettings(is_used_outward=True))
    limits = Limits(handshake_ms=100, sweep_ms=20)
    with socket.create_server(("127.0.0.1", 0)) as silent, run_server(limits, outward) as server:
        server.call(lambda core: core.connect(f"127.0.0.1:{silent.getsockname()[1]}"))
        server.wait(lambda: server.core.closed == [-1])
        assert _reasons(server) == ["the TLS handshake is not over after 100 ms"]


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        (TlsSettings(TlsMode.PERMISSIVE), "TLS mode permissive needs a certificate and a key"),
        (
            TlsSettings(TlsMode.ENFORCING, HERE / "no.pem", HERE / "server.key"),
            "certificate {here}/no.pem with key {here}/server.key cannot be used: no such file or directory",
        ),
        (
            TlsSettings(TlsMode.ENFORCING, HERE / "server.pem", HERE / "client.key"),
            "certificate {here}/server.pem with key {here}/client.key cannot be used: KEY_VALUES_MISMATCH",
        ),
        (
            TlsSettings(TlsMode.ENFORCING, HERE / "README.md", HERE / "server.key"),
            "certificate {here}/README.md with key {here}/server.key cannot be used: it is not PEM",
        ),
        (
            TlsSettings(TlsMode.ENFORCING, HERE / "server.pem", HERE / "locked.key"),
            "certificate {here}/server.pem with key {here}/locked.key cannot be used: it is not PEM",
        ),
        (
            TlsSettings(
                TlsMode.ENFORCING,
                HERE / "server.pem",
                HERE / "server.key",
                client_authority=HERE / "server.key",
            ),
            "authority {here}/server.key cannot be used: NO_CERTIFICATE_OR_CRL_FOUND",
        ),
        (
            TlsSettings(
                TlsMode.ENFORCING, HERE / "server.pem", HERE / "server.key", client_proof=ClientProof.REQUIRE
            ),
            "client proof require needs the authority that signs clients",
        ),
    ],
)
def test_files_that_cannot_be_used_are_named(settings: TlsSettings, error: str) -> None:
    with pytest.raises(TlsError) as raised:
        load_tls(settings)
    assert str(raised.value) == error.replace("{here}", str(HERE))


def test_a_key_may_have_a_password() -> None:
    tls = load_tls(
        TlsSettings(TlsMode.ENFORCING, HERE / "server.pem", HERE / "locked.key", key_password="secret")
    )
    with run_server(tls=tls) as server, LittleClient(server.port) as client:
        client.start_tls(_context())
        assert client.ask(ECHO, b"open") == b"open"
