"""Filter servers: helpers of old brokers that ran filters written in Java, gone from 4.9.8 on.

One that still announces itself is taken in for half a minute and told whom it belongs to. Nothing
is asked of it: filters are evaluated by consumers.
"""

from collections.abc import Mapping
from typing import Final

from refimpl.broker.parts import BrokerParts
from refimpl.remoting.request import Handler, Reply, Request, refuse, succeed
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.admin import FilterServerHeader, FilterServerResponseHeader

IDLE_MS: Final = 30_000
"""Apache's `FILTER_SERVER_MAX_IDLE_TIME_MILLS`."""

SERVER_LIMIT: Final = 64
"""Filter servers at one broker; a decision: their addresses travel with every registration."""

ADDRESS_LIMIT: Final = 255


class FilterServerDesk:
    """Knows the filter servers that are alive."""

    def __init__(self, parts: BrokerParts) -> None:
        self._settings = parts.settings
        self._announced_ms: dict[str, int] = {}

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {RequestCode.REGISTER_FILTER_SERVER: self.on_register}

    def on_register(self, request: Request) -> Reply:
        """The filter server is known, and knows its broker."""
        address = request.header(FilterServerHeader).filter_server_addr
        alive = self.addresses(request.now_ms)
        if len(address) > ADDRESS_LIMIT or (address not in alive and len(alive) >= SERVER_LIMIT):
            return refuse(ResponseCode.SYSTEM_ERROR, f"the filter server {address[:80]!r} is not taken in")
        self._announced_ms = {name: self._announced_ms[name] for name in alive}
        self._announced_ms[address] = request.now_ms
        return succeed(FilterServerResponseHeader(self._settings.name, self._settings.broker_id))

    def addresses(self, now_ms: int) -> tuple[str, ...]:
        """The filter servers that announced themselves lately: what a registration may name."""
        return tuple(name for name, at_ms in self._announced_ms.items() if now_ms - at_ms <= IDLE_MS)
