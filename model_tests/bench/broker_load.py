"""Loads on one or two brokers in turn: rounds alternate, so that both see the same machine."""

import multiprocessing
import statistics
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Final, NamedTuple

import click

from model_tests.bench.broker_server import Server
from model_tests.bench.load_latency import Latencies, run_latency
from model_tests.bench.load_reply import LoadError
from model_tests.bench.load_run import LoadKind, LoadPlan, LoadResult, run_load
from spec.broker.topic import TopicConfig

ROUNDS: Final = 3
WARM_UP_SECONDS: Final = 4.0
"""Of the first round. Most of what the compiler of a Java broker gains, it gains in these."""
RAMP_SECONDS: Final = 0.5
WINDOW_SECONDS: Final = 5.0
LATENCY_WARM_UP_SECONDS: Final = 2.0
LATENCY_WINDOW_SECONDS: Final = 3.0

QUEUES: Final = 8
CONNECTIONS: Final = 4
IN_FLIGHT: Final = {LoadKind.SEND: 64, LoadKind.BATCH: 8, LoadKind.PULL: QUEUES // CONNECTIONS}
"""Requests that a connection has under way. Of a queue, a consumer has one pull under way."""
TOPICS: Final = {LoadKind.SEND: "BenchSingle", LoadKind.BATCH: "BenchBatch", LoadKind.PULL: "BenchBatch"}
"""What is pulled is the backlog that the batches left."""

BUSY_LIMIT: Final = 0.9
STORED_LIMIT_SECONDS: Final = 30.0
STORED_POLL_SECONDS: Final = 0.1


class Rate(NamedTuple):
    """Messages a second of one broker, round by round."""

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The figure."""
        return statistics.median(self.rounds)

    def derive_ratio(self, base: "Rate") -> float:
        """The median of this rate's share of the base's, each taken in one round."""
        return statistics.median(mine / other for mine, other in zip(self.rounds, base.rounds, strict=True))


class LoadGenerator:
    """A process of its own that loads brokers and knows how many messages each of them owes."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool: Final = pool
        self._stored: dict[tuple[int, str], int] = {}

    def prepare(self, server: Server) -> None:
        """The broker has the topics, which are empty."""
        with server.connect() as client:
            for topic in set(TOPICS.values()):
                client.create_topic(TopicConfig(topic, QUEUES, QUEUES))
                self._stored[server.port, topic] = 0

    def measure_rates(self, kind: LoadKind, servers: Sequence[Server]) -> tuple[Rate, ...]:
        """The rate of each broker under the load."""
        rounds: list[list[LoadResult]] = [[] for _ in servers]
        for number in range(ROUNDS):
            for server, results in zip(servers, rounds, strict=True):
                results.append(self._run(kind, server, RAMP_SECONDS if number else WARM_UP_SECONDS))
        for server, results in zip(servers, rounds, strict=True):
            _tell_rates(kind, server, results)
        return tuple(Rate(tuple(result.rates[0] for result in results)) for results in rounds)

    def measure_latencies(self, servers: Sequence[Server]) -> tuple[float, ...]:
        """The 99th percentile of each broker in milliseconds: the median over the rounds."""
        rounds: list[list[Latencies]] = [[] for _ in servers]
        for number in range(ROUNDS):
            for server, results in zip(servers, rounds, strict=True):
                results.append(self._run_latency(server, RAMP_SECONDS if number else LATENCY_WARM_UP_SECONDS))
        for server, results in zip(servers, rounds, strict=True):
            _tell_latencies(server, results)
        return tuple(statistics.median(result.p99_ms for result in results) for results in rounds)

    def _run(self, kind: LoadKind, server: Server, warm_up_seconds: float) -> LoadResult:
        topic = TOPICS[kind]
        ends = tuple(_read_ends(server, topic))
        sizes = (CONNECTIONS, IN_FLIGHT[kind])
        plan = LoadPlan(kind, topic, ends, *sizes, warm_up_seconds, WINDOW_SECONDS, 1)
        result = self._pool.submit(run_load, plan, server.port).result()
        if kind is not LoadKind.PULL:
            self._check_stored(server, topic, result.messages)
        return result

    def _run_latency(self, server: Server, warm_up_seconds: float) -> Latencies:
        topic = TOPICS[LoadKind.SEND]
        arguments = (topic, QUEUES, warm_up_seconds, LATENCY_WINDOW_SECONDS, server.port)
        result = self._pool.submit(run_latency, *arguments).result()
        self._check_stored(server, topic, result.messages)
        return result

    def _check_stored(self, server: Server, topic: str, added: int) -> None:
        """The queues grew by as many messages as the broker said that it stored."""
        expected = self._stored[server.port, topic] + added
        until = time.monotonic() + STORED_LIMIT_SECONDS
        while (found := sum(_read_ends(server, topic))) != expected:
            if found > expected or time.monotonic() > until:
                raise LoadError(f"{server.name} has {found} messages of {topic}, expected {expected}")
            time.sleep(STORED_POLL_SECONDS)
        self._stored[server.port, topic] = expected


@contextmanager
def start_generator() -> Iterator[LoadGenerator]:
    """A generator whose process ends with the block."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        yield LoadGenerator(pool)


def _read_ends(server: Server, topic: str) -> list[int]:
    with server.connect() as client:
        return [client.bounds(topic, queue_id)[1] for queue_id in range(QUEUES)]


def _tell_rates(kind: LoadKind, server: Server, results: Sequence[LoadResult]) -> None:
    rates = ", ".join(f"{result.rates[0]:,.0f}" for result in results)
    cost_us = statistics.median(result.cost_us for result in results)
    busy = max(result.busy_share for result in results)
    click.echo(
        f"  {kind.value}, {server.name}: {rates} messages/s;"
        f" the generator took {cost_us:.1f} us a message and was {busy:.0%} busy",
        err=True,
    )
    if busy > BUSY_LIMIT:
        click.echo("  the generator was the bottleneck: the broker can do more than this figure", err=True)


def _tell_latencies(server: Server, results: Sequence[Latencies]) -> None:
    for result in results:
        click.echo(
            f"  one at a time, {server.name}: {result.watched} sends, median {result.median_ms:.2f} ms,"
            f" p99 {result.p99_ms:.2f} ms, longest {result.highest_ms:.1f} ms",
            err=True,
        )
