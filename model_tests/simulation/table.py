"""A table in a JSON file on a simulated disk: which contents it may have."""

from refimpl.ports import DiskError
from refimpl.simulated.disk import SimulatedDisk
from refimpl.store.config_store import ConfigStore
from spec.layout.config.config_file import CONSUMER_OFFSETS
from spec.layout.safe_write import WriteOrder
from spec.values.units import QueueId, QueueOffset
from spec.wire.body.offset import ConsumerOffsetTable


def table_of(offset: int) -> ConsumerOffsetTable:
    """Long enough to cover two sectors."""
    return ConsumerOffsetTable(
        {f"Topic-{number}@G": {QueueId(0): QueueOffset(offset)} for number in range(30)}
    )


class ConfigLedger:
    """What was saved last, and what may have been saved by attempts that failed since."""

    def __init__(self, disk: SimulatedDisk, order: WriteOrder = WriteOrder.REFERENCE) -> None:
        self.disk = disk
        self._order = order
        self.possible: list[ConsumerOffsetTable | None] = [None]

    def save(self, offset: int) -> None:
        table = table_of(offset)
        self.possible.append(table)
        try:
            ConfigStore(self.disk, order=self._order).save(CONSUMER_OFFSETS, table)
        except DiskError:
            return
        self.possible = [table]

    def check(self, disk: SimulatedDisk | None = None) -> None:
        """What is loaded was saved last, or later by an attempt that failed."""
        loaded = ConfigStore(disk or self.disk).load(CONSUMER_OFFSETS).value
        assert loaded in self.possible, f"loaded is {loaded}, saved was one of {self.possible}"
