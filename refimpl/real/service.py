"""The roles of one process from their first peer to their last.

Roles are added when their cores exist, served when they are ready, and taken down in the opposite
order: whoever was started first may be needed by the others until they have ended.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from refimpl.metric import Metric, MetricKind
from refimpl.real.event_log import ROOT, tell
from refimpl.real.history_file import HistoryFile
from refimpl.real.metric_port import MetricPeer
from refimpl.real.node import Node
from refimpl.real.port import Port
from refimpl.real.process import Process
from refimpl.real.sweep import Sweep
from refimpl.real.tls import PLAIN, Tls
from refimpl.remoting.server import ServerCore

DRAIN_SECONDS: Final = 3.0
"""How long a stop waits for syncs, for answers and for peers; a decision."""
_POLL_SECONDS: Final = 0.005

_LOGGER: Final = logging.getLogger(f"{ROOT}.service")


class Service:
    """Nodes, their ports, and what looks after them."""

    def __init__(self, process: Process, history: HistoryFile | None = None, tls: Tls = PLAIN) -> None:
        self.process = process
        self.nodes: list[Node] = []
        self._history = history
        self._tls = tls
        self._ports: dict[Node, list[Port]] = {}
        self._sweep = Sweep(process, self.nodes)
        self._sweep.start()
        self._metrics: list[Callable[[], Iterable[Metric]]] = []
        self._metric_peers: set[MetricPeer] = set()
        self._metric_port: Port | None = None

    def add(self, name: str, core: ServerCore, metrics: Callable[[], Iterable[Metric]] | None = None) -> Node:
        """The core runs: its timers, tasks and connections are taken care of."""
        before = None if self._history is None else self._flush_history
        node = Node(name, core, self.process, tls=self._tls, before_effects=before)
        self.nodes.append(node)
        self._ports[node] = []
        if metrics is not None:
            self._metrics.append(metrics)
        node.ask_turn()
        return node

    async def serve(self, node: Node, port: Port, *, is_fast: bool = False) -> None:
        """Whoever connects to the port is a peer of the node."""
        self._ports[node].append(port)
        await port.serve(node, is_fast=is_fast)
        tell(_LOGGER, logging.INFO, "serving", role=node.traffic.part, host=port.address, port=port.number)

    async def serve_metrics(self, port: Port) -> None:
        """Whoever connects to the port reads the metrics."""
        self._metric_port = port
        await port.serve_with(lambda: MetricPeer(self.metrics, self._metric_peers))
        tell(_LOGGER, logging.INFO, "serving", role="metrics", host=port.address, port=port.number)

    def metrics(self) -> Iterator[Metric]:
        """Those of all nodes, and of the process."""
        for node in self.nodes:
            yield from node.traffic.metrics()
        for metrics in self._metrics:
            yield from metrics()
        held = self.process.held_bytes
        text = "Bytes that were read and not yet handled."
        yield Metric("mqspec_held_bytes", text, MetricKind.GAUGE, held)

    async def close(self, node: Node, is_stopped: Callable[[], bool] = lambda: True) -> None:
        """The node has no ports, no tasks and no connections; its core, told to stop before, has."""
        for port in self._ports.pop(node):
            port.close()
        node.ask_turn()
        await _wait(lambda: node.is_quiet and is_stopped())
        node.close_all("the server stops")
        await _wait(lambda: not node.connections)
        node.end()
        if not node.is_quiet:
            tell(_LOGGER, logging.WARNING, "stopped without waiting any longer", role=node.traffic.part)

    def end(self) -> None:
        """Nothing of the process runs any more."""
        self._sweep.stop()
        if self._metric_port is not None:
            self._metric_port.close()
        self._flush_history()
        self.process.close()

    def _flush_history(self) -> None:
        """What was recorded is in the file before anybody hears of it."""
        if self._history is not None and (failure := self._history.flush()) is not None:
            tell(_LOGGER, logging.ERROR, "the history ends here", reason=failure)


async def _wait(is_done: Callable[[], bool]) -> None:
    """It is done, or the time is over."""
    loop = asyncio.get_running_loop()
    until = loop.time() + DRAIN_SECONDS
    # What is waited for is the end of several things, none of which knows that it is waited for.
    while not is_done() and loop.time() < until:  # noqa: ASYNC110
        await asyncio.sleep(_POLL_SECONDS)
