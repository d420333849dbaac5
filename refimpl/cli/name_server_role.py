"""A name server as part of a process."""

from refimpl.cli.role import CannotRunError, Ground
from refimpl.nameserver.name_server import NameServer
from refimpl.nameserver.settings import NameServerSettings
from refimpl.ports import DiskError
from refimpl.real.node import Node
from refimpl.real.port import Port, derive_reachable, join_address
from refimpl.real.service import Service
from refimpl.real.stop import Stop
from spec.layout.directory import LOCK_CONTENT, LOCK_FILE
from spec.rejection import Rejection


class NameServerRole:
    """The name server, its port and its folder."""

    name = "namesrv"

    def __init__(self, host: str, port: int, settings: NameServerSettings) -> None:
        self._settings = settings
        self._port = Port(host, port)
        self._running: tuple[Service, Node, NameServer] | None = None

    @property
    def address(self) -> str:
        """Where this machine reaches it."""
        return join_address(derive_reachable(self._port.address), self._port.number)

    async def start(self, ground: Ground) -> None:
        """It serves."""
        now_ms = ground.service.process.clock.now_ms()
        try:
            ground.disk.lock(f"{self._settings.folder}/{LOCK_FILE}", LOCK_CONTENT)
            core = NameServer(self._settings, ground.disk, now_ms, ground.history)
        except (DiskError, Rejection) as error:
            raise CannotRunError(f"cannot use {ground.store_name}: {error}") from error
        node = ground.service.add(self.name, core)
        self._running = ground.service, node, core
        await ground.service.serve(node, self._port)

    async def wait_ready(self, stop: Stop) -> None:
        """It is ready as soon as it serves."""

    async def stop(self) -> str | None:
        """It has ended; it has nothing to write."""
        if self._running is not None:
            service, node, core = self._running
            core.stop(service.process.clock.now_ms())
            await service.close(node)
        return None

    def release(self) -> None:
        """Its port is free."""
        self._port.close()
