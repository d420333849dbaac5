"""Brokers and routes kept in step: what registers, says farewell, falls silent or is cut off."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from refimpl.effect import Severity
from refimpl.nameserver.broker_table import BrokerTable, LiveBroker
from refimpl.nameserver.configuration import Configuration
from refimpl.nameserver.recorder import Forgotten, Recorder
from refimpl.nameserver.route_table import RouteTable
from spec.broker.topic import DataVersion, TopicConfig
from spec.nameserver.registration import MASTER_ID, is_topic_update, is_version_changed


class Registration(NamedTuple):
    """What a broker says of itself."""

    broker: LiveBroker
    topics: Mapping[str, TopicConfig]


class Registry:
    """The brokers and the routes of one name server."""

    def __init__(
        self, configuration: Configuration, recorder: Recorder, note: Callable[[Severity, str], None]
    ) -> None:
        self._configuration = configuration
        self._recorder = recorder
        self._note = note
        self.brokers = BrokerTable()
        self.routes = RouteTable()

    def refusal(self, registration: Registration) -> str | None:
        """Why there is no room for the registration; None when there is."""
        settings = self._configuration.settings
        broker, topics = registration
        is_new = self.brokers.find(*broker.key) is None
        if is_new and self.brokers.count >= settings.broker_limit:
            return (
                f"{settings.broker_limit} brokers are registered (brokerLimit): no room for {broker.address}"
            )
        if self._is_update(broker):
            count = self.routes.count + self.routes.count_new(broker.name, topics)
            if count > settings.topic_limit:
                return f"{broker.name} would bring {count} topics, over {settings.topic_limit} (topicLimit)"
        return None

    def register(self, registration: Registration) -> None:
        """The broker is registered, and a master's topics are in the routes.

        Clauses: nameserver.registration.master-speaks-for-topics, nameserver.registration.version-decides
        """
        broker, topics = registration
        is_update = self._is_update(broker)
        is_new = self.brokers.find(*broker.key) is None
        for other in self.brokers.put(broker):
            cause = Forgotten.MOVED if other.address == broker.address else Forgotten.REPLACED
            self._ended(other, cause, broker.heard_at_ms)
        if is_update:
            self.routes.merge(broker.name, topics)
        if is_new:
            self._note(Severity.INFO, f"{_describe(broker)} has registered")
        name, broker_id, address = broker.name, broker.broker_id, broker.address
        self._recorder.register(name, broker_id, address, broker.version.counter, broker.heard_at_ms)

    def _is_update(self, broker: LiveBroker) -> bool:
        known = self.brokers.find(*broker.key)
        was_master = known is not None and known.broker_id == MASTER_ID
        return is_topic_update(
            broker.broker_id, known.version if known and was_master else None, broker.version
        )

    def is_changed(self, name: str, address: str, version: DataVersion, now_ms: int) -> bool:
        """Whether the broker should register; one that need not has been heard of now.

        Clause: nameserver.registration.version-query
        """
        known = self.brokers.find(name, address)
        if known is None or is_version_changed(known.version, version):
            return True
        self.brokers.touch(known, now_ms)
        return False

    def farewell(self, name: str, broker_id: int, address: str, now_ms: int) -> None:
        """The broker that says farewell is gone; one that is not registered so changes nothing.

        Clause: nameserver.registration.farewell-removes-itself
        """
        is_fenced = self._configuration.settings.is_farewell_fenced
        removed = self.brokers.farewell(name, broker_id, address, is_fenced=is_fenced)
        if removed is not None:
            self._end_name_if_empty(name)
            self._note(Severity.INFO, f"{_describe(removed)} has left")
        is_done = removed is not None
        cause = Forgotten.FAREWELL
        self._recorder.unregister(name, broker_id, address, now_ms, cause=cause, is_done=is_done)

    def drop_connection(self, connection: int, now_ms: int) -> None:
        """The brokers that were last heard over the connection are gone.

        Clause: nameserver.liveness.close-drops-at-once
        """
        for broker in self.brokers.on_connection(connection):
            self._drop(broker, Forgotten.CLOSED, now_ms)

    def drop_silent(self, now_ms: int) -> tuple[LiveBroker, ...]:
        """The brokers that have been silent for too long; they are gone now.

        Clause: nameserver.liveness.expiry-is-strict
        """
        silent = self.brokers.silent(now_ms, self._configuration.settings.expiry_ms)
        for broker in silent:
            self._drop(broker, Forgotten.EXPIRED, now_ms)
        return silent

    def _drop(self, broker: LiveBroker, cause: Forgotten, now_ms: int) -> None:
        self.brokers.drop(broker)
        self._end_name_if_empty(broker.name)
        self._note(Severity.WARNING, f"{_describe(broker)} is dropped: {cause}")
        self._ended(broker, cause, now_ms)

    def _end_name_if_empty(self, name: str) -> None:
        if name not in self.brokers.entries:
            self.routes.end_name(name)

    def _ended(self, broker: LiveBroker, cause: Forgotten, now_ms: int) -> None:
        name, broker_id, address = broker.name, broker.broker_id, broker.address
        self._recorder.unregister(name, broker_id, address, now_ms, cause=cause, is_done=True)


def _describe(broker: LiveBroker) -> str:
    return f"broker {broker.name} (id {broker.broker_id}, {broker.address}, cluster {broker.cluster})"
