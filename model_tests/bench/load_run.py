"""One run of the load generator: warm up, watch windows of time, wait for the last answers."""

import asyncio
import gc
import time
from collections.abc import Sequence
from enum import Enum
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

import uvloop

from model_tests.bench.load_connection import LoadConnection
from model_tests.bench.load_reply import LoadError
from model_tests.bench.load_work import PullWork, Work, send_batches, send_singly

DRAIN_LIMIT_SECONDS: Final = 30.0
DRAIN_POLL_SECONDS: Final = 0.01


class LoadKind(Enum):
    """What the connections ask for."""

    SEND = "send"
    BATCH = "batched send"
    PULL = "pull"


class LoadPlan(NamedTuple):
    """A load, and how long it is watched."""

    kind: LoadKind
    topic: str
    queue_ends: tuple[int, ...]
    """The offset behind the last message of each queue; the length says how many queues there are."""
    connections: int
    in_flight: int
    warm_up_seconds: float
    window_seconds: float
    windows: int


class LoadResult(NamedTuple):
    """What a run measured."""

    rates: tuple[float, ...]
    """Messages a second, in each window."""
    messages: int
    """Messages that were answered for in the whole run."""
    busy_share: float
    """The generator's own processor time, as a share of the windows' time."""
    cost_us: float
    """The generator's own processor time for one message."""


class _Sample(NamedTuple):
    at: float
    spent: float
    messages: int


def _share_queues(plan: LoadPlan, connection: int) -> list[int]:
    """The queues of one connection; every queue is somebody's, and with few queues they are shared."""
    queues = range(len(plan.queue_ends))
    return list(queues[connection % len(queues) :: plan.connections])


def _make_work(plan: LoadPlan, connection: int) -> Work:
    queue_ids = _share_queues(plan, connection)
    match plan.kind:
        case LoadKind.SEND:
            return send_singly(plan.topic, queue_ids, connection)
        case LoadKind.BATCH:
            return send_batches(plan.topic, queue_ids, connection)
        case LoadKind.PULL:
            return PullWork(plan.topic, [(queue_id, plan.queue_ends[queue_id]) for queue_id in queue_ids])


async def _wait(seconds: float, failure: asyncio.Future[None]) -> None:
    """The time has passed, and nothing failed meanwhile."""
    await asyncio.wait([failure], timeout=seconds)
    if failure.done():
        failure.result()


async def _drain(connections: Sequence[LoadConnection], failure: asyncio.Future[None]) -> None:
    """Every request has its answer."""
    for connection in connections:
        connection.end()
    until = time.monotonic() + DRAIN_LIMIT_SECONDS
    while any(connection.waiting for connection in connections):
        if time.monotonic() > until:
            waiting = sum(connection.waiting for connection in connections)
            raise LoadError(f"{waiting} requests have no answer after {DRAIN_LIMIT_SECONDS} s")
        await _wait(DRAIN_POLL_SECONDS, failure)


async def _watch(plan: LoadPlan, port: int) -> LoadResult:
    loop = asyncio.get_running_loop()
    failure: asyncio.Future[None] = loop.create_future()
    connections: list[LoadConnection] = []

    def sample() -> _Sample:
        messages = sum(connection.messages for connection in connections)
        return _Sample(time.perf_counter(), time.process_time(), messages)

    try:
        for number in range(plan.connections):
            make = partial(LoadConnection, _make_work(plan, number), plan.in_flight, failure)
            transport, connection = await loop.create_connection(make, "127.0.0.1", port)
            connections.append(connection)
            connection.start(transport)
        await _wait(plan.warm_up_seconds, failure)
        samples = [sample()]
        for _ in range(plan.windows):
            await _wait(plan.window_seconds, failure)
            samples.append(sample())
        await _drain(connections, failure)
    finally:
        for connection in connections:
            connection.end()
            connection.close()
    return _derive_result(samples, sample().messages)


def _derive_result(samples: Sequence[_Sample], messages: int) -> LoadResult:
    """The figures of the windows; one without a single answer is no measurement."""
    pairs = list(pairwise(samples))
    if any(after.messages == before.messages for before, after in pairs):
        raise LoadError("a window passed without an answer")
    rates = tuple((after.messages - before.messages) / (after.at - before.at) for before, after in pairs)
    spent = samples[-1].spent - samples[0].spent
    return LoadResult(
        rates,
        messages,
        spent / (samples[-1].at - samples[0].at),
        spent / (samples[-1].messages - samples[0].messages) * 1e6,
    )


def run_load(plan: LoadPlan, port: int) -> LoadResult:
    """The broker on the port was loaded as planned; any request that failed fails the run."""
    # Nothing made here forms cycles; a collection would only look like a slow broker.
    gc.disable()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_watch(plan, port))
