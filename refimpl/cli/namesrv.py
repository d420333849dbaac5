"""`mqspec namesrv`: a name server by itself."""

from pathlib import Path
from typing import Unpack

import click

from refimpl.cli.launch import run_plan
from refimpl.cli.name_server_role import NameServerRole
from refimpl.cli.plan import Plan
from refimpl.cli.serve_option import (
    FOLDER,
    PORT,
    SharedOptions,
    derive_limits,
    derive_tls,
    shared_options,
    start_logging,
)
from refimpl.nameserver.settings import NameServerSettings
from refimpl.real.limit import Limits
from refimpl.real.tls import TlsSettings
from spec.wire.connection import NAME_SERVER_PORT


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=PORT, default=NAME_SERVER_PORT, show_default=True, help="0 picks a free one.")
@click.option(
    "--store", type=FOLDER, help="Folder of the key-value table; a temporary one without this option."
)
@shared_options
@click.pass_context
def namesrv(
    context: click.Context, *, host: str, port: int, store: Path | None, **options: Unpack[SharedOptions]
) -> None:
    """Run a name server.

    When it serves, one line is printed: `ready namesrv=HOST:PORT`. SIGINT or SIGTERM stops it cleanly, a
    second one at once. Exit code: 0 after a clean stop, 2 if it cannot serve.
    """
    start_logging(options)
    plan = Plan(
        host=host,
        store=store,
        metrics_port=options["metrics_port"],
        tls=derive_tls(options, TlsSettings()),
        limits=derive_limits(options, Limits()),
    )
    context.exit(run_plan(plan, lambda: (NameServerRole(host, port, NameServerSettings()),)))
