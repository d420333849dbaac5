"""The life of a connection: how long it may be silent, when a call on it is given up.

Between two processes there is one connection, and everything shares it: calls, their answers in
any order, and pushes by the server, which may overtake the answer to the request that caused them.
Both sides close a connection on which nothing was read or written for two minutes. A call that is
not answered is given up a second after its timeout; a closed connection gives up all its calls at
once, since no answer can come any more.
"""

from collections.abc import Mapping
from typing import Final

from spec.wire.code import RequestCode

IDLE_LIMIT_MS: Final = 120_000
"""Silence after which either side closes, Apache's `channelMaxIdleTimeSeconds`."""

EXPIRY_GRACE_MS: Final = 1_000
"""How long past its timeout an open call is kept, Apache's `ResponseFuture` sweep."""

SWEEP_DELAY_MS: Final = 3_000
"""When open calls are looked through for the first time, Apache's `NettyRemotingClient`."""

SWEEP_INTERVAL_MS: Final = 1_000
"""How often after that."""

CLIENT_CALL_LIMIT: Final = 65_535
"""How many asynchronous calls, and as many oneway ones, a client has open at a time (`NettySystemConfig`)."""

SERVER_CALL_LIMIT: Final = 64
SERVER_ONEWAY_LIMIT: Final = 256
"""The same for requests that a server sends, Apache's `NettyServerConfig`."""

CONNECT_TIMEOUT_MS: Final = 3_000
"""How long connecting may take, Apache's `NettyClientConfig`."""

BROKER_PORT: Final = 10911
NAME_SERVER_PORT: Final = 9876

_PORT_LIMIT: Final = 65_535


def is_idle(last_read_ms: int, last_write_ms: int, now_ms: int, idle_limit_ms: int = IDLE_LIMIT_MS) -> bool:
    """Whether nothing was read and nothing written for so long that the connection is closed.

    Clause: wire.connection.idle-close
    """
    return now_ms - max(last_read_ms, last_write_ms) >= idle_limit_ms


def is_call_expired(begun_at_ms: int, timeout_ms: int, now_ms: int) -> bool:
    """Whether the sweep gives up an open call.

    Clause: wire.connection.call-expiry
    """
    return begun_at_ms + timeout_ms + EXPIRY_GRACE_MS <= now_ms


def fail_calls(calls: Mapping[int, int], closed_connection: int) -> tuple[frozenset[int], dict[int, int]]:
    """The calls that fail with a connection, and those that stay open; a call is opaque to connection.

    Clause: wire.connection.close-fails-calls
    """
    failed = frozenset(opaque for opaque, connection in calls.items() if connection == closed_connection)
    return failed, {opaque: calls[opaque] for opaque in calls if opaque not in failed}


def derive_fast_port(broker_port: int) -> int:
    """The broker's second port, for requests that must not queue behind pulls; Apache calls it VIP.

    Clause: wire.connection.ports
    """
    return broker_port - 2


def derive_replication_port(broker_port: int) -> int:
    """The port on which replicas fetch the log.

    Clause: wire.connection.ports
    """
    return broker_port + 1


def is_broker_port_legal(broker_port: int) -> bool:
    """Whether the three ports of a broker all exist.

    Clause: wire.connection.ports
    """
    return derive_fast_port(broker_port) >= 1 and derive_replication_port(broker_port) <= _PORT_LIMIT


def is_served_on_fast_port(code: int) -> bool:
    """Whether the second port serves the request; pulls it answers as an unknown code.

    Clause: wire.connection.fast-port-no-pull
    """
    return code != RequestCode.PULL_MESSAGE


def derive_name_server_index(index: int, count: int, *, is_usable: bool) -> int:
    """Which of `count` name servers to use: the one in use as long as it can be reached, then the next.

    Clause: wire.connection.name-server-kept
    """
    return index if is_usable else (index + 1) % count
