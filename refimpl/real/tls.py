"""TLS as an option: what the files say, as contexts that connections are made with.

The modes are Apache's (`tls.server.mode`): disabled, permissive (plain and TLS on one port, told
apart by the first byte) and enforcing. The encryption itself runs in `TlsSession`, between socket
and frames.
"""

import ssl
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final


class TlsMode(Enum):
    """What a server port accepts; Apache's `tls.server.mode`."""

    DISABLED = "disabled"
    PERMISSIVE = "permissive"
    ENFORCING = "enforcing"


class ClientProof(Enum):
    """Whether clients must prove who they are; Apache's `tls.server.need.client.auth`."""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRE = "require"


class TlsError(Exception):
    """A certificate, key or authority cannot be used; one line says which and why."""


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """Where certificates are."""

    mode: TlsMode = TlsMode.DISABLED
    certificate: Path | None = None
    """The server's chain, PEM; Apache's `tls.server.certPath`."""
    key: Path | None = None
    """Its private key, PEM; Apache's `tls.server.keyPath`."""
    key_password: str | None = None
    client_authority: Path | None = None
    """Who signs the certificates of clients, PEM; Apache's `tls.server.trustCertPath`."""
    client_proof: ClientProof = ClientProof.NONE
    is_used_outward: bool = False
    """Whether connections that this process opens use TLS; Apache's `tls.enable`."""
    server_authority: Path | None = None
    """Who signs the certificates of servers that are connected to; None: anybody, as in Apache."""


@dataclass(frozen=True, slots=True)
class Tls:
    """How connections are encrypted."""

    mode: TlsMode = TlsMode.DISABLED
    inward: ssl.SSLContext | None = None
    """For connections that others open; None if the mode is disabled."""
    outward: ssl.SSLContext | None = None
    """For connections that this process opens; None: they are plain."""


PLAIN: Final = Tls()


def load_tls(settings: TlsSettings) -> Tls:
    """The contexts, or a TlsError."""
    inward = None if settings.mode is TlsMode.DISABLED else _load_inward(settings)
    return Tls(settings.mode, inward, _load_outward(settings) if settings.is_used_outward else None)


def _load_inward(settings: TlsSettings) -> ssl.SSLContext:
    if settings.certificate is None or settings.key is None:
        raise TlsError(f"TLS mode {settings.mode.value} needs a certificate and a key")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # A key with a password must not make OpenSSL ask for it on a terminal.
        context.load_cert_chain(settings.certificate, settings.key, settings.key_password or "")
    except (OSError, ValueError) as error:
        raise TlsError(
            f"certificate {settings.certificate} with key {settings.key} cannot be used: {_explain(error)}"
        ) from error
    match settings.client_proof:
        case ClientProof.NONE:
            context.verify_mode = ssl.CERT_NONE
        case ClientProof.OPTIONAL:
            context.verify_mode = ssl.CERT_OPTIONAL
        case ClientProof.REQUIRE:
            context.verify_mode = ssl.CERT_REQUIRED
    if settings.client_authority is not None:
        _load_authority(context, settings.client_authority)
    elif settings.client_proof is not ClientProof.NONE:
        raise TlsError(f"client proof {settings.client_proof.value} needs the authority that signs clients")
    return context


def _load_outward(settings: TlsSettings) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # Addresses in a cluster are mostly numbers, and certificates rarely name them.
    context.check_hostname = False
    if settings.server_authority is None:
        context.verify_mode = ssl.CERT_NONE
    else:
        _load_authority(context, settings.server_authority)
    return context


def _load_authority(context: ssl.SSLContext, authority: Path) -> None:
    try:
        context.load_verify_locations(authority)
    except (OSError, ValueError) as error:
        raise TlsError(f"authority {authority} cannot be used: {_explain(error)}") from error


def _explain(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return error.reason or "it is not PEM"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error)


def explain_failure(error: ssl.SSLError) -> str:
    """What OpenSSL says of a connection that failed, as far as it says anything."""
    reason = error.reason or error.strerror or str(error)
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"TLS failed: {reason}, {error.verify_message}"
    return f"TLS failed: {reason}"
