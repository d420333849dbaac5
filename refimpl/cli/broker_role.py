"""A broker as part of a process."""

import asyncio
import logging
import random
from dataclasses import replace
from functools import partial
from typing import Final

from refimpl.broker.broker import Broker
from refimpl.broker.broker_metric import iter_metrics
from refimpl.cli.plan import BrokerPlan, FastPort
from refimpl.cli.role import CannotRunError, Ground
from refimpl.ports import DiskError
from refimpl.real.event_log import ROOT, tell
from refimpl.real.local_zone import LocalZone
from refimpl.real.node import Node
from refimpl.real.port import Port, PortError, derive_advertised
from refimpl.real.service import Service
from refimpl.real.stop import Stop
from spec.rejection import Rejection
from spec.values.host import host_of
from spec.wire.connection import derive_fast_port, is_broker_port_legal

REGISTER_SECONDS: Final = 5.0
"""How long a start waits for name servers that do not answer; a decision."""
_POLL_SECONDS: Final = 0.005

_LOGGER: Final = logging.getLogger(f"{ROOT}.broker")


class BrokerRole:
    """The broker, its ports and its store."""

    name = "broker"

    def __init__(self, host: str, plan: BrokerPlan, name_servers: tuple[str, ...]) -> None:
        self._port = Port(host, plan.port)
        self._fast_port = _bind_fast(self._port, plan)
        address = plan.advertised or derive_advertised(self._port.address)
        self._settings = replace(
            plan.settings,
            host=host_of(address, self._port.number),
            name_servers=name_servers,
        )
        self._running: tuple[Service, Node, Broker] | None = None

    @property
    def address(self) -> str:
        """Where clients are told to reach it."""
        return str(self._settings.host)

    async def start(self, ground: Ground) -> None:
        """It serves, and is about to be known."""
        service = ground.service
        now_ms = service.process.clock.now_ms()
        try:
            core = Broker(
                self._settings,
                ground.disk,
                random.Random(),  # noqa: S311 - it chooses queues, not secrets
                now_ms,
                history=ground.history,
                zone=LocalZone(),
            )
        except (DiskError, Rejection) as error:
            raise CannotRunError(f"cannot open the store {ground.store_name}: {error}") from error
        node = service.add(self.name, core, partial(iter_metrics, core))
        self._running = service, node, core
        await service.serve(node, self._port)
        if self._fast_port is not None:
            await service.serve(node, self._fast_port, is_fast=True)
        core.start(service.process.clock.now_ms())
        node.ask_turn()

    async def wait_ready(self, stop: Stop) -> None:
        """The name servers know it; one that cannot be reached is told of and not waited for."""
        if self._running is None or not self._settings.name_servers:
            return
        _, _, core = self._running
        loop = asyncio.get_running_loop()
        until = loop.time() + REGISTER_SECONDS
        # The broker does not know that somebody waits, and need not.
        while not (core.is_registered or stop.is_asked) and loop.time() < until:  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)
        if not core.is_registered and not stop.is_asked:
            tell(_LOGGER, logging.WARNING, "not registered yet: no name server answers, trying on")

    async def stop(self) -> str | None:
        """Name servers know that it is gone, and its store is closed."""
        if self._running is None:
            return None
        service, node, core = self._running
        core.stop(service.process.clock.now_ms())
        await service.close(node, lambda: core.is_stopped)
        error = core.shut(service.process.clock.now_ms())
        return None if error is None else f"the store could not be closed cleanly: {error}"

    def release(self) -> None:
        """Its ports are free."""
        self._port.close()
        if self._fast_port is not None:
            self._fast_port.close()


def _bind_fast(port: Port, plan: BrokerPlan) -> Port | None:
    """The second port; None if it is not wanted, or not to be had and not insisted on."""
    is_legal = is_broker_port_legal(port.number)
    match plan.fast_port:
        case FastPort.OFF:
            return None
        case FastPort.ON:
            if not is_legal:
                raise PortError(f"a broker on port {port.number} has no second port")
            return Port(port.address, derive_fast_port(port.number))
        case FastPort.AUTO:
            if plan.port == 0 or not is_legal:
                return None
            try:
                return Port(port.address, derive_fast_port(port.number))
            except PortError as error:
                tell(_LOGGER, logging.INFO, "no second port", reason=error)
                return None
