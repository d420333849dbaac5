"""A name server: a core that brokers report to and that clients and administrators ask.

Several of them are several cores that know nothing of each other. Routes are kept in memory alone: after
a restart they come back with the next registrations. Only the key-value table is on disk.
"""

from refimpl.history_log import HistoryLog
from refimpl.nameserver.configuration import Configuration
from refimpl.nameserver.configuration_desk import ConfigurationDesk
from refimpl.nameserver.key_value_desk import KeyValueDesk
from refimpl.nameserver.key_value_table import KeyValueTable
from refimpl.nameserver.list_desk import ListDesk
from refimpl.nameserver.recorder import Recorder
from refimpl.nameserver.registration_desk import RegistrationDesk
from refimpl.nameserver.registry import Registry
from refimpl.nameserver.route_desk import RouteDesk
from refimpl.nameserver.settings import NameServerSettings
from refimpl.ports import Disk
from refimpl.remoting.server import ServerCore
from refimpl.store.config_store import ConfigStore
from spec.override import override


class NameServer(ServerCore):
    """One name server. Refuses to start over a key-value table that is there and cannot be read."""

    def __init__(
        self, settings: NameServerSettings, disk: Disk, now_ms: int, history: HistoryLog | None = None
    ) -> None:
        super().__init__(now_ms)
        self.is_silent_on_unknown = settings.is_silent_on_unknown
        configuration = Configuration(settings)
        key_values = KeyValueTable(settings.folder, ConfigStore(disk, settings.folder), self.note)
        self._recorder = Recorder(history, settings.node)
        self._registry = Registry(configuration, self._recorder, self.note)
        for desk in (
            KeyValueDesk(key_values, configuration),
            RegistrationDesk(self._registry, key_values, configuration),
            RouteDesk(self._registry, key_values, configuration),
            ListDesk(self._registry),
            ConfigurationDesk(configuration, self.note),
        ):
            self.serve(desk.handlers())
        self.agenda.every(now_ms + settings.first_scan_ms, settings.scan_ms, self._scan)
        self._recorder.start(now_ms)

    @property
    def broker_count(self) -> int:
        """How many broker processes are registered."""
        return self._registry.brokers.count

    @property
    def topic_count(self) -> int:
        """How many topics there are, each counted for each broker name that has it."""
        return self._registry.routes.count

    @override
    def on_close(self, connection: int, now_ms: int) -> None:
        super().on_close(connection, now_ms)
        self._registry.drop_connection(connection, now_ms)

    def _scan(self, now_ms: int) -> None:
        """Silent brokers are dropped, and their connections with them.

        Clause: nameserver.liveness.expiry-is-strict
        """
        silent = self._registry.drop_silent(now_ms)
        for connection in dict.fromkeys(broker.connection for broker in silent):
            # Another broker may be heard over the same connection.
            if not self._registry.brokers.on_connection(connection):
                self.close(connection, "the broker was silent for too long")

    def stop(self, now_ms: int) -> None:
        """The name server has ended; everything that outlives it is on disk already."""
        self._recorder.stop(now_ms)
