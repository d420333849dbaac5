"""The rooms of a broker that administrators come to: Apache's AdminBrokerProcessor."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from refimpl.broker.config_desk import ConfigDesk
from refimpl.broker.filter_server_desk import FilterServerDesk
from refimpl.broker.group_desk import GroupDesk
from refimpl.broker.offset_desk import OffsetDesk
from refimpl.broker.parts import BrokerParts
from refimpl.broker.producer_registry import ProducerRegistry
from refimpl.broker.progress_desk import ProgressDesk
from refimpl.broker.queue_desk import QueueDesk
from refimpl.broker.relay_desk import RelayDesk
from refimpl.broker.reset_desk import ResetDesk
from refimpl.broker.runtime_desk import DelayProgress, RuntimeDesk
from refimpl.broker.topic_desk import TopicDesk
from refimpl.remoting.outward import Call, Push
from refimpl.remoting.request import Handler
from spec.values.host import Host
from spec.wire.body.offset import DelayOffsetTable


class Doors(NamedTuple):
    """What administration needs of the rest of its broker."""

    producers: ProducerRegistry
    delay_table: Callable[[], DelayOffsetTable]
    """The cursors of delayed messages as they are saved."""
    delay_progress: DelayProgress
    on_permission: Callable[[int], None]
    """Hears, with the time, that the broker has to register anew."""
    push: Push
    call: Call
    peers: Mapping[int, Host]
    """The connections that are open."""


class Administration:
    """All of them."""

    def __init__(self, parts: BrokerParts, doors: Doors, now_ms: int) -> None:
        self.filter_servers = FilterServerDesk(parts)
        self._desks = (
            TopicDesk(parts),
            QueueDesk(parts),
            GroupDesk(parts, doors.producers),
            OffsetDesk(parts),
            ResetDesk(parts, doors.push, doors.call),
            ProgressDesk(parts),
            RelayDesk(parts, doors.call, doors.peers),
            ConfigDesk(parts, doors.delay_table, doors.on_permission, now_ms),
            RuntimeDesk(parts, doors.delay_progress),
            self.filter_servers,
        )

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return dict(self._iter_handlers())

    def _iter_handlers(self) -> Iterator[tuple[int, Handler]]:
        for desk in self._desks:
            yield from desk.handlers().items()
