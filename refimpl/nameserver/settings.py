"""What a name server is configured with; the defaults are Apache's unless a decision says otherwise."""

from dataclasses import dataclass

from spec.nameserver.liveness import EXPIRY_MS, FIRST_SCAN_MS, SCAN_MS
from spec.wire.frame import FRAME_LIMIT


@dataclass(frozen=True, slots=True)
class NameServerSettings:
    """One name server."""

    node: str = "name-server"
    """What it is called in histories; several of them need several names."""
    folder: str = "namesrv"
    """Where on its disk the key-value table is."""

    is_order_message_enabled: bool = False
    """Whether routes tell the order configuration of their topic (`orderMessageEnable`)."""
    is_silent_on_unknown: bool = False
    """Whether unknown codes are not answered, as by 4.9."""
    is_farewell_fenced: bool = True
    """Whether a farewell removes its own address only; 4.9 removes whatever stands under the id."""

    expiry_ms: int = EXPIRY_MS
    first_scan_ms: int = FIRST_SCAN_MS
    scan_ms: int = SCAN_MS

    # Apache has none of the limits below. Anybody may register, so each of them is a decision.
    registration_limit: int = FRAME_LIMIT
    """Bytes that the body of a registration may have when it is inflated."""
    broker_limit: int = 10_000
    """Broker addresses, of all names together."""
    topic_limit: int = 1_000_000
    """Topics; one that several broker names have counts once for each."""
    filter_server_limit: int = 32
    """Filter servers beside one broker."""
    text_limit: int = 1_024
    """Characters of a name or an address."""
    key_value_limit: int = 1_048_576
    """Characters of all namespaces, keys and values together: the table is written whole each time."""
