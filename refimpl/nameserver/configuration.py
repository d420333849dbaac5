"""The settings as an administrator sees them, and those that may be changed while the server runs.

A change lasts until the name server ends: what it starts with comes from whoever starts it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from refimpl.nameserver.settings import NameServerSettings
from spec.layout.config.config_file import KV_CONFIG
from spec.rejection import Rejection
from spec.values.java_literal import decode_int64, encode_boolean

_CLAUSE: Final = "wire.body.properties-text"
_WORDS: Final = {"true": True, "false": False}


class Changed(NamedTuple):
    """What became of a request to change settings."""

    changed: tuple[str, ...]
    fixed: tuple[str, ...]
    """These can be set at start only."""
    unknown: tuple[str, ...]


class Configuration:
    """The settings that are in force."""

    def __init__(self, settings: NameServerSettings) -> None:
        self.settings = settings

    def describe(self) -> dict[str, str]:
        """Every setting by the name that an administrator uses, sorted."""
        return dict(sorted({**self._changeable(), **self._fixed()}.items()))

    def _changeable(self) -> dict[str, str]:
        settings = self.settings
        return {
            "orderMessageEnable": encode_boolean(settings.is_order_message_enabled),
            "brokerExpiryMs": str(settings.expiry_ms),
            "brokerLimit": str(settings.broker_limit),
            "topicLimit": str(settings.topic_limit),
            "keyValueLimit": str(settings.key_value_limit),
        }

    def _fixed(self) -> dict[str, str]:
        settings = self.settings
        return {
            "kvConfigPath": f"{settings.folder}/{KV_CONFIG.name}",
            "scanNotActiveBrokerInterval": str(settings.scan_ms),
            "filterServerLimit": str(settings.filter_server_limit),
            "registrationLimit": str(settings.registration_limit),
            "textLimit": str(settings.text_limit),
        }

    def change(self, stated: Mapping[str, str]) -> Changed:
        """The settings that may change are as stated; a value of the wrong kind refuses all of them."""
        known = {**self._changeable(), **stated}
        changed = replace(
            self.settings,
            is_order_message_enabled=_decode_flag("orderMessageEnable", known),
            expiry_ms=_decode_count("brokerExpiryMs", known),
            broker_limit=_decode_count("brokerLimit", known),
            topic_limit=_decode_count("topicLimit", known),
            key_value_limit=_decode_count("keyValueLimit", known),
        )
        before, fixed = self.describe(), self._fixed()
        self.settings = changed
        return Changed(
            tuple(key for key, value in self.describe().items() if before[key] != value),
            tuple(sorted(key for key in stated if fixed.get(key, stated[key]) != stated[key])),
            tuple(sorted(key for key in stated if key not in before)),
        )


def _decode_flag(key: str, stated: Mapping[str, str]) -> bool:
    word = stated[key].strip().lower()
    if word not in _WORDS:
        raise Rejection(_CLAUSE, 0, f"{key}={stated[key][:40]}: expected true or false")
    return _WORDS[word]


def _decode_count(key: str, stated: Mapping[str, str]) -> int:
    try:
        number = decode_int64(stated[key])
    except Rejection:
        number = 0
    if number < 1:
        raise Rejection(_CLAUSE, 0, f"{key}={stated[key][:40]}: expected a whole number above 0")
    return number
