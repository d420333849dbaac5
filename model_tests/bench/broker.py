"""The figures of the broker: client and server on one machine, bodies of 1 KiB.

The same generator loads the reference and, in the same minutes, an Apache broker. Where Apache cannot be
had the ratio is left out, and a line says why. Every request must succeed, every pull must bring what the
queue holds, and what a broker acknowledged must stand in its queues; otherwise there is no figure.
"""

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from model_tests.bench.broker_idle import (
    IDLE_CONNECTIONS,
    SETTLE_SECONDS,
    TooFewFilesError,
    hold_connections,
    raise_file_limit,
)
from model_tests.bench.broker_load import start_generator
from model_tests.bench.broker_server import Server, serve_apache, serve_reference
from model_tests.bench.figure import Figure
from model_tests.bench.load_run import LoadKind
from model_tests.interop.artifact import InconclusiveError, Jars, resolve_apache


def _find_apache() -> Jars | None:
    try:
        return resolve_apache()
    except InconclusiveError as reason:
        click.echo(f"  no ratio to Apache: {reason}", err=True)
        return None


@contextmanager
def _serve_both() -> Iterator[tuple[Server, ...]]:
    """The reference runs, and Apache if it can be had."""
    jars = _find_apache()
    with tempfile.TemporaryDirectory(prefix="mqspec-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        servers = [stack.enter_context(serve_reference(folder / "reference"))]
        if jars is not None:
            servers.append(stack.enter_context(serve_apache(jars, folder / "apache")))
        yield tuple(servers)


def measure_broker_load() -> tuple[Figure, ...]:
    """Sends, batches and pulls a second, and how long one send takes."""
    with _serve_both() as servers, start_generator() as generator:
        for server in servers:
            generator.prepare(server)
        sends = generator.measure_rates(LoadKind.SEND, servers)
        batches = generator.measure_rates(LoadKind.BATCH, servers)
        pulls = generator.measure_rates(LoadKind.PULL, servers)
        latencies = generator.measure_latencies(servers)
    figures = [Figure("broker: pipelined send, 1 KiB", sends[0].median, "messages/s", 12_000)]
    for server, apache in zip(servers[1:], sends[1:], strict=True):
        ratio = sends[0].derive_ratio(apache)
        figures.append(Figure(f"broker: pipelined send / {server.name}", ratio, "x", 0.6))
    return (
        *figures,
        Figure("broker: batched send, 32 a batch", batches[0].median, "messages/s", 60_000),
        Figure("broker: pull of a backlog, 32 a pull", pulls[0].median, "messages/s", 100_000),
        Figure("broker: p99 of one send at a time", latencies[0], "ms", 3, smaller_is_better=True),
    )


def _measure_connections(server: Server) -> Figure:
    with hold_connections(server):
        resident = server.read_resident_mib()
    name = f"broker: resident memory, {IDLE_CONNECTIONS:,} idle connections"
    return Figure(name, resident, "MiB", 250, smaller_is_better=True)


def measure_broker_memory() -> tuple[Figure, ...]:
    """The memory of a broker that was just started, and of one with many connections."""
    refusal = None
    try:
        raise_file_limit()
    except TooFewFilesError as reason:
        refusal = reason
    with tempfile.TemporaryDirectory(prefix="mqspec-bench-") as name, serve_reference(Path(name)) as server:
        time.sleep(SETTLE_SECONDS)
        resident = server.read_resident_mib()
        idle = Figure("broker: resident memory after start", resident, "MiB", 80, smaller_is_better=True)
        if refusal is not None:
            click.echo(f"  no figure of {IDLE_CONNECTIONS:,} idle connections: {refusal}", err=True)
            return (idle,)
        return idle, _measure_connections(server)
