"""Changing a broker's settings while it runs: which ones may change, and to what.

A setting is a key and a text. Apache takes any: a key that it does not know is dropped, one that
acts only at a start is kept without acting, and both are answered with success. Who is told
"done" and sees nothing change looks for the mistake elsewhere, so the reference refuses a request
as a whole unless every one of its settings takes effect.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from spec.broker.topic import READ_WRITE
from spec.rejection import Rejection
from spec.values.java_literal import decode_int32

_CLAUSE: Final = "broker.admin.setting-takes-effect"

Value: TypeAlias = bool | int


def _decode_flag(text: str) -> bool:
    if text not in {"true", "false"}:
        raise Rejection(_CLAUSE, 0, "expected true or false")
    return text == "true"


def _decode_permission(text: str) -> int:
    number = decode_int32(text)
    if not 0 <= number <= READ_WRITE or number % 2:
        raise Rejection(_CLAUSE, 0, "expected 0, 2 (write), 4 (read) or 6")
    return number


def _decode_positive(text: str) -> int:
    number = decode_int32(text)
    if number < 1:
        raise Rejection(_CLAUSE, 0, "expected a number above 0")
    return number


CHANGEABLE: Final[Mapping[str, Callable[[str], Value]]] = {
    "autoCreateSubscriptionGroup": _decode_flag,
    "autoCreateTopicEnable": _decode_flag,
    "brokerPermission": _decode_permission,
    "notifyConsumerIdsChangedEnable": _decode_flag,
    "rejectTransactionMessage": _decode_flag,
    "sendThreadPoolQueueCapacity": _decode_positive,
    "slaveReadEnable": _decode_flag,
}
"""The settings that act at once, by Apache's keys, and how their texts are read."""


def check_changes(changes: Mapping[str, str]) -> dict[str, Value]:
    """The new values of all settings named; refused if one of them would not take effect.

    Clause: broker.admin.setting-takes-effect
    """
    values: dict[str, Value] = {}
    for key, text in changes.items():
        decode = CHANGEABLE.get(key)
        if decode is None:
            known = ", ".join(CHANGEABLE)
            raise Rejection(_CLAUSE, 0, f"{key[:40]} cannot change while the broker runs; these can: {known}")
        try:
            values[key] = decode(text)
        except Rejection as refusal:
            raise Rejection(_CLAUSE, 0, f"{key}={text[:40]}: {refusal.reason}") from None
    return values
