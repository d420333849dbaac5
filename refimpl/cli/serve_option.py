"""Options that `mqspec serve`, `namesrv` and `broker` have in common.

What the command line says counts more than what a file says.
"""

import logging
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, TypedDict, TypeVar

import click

from refimpl.real.event_log import start_log
from refimpl.real.history_file import PIECE_BYTES
from refimpl.real.limit import Limits
from refimpl.real.tls import ClientProof, TlsMode, TlsSettings

CommandT = TypeVar("CommandT", bound=Callable[..., object])

LEVELS: Final = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
PORT: Final = click.IntRange(0, 65_535)
FOLDER: Final = click.Path(file_okay=False, path_type=Path)
_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
_NEW_FILE: Final = click.Path(dir_okay=False, path_type=Path)


class SharedOptions(TypedDict):
    """Their values, by the names that click gives them."""

    log_level: str
    log_format: str
    metrics_port: int | None
    max_connections: int | None
    tls_mode: str | None
    tls_cert: Path | None
    tls_key: Path | None
    tls_client_ca: Path | None
    tls_outward: bool
    tls_ca: Path | None


_SHARED: Final = (
    click.option("--metrics-port", type=PORT, help="Serve Prometheus metrics on this port."),
    click.option(
        "--max-connections", type=click.IntRange(min=1), help="Connections that may be open at a time."
    ),
    click.option(
        "--tls",
        "tls_mode",
        type=click.Choice([mode.value for mode in TlsMode]),
        help="Which connections are accepted: permissive if there is a certificate, else disabled.",
    ),
    click.option("--tls-cert", type=_FILE, help="Certificate chain of the server, PEM."),
    click.option("--tls-key", type=_FILE, help="Its private key, PEM."),
    click.option("--tls-client-ca", type=_FILE, help="Require clients that this authority signed, PEM."),
    click.option("--tls-outward", is_flag=True, help="Connect to name servers by TLS."),
    click.option("--tls-ca", type=_FILE, help="Require name servers that this authority signed, PEM."),
    click.option("--log-level", type=click.Choice([*LEVELS]), default="warning", show_default=True),
    click.option("--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True),
)

history_option: Final = click.option(
    "--history", type=_NEW_FILE, help="Record here what the roles do, as JSON lines."
)
history_size_option: Final = click.option(
    "--history-size",
    type=click.IntRange(min=1),
    default=PIECE_BYTES >> 20,
    show_default=True,
    metavar="MIB",
    help="Size at which FILE becomes FILE.1, FILE.2, ... and a new one begins.",
)


def shared_options(command: CommandT) -> CommandT:
    """The command takes the options of every process that serves."""
    for option in reversed(_SHARED):
        command = option(command)
    return command


def start_logging(options: SharedOptions) -> None:
    """Events go to standard error, in the form that was asked for."""
    if sys.stderr is not None:
        is_json = options["log_format"] == "json"
        start_log(LEVELS[options["log_level"]], is_json=is_json, stream=sys.stderr)


def derive_limits(options: SharedOptions, base: Limits) -> Limits:
    """The limits, with what the command line says of them."""
    most = options["max_connections"]
    return base if most is None else replace(base, connections=most)


def derive_tls(options: SharedOptions, base: TlsSettings) -> TlsSettings:
    """The settings, with what the command line says of them."""
    mode = options["tls_mode"]
    settings = replace(
        base,
        mode=base.mode if mode is None else TlsMode(mode),
        certificate=options["tls_cert"] or base.certificate,
        key=options["tls_key"] or base.key,
        client_authority=options["tls_client_ca"] or base.client_authority,
        client_proof=ClientProof.REQUIRE if options["tls_client_ca"] else base.client_proof,
        is_used_outward=options["tls_outward"] or options["tls_ca"] is not None or base.is_used_outward,
        server_authority=options["tls_ca"] or base.server_authority,
    )
    if mode is None and settings.mode is TlsMode.DISABLED and settings.certificate is not None:
        # Apache's own default, which plain clients do not notice.
        return replace(settings, mode=TlsMode.PERMISSIVE)
    return settings
