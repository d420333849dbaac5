"""The part of the native client's Python package that the drivers use, with types.

The package exists only where the drivers run, so it is found by name, and then.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Final, Protocol

_CLIENT: Final = import_module("rocketmq.client")
_LIBRARY: Final = import_module("rocketmq.ffi")


class SendStatus(Protocol):
    """How a send ended."""

    @property
    def name(self) -> str: ...


class SendResult(Protocol):
    """The client's answer to a send; it does not say in which queue."""

    @property
    def status(self) -> SendStatus: ...
    @property
    def msg_id(self) -> str: ...
    @property
    def offset(self) -> int: ...


class OutgoingMessage(Protocol):
    """A message that is being made."""

    def set_body(self, body: str) -> None: ...
    def set_tags(self, tags: str) -> None: ...
    def set_keys(self, keys: str) -> None: ...
    def set_delay_time_level(self, delay_time_level: int) -> None: ...


class IncomingMessage(Protocol):
    """A message as the user gets it."""

    topic: str
    tags: bytes
    keys: bytes
    body: bytes
    id: str
    queue_id: int
    queue_offset: int
    reconsume_times: int


class NativeClient(Protocol):
    """What all clients have."""

    def set_namesrv_addr(self, addr: str) -> None: ...
    def set_session_credentials(self, access_key: str, access_secret: str, channel: str) -> None: ...
    def start(self) -> None: ...
    def shutdown(self) -> None: ...


class Producer(NativeClient, Protocol):
    """Sends in six ways; a queue is selected by the remainder of a number."""

    def send_sync(self, msg: OutgoingMessage) -> SendResult: ...
    def send_async(
        self,
        msg: OutgoingMessage,
        success_callback: Callable[[SendResult], None],
        exception_callback: Callable[[Exception], None],
    ) -> None: ...
    def send_oneway(self, msg: OutgoingMessage) -> None: ...
    def send_orderly(self, msg: OutgoingMessage, arg: int) -> SendResult: ...
    def send_oneway_orderly(self, msg: OutgoingMessage, arg: int) -> None: ...
    def send_batch(self, msgs: list[OutgoingMessage]) -> SendResult: ...


class PushConsumer(NativeClient, Protocol):
    """A member of a group."""

    def subscribe(self, topic: str, callback: Callable[[IncomingMessage], None], expression: str) -> None: ...
    def _register_callback(self, callback: Callable[[int, int], int]) -> None: ...


class PullConsumer(NativeClient, Protocol):
    """Reads queues from their start, and commits nothing."""

    def pull(self, topic: str, expression: str) -> Iterator[IncomingMessage]: ...


make_message: Final[Callable[[str], OutgoingMessage]] = _CLIENT.Message
make_producer: Final[Callable[[str], Producer]] = _CLIENT.Producer
make_pull_consumer: Final[Callable[[str], PullConsumer]] = _CLIENT.PullConsumer
_make_push_consumer: Final[Callable[[str, bool, int], PushConsumer]] = _CLIENT.PushConsumer
_wrap: Final[Callable[[int], IncomingMessage]] = _CLIENT.RecvMessage
_CONSUMED: Final = 0
_RECONSUME_LATER: Final = 1


def make_push_consumer(group: str, *, is_orderly: bool, is_broadcasting: bool) -> PushConsumer:
    """A member that is not started yet."""
    models = _LIBRARY.MessageModel
    return _make_push_consumer(
        group, is_orderly, models.BROADCASTING if is_broadcasting else models.CLUSTERING
    )


def subscribe(
    consumer: PushConsumer, topic: str, expression: str, consume: Callable[[IncomingMessage], bool]
) -> None:
    """The member will give each message to `consume`, which says whether it succeeded.

    The package lets the exception of a callback out into C, where nobody says what is then returned;
    so the callback that it registers is replaced by one that always returns.
    """
    consumer.subscribe(topic, lambda _message: None, expression)
    consumer._register_callback(
        lambda _consumer, handle: _CONSUMED if consume(_wrap(handle)) else _RECONSUME_LATER
    )
