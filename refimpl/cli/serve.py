"""`mqspec serve`: a name server and a broker in one process, with nothing to configure."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, Unpack

import click

from refimpl.cli.broker_file import read_broker_file
from refimpl.cli.broker_key import BrokerFile
from refimpl.cli.broker_role import BrokerRole
from refimpl.cli.launch import run_plan
from refimpl.cli.name_server_role import NameServerRole
from refimpl.cli.plan import BrokerPlan, FastPort, Plan
from refimpl.cli.recording import derive_declaration, open_log
from refimpl.cli.role import Role
from refimpl.cli.serve_option import (
    FOLDER,
    PORT,
    SharedOptions,
    derive_limits,
    derive_tls,
    history_option,
    history_size_option,
    shared_options,
    start_logging,
)
from refimpl.cli.setting_text import read_ip
from refimpl.nameserver.settings import NameServerSettings
from refimpl.real.tls import TlsMode, TlsSettings
from spec.wire.connection import BROKER_PORT, NAME_SERVER_PORT

HOST: Final = "127.0.0.1"
"""A decision: who starts a broker without a word does not mean to offer it to the network."""

FAST_PORT: Final = click.option(
    "--fast-port",
    type=click.Choice([choice.value for choice in FastPort]),
    default=FastPort.AUTO.value,
    show_default=True,
    help="Serve all but pulls on the broker's port - 2, too. auto: if it is free and the port is not 0.",
)


def _read_address(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    try:
        return None if value is None else read_ip(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r}, expected {error}.") from error


ADVERTISE: Final = click.option(
    "--advertise",
    metavar="IP",
    callback=_read_address,
    help="Address that clients are told, if it is not the one listened on.",
)
CONFIG: Final = click.option(
    "-c",
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Settings of the broker: Apache's broker.conf, or TOML (.toml).",
)


@click.command()
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option(
    "--namesrv-port", type=PORT, default=NAME_SERVER_PORT, show_default=True, help="0 picks a free one."
)
@click.option("--broker-port", type=PORT, help=f"0 picks a free one.  [default: {BROKER_PORT}]")
@click.option("--store", type=FOLDER, help="Folder of the store; a temporary one without this option.")
@history_option
@history_size_option
@CONFIG
@FAST_PORT
@ADVERTISE
@shared_options
@click.pass_context
def serve(
    context: click.Context,
    *,
    host: str | None,
    namesrv_port: int,
    broker_port: int | None,
    store: Path | None,
    history: Path | None,
    history_size: int,
    config: Path | None,
    fast_port: str,
    advertise: str | None,
    **options: Unpack[SharedOptions],
) -> None:
    """Run a name server and a broker in one process, with nothing to configure.

    When both serve, one line is printed: `ready namesrv=HOST:PORT broker=HOST:PORT`. SIGINT or SIGTERM
    stops them cleanly, a second one at once. Exit code: 0 after a clean stop, 2 if it cannot serve.
    """
    start_logging(options)
    file = BrokerFile() if config is None else read_broker_file(config)
    plan = BrokerPlan(
        file.port if broker_port is None else broker_port,
        file.settings,
        FastPort(fast_port),
        advertise or file.advertised,
    )
    process = Plan(
        host=host or file.host or HOST,
        store=store or file.store,
        history=history,
        history_bytes=history_size << 20,
        metrics_port=options["metrics_port"],
        tls=_reach_ourselves(derive_tls(options, file.tls)),
        limits=derive_limits(options, file.limits),
    )
    names = NameServerSettings()
    make_roles = partial(_make_roles, process.host, namesrv_port, names, plan)
    declaration = derive_declaration(file.settings, names)
    context.exit(run_plan(process, make_roles, lambda opened, now_ms: open_log(opened, declaration, now_ms)))


def _reach_ourselves(tls: TlsSettings) -> TlsSettings:
    """The broker can connect to the name server beside it, which may refuse what is plain."""
    return replace(tls, is_used_outward=True) if tls.mode is TlsMode.ENFORCING else tls


def _make_roles(host: str, port: int, names: NameServerSettings, plan: BrokerPlan) -> Sequence[Role]:
    name_server = NameServerRole(host, port, names)
    others = tuple(address for address in plan.settings.name_servers if address != name_server.address)
    return name_server, BrokerRole(host, plan, (name_server.address, *others))
