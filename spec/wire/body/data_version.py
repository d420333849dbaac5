"""A data version: which edition of a broker's configuration something describes."""

from spec.values.units import Milliseconds
from spec.wire.body.record import JsonRecord, json_record
from spec.wire.literal import Long


@json_record
class DataVersion(JsonRecord):
    """When the configuration was last changed, and how often; `state_version` is of 5.x."""

    counter: Long = 0
    timestamp: Milliseconds = Milliseconds(0)
    state_version: Long | None = None
