"""The number by which a peer says which release it behaves like.

Apache numbers its releases by their place in one list: first the snapshot, then the release, so
4.9.3 is 399 and its snapshot 398. The number is not decoration. Receivers branch on it: a sender
that reports too small a number loses its retry limit, one that reports 401 or more gets route
data in another form. The thresholds below are all that this specification depends on.
"""

from enum import IntEnum
from typing import Final


class Version(IntEnum):
    """Releases whose numbers are known, by Apache's `MQVersion`."""

    V3_0_7 = 29
    V3_0_11 = 37
    V3_1_8 = 63
    V3_4_9 = 121
    V4_0_0 = 213
    V4_1_0 = 233
    V4_9_2 = 397
    V4_9_3 = 399
    V4_9_4 = 401
    V4_9_5 = 403
    V4_9_6 = 405
    V4_9_7 = 407
    V4_9_8 = 409
    V5_0_0 = 413
    V5_3_1 = 475
    V5_3_3 = 479


REFERENCE_VERSION: Final = Version.V4_9_3
"""What this reference reports: the release whose behaviour it follows."""

_NAMES: Final = {int(version): version.name for version in Version}


def derive_version_name(number: int) -> str | None:
    """The release's name, with `_SNAPSHOT` for the number just before it; None if not known.

    Clause: wire.version.two-numbers-a-release
    """
    if number in _NAMES:
        return _NAMES[number]
    release = _NAMES.get(number + 1)
    return None if release is None else release + "_SNAPSHOT"


def is_retry_limit_honoured(sender_version: int) -> bool:
    """Whether a broker reads `maxReconsumeTimes` from this sender's requests.

    Clause: wire.version.retry-limit
    """
    return sender_version >= Version.V3_4_9


def is_register_body_complete(sender_version: int) -> bool:
    """Whether a name server reads the register body as a whole, not as a bare topic table.

    Clause: wire.version.register-body
    """
    return sender_version >= Version.V3_0_11


def is_offset_reset_possible(consumer_version: int) -> bool:
    """Whether a broker asks this consumer to reset its offsets or to report them.

    Clause: wire.version.consumer-operations
    """
    return consumer_version >= Version.V3_0_7 - 1


def is_running_info_possible(consumer_version: int) -> bool:
    """Whether a broker asks this consumer for its running state or to consume one message.

    Clause: wire.version.consumer-operations
    """
    return consumer_version >= Version.V3_1_8 - 1


def is_sql_filter_possible(broker_version: int) -> bool:
    """Whether a client may pull with an SQL92 expression from this broker.

    Clause: wire.version.sql-filter
    """
    return broker_version >= Version.V4_1_0 - 1


def is_route_json_standard(sender_version: int) -> bool:
    """Whether a name server of 4.9.4 or later answers this sender's route request in standard JSON.

    Clause: wire.version.standard-route-json
    """
    return sender_version >= Version.V4_9_4


def is_go_away_understood(sender_version: int) -> bool:
    """Whether a 5.3.3 server that shuts down tells this sender to go away.

    Clause: wire.version.go-away
    """
    return sender_version > Version.V5_3_1
