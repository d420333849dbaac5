"""`mqspec broker`: a broker by itself, configured as Apache's is."""

from pathlib import Path
from typing import Final, Unpack

import click

from refimpl.cli.broker_file import STORE, read_broker_file, read_name_servers
from refimpl.cli.broker_key import BrokerFile
from refimpl.cli.broker_role import BrokerRole
from refimpl.cli.launch import run_plan
from refimpl.cli.plan import BrokerPlan, FastPort, Plan
from refimpl.cli.recording import derive_declaration, open_log
from refimpl.cli.serve import ADVERTISE, CONFIG, FAST_PORT
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

HOST: Final = "0.0.0.0"  # noqa: S104 - as Apache's; who configures a broker for others means it to be reached


@click.command()
@CONFIG
@click.option("-n", "--namesrv", multiple=True, metavar="HOST:PORT", help="A name server; may be repeated.")
@click.option("--host", help="Address to listen on.  [default: 0.0.0.0]")
@click.option("--port", type=PORT, help="0 picks a free one.  [default: 10911]")
@click.option("--store", type=FOLDER, help="Folder of the store.  [default: ~/store]")
@history_option
@history_size_option
@FAST_PORT
@ADVERTISE
@shared_options
@click.pass_context
def broker(
    context: click.Context,
    *,
    config: Path | None,
    namesrv: tuple[str, ...],
    host: str | None,
    port: int | None,
    store: Path | None,
    history: Path | None,
    history_size: int,
    fast_port: str,
    advertise: str | None,
    **options: Unpack[SharedOptions],
) -> None:
    """Run a broker.

    When it serves and every name server that answers knows it, one line is printed:
    `ready broker=HOST:PORT`. SIGINT or SIGTERM stops it cleanly, a second one at once.
    Exit code: 0 after a clean stop, 2 if it cannot serve.
    """
    start_logging(options)
    file = BrokerFile() if config is None else read_broker_file(config)
    plan = BrokerPlan(
        file.port if port is None else port,
        file.settings,
        FastPort(fast_port),
        advertise or file.advertised,
    )
    process = Plan(
        host=host or file.host or HOST,
        store=store or file.store or Path(STORE).expanduser(),
        history=history,
        history_bytes=history_size << 20,
        metrics_port=options["metrics_port"],
        tls=derive_tls(options, file.tls),
        limits=derive_limits(options, file.limits),
    )
    names = read_name_servers(namesrv) or file.settings.name_servers
    declaration = derive_declaration(file.settings)
    context.exit(
        run_plan(
            process,
            lambda: (BrokerRole(process.host, plan, names),),
            lambda opened, now_ms: open_log(opened, declaration, now_ms),
        )
    )
