"""What a broker is configured with; the defaults are Apache's unless a decision says otherwise."""

from dataclasses import dataclass
from typing import Final

from refimpl.store.settings import StoreSettings
from spec.broker.lock_lease import LEASE_MS
from spec.broker.membership import EXPIRY_MS, SCAN_MS
from spec.broker.topic import READ_WRITE
from spec.broker.transaction import AGE_LIMIT_MS, CHECK_LIMIT, CHECK_PERIOD_MS, IMMUNITY_MS
from spec.nameserver.liveness import REGISTER_MS
from spec.values.host import Host, host_of
from spec.wire.connection import BROKER_PORT

DEFAULT_HOST: Final = host_of("127.0.0.1", BROKER_PORT)
DEFAULT_STORE: Final = StoreSettings()


@dataclass(slots=True)
class BrokerSettings:
    """One broker. Its rooms share one copy, in which `ConfigDesk` alone changes anything."""

    cluster: str = "DefaultCluster"
    name: str = "broker-a"
    broker_id: int = 0
    host: Host = DEFAULT_HOST
    """What the broker registers, and writes into messages as their store host."""
    name_servers: tuple[str, ...] = ()
    """Addresses, as `127.0.0.1:9876`."""
    permission: int = READ_WRITE
    store: StoreSettings = DEFAULT_STORE

    is_topic_auto_created: bool = True
    is_group_auto_created: bool = True
    is_change_notified: bool = True
    is_long_polling: bool = True
    is_slave_read_enabled: bool = False
    is_transaction_refused: bool = False
    is_register_compressed: bool = False
    account_file: str = ""
    """Where the accounts of access control stand, below the store's folder: `config/plain_acl.yml`.
    Empty: there is no access control."""
    account_look_ms: int = 5_000
    """How often it is looked whether that file has changed; Apache's is half a second."""
    topic_queue_count: int = 8
    """Queues of the template topic that auto-created ones are limited by (`defaultTopicQueueNums`)."""
    region: str = "DefaultRegion"
    is_trace_on: bool = True

    register_ms: int = REGISTER_MS
    offset_flush_ms: int = 5_000
    cursor_flush_ms: int = 10_000
    first_flush_ms: int = 10_000
    member_scan_ms: int = SCAN_MS
    member_expiry_ms: int = EXPIRY_MS
    lease_ms: int = LEASE_MS
    check_period_ms: int = CHECK_PERIOD_MS
    check_limit: int = CHECK_LIMIT
    immunity_ms: int = IMMUNITY_MS
    half_age_limit_ms: int = AGE_LIMIT_MS

    waiting_send_limit: int = 10_000
    """Sends that may wait for their flush before others are told that the broker is busy
    (`sendThreadPoolQueueCapacity`)."""
    held_pull_limit: int = 100_000
    """Pulls that are held at most; one more is answered at once. A decision: Apache has no limit."""
    subscription_limit: int = 10_000
    """Groups and subscriptions that one heartbeat may bring, and groups that one connection may be in.
    A decision: Apache has no limit."""
    json_byte_limit: int = 2 << 20
    """The longest body that is read as JSON: reading one delays everybody else. A decision: it is
    enough for as many subscriptions."""
