"""A broker's settings, as administrators read and change them, and the cursors that a slave copies.

A change holds until the broker stops: what it is started with is not this room's to write.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from refimpl.broker.parts import BrokerParts
from refimpl.broker.setting_text import apply_values, derive_texts
from refimpl.effect import Severity
from refimpl.remoting.request import OK, Handler, Reply, Request, refuse, succeed
from spec.broker.setting import Value, check_changes
from spec.broker.topic import DataVersion, advance_version, derive_built_in_topics
from spec.rejection import Rejection
from spec.values.name import AUTO_CREATE_TOPIC
from spec.wire.body.offset import DelayOffsetTable
from spec.wire.body.record import RecordCodec
from spec.wire.body.setting import decode_settings, encode_settings
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.admin import ConfigResponseHeader

_VERSION: Final = RecordCodec(DataVersion)


class ConfigDesk:
    """Looks after settings."""

    def __init__(
        self,
        parts: BrokerParts,
        delay_table: Callable[[], DelayOffsetTable],
        on_permission: Callable[[int], None],
        now_ms: int,
    ) -> None:
        """`on_permission` hears, with the time, that what the broker registers has changed."""
        self._parts = parts
        self._delay_table = delay_table
        self._on_permission = on_permission
        self._version = DataVersion(now_ms)

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {
            RequestCode.UPDATE_BROKER_CONFIG: self.on_change,
            RequestCode.GET_BROKER_CONFIG: self.on_list,
            RequestCode.GET_ALL_DELAY_OFFSET: self.on_delays,
        }

    def on_change(self, request: Request) -> Reply:
        """Every setting that was named has its new value, or none has.

        Clauses: broker.admin.setting-takes-effect, wire.body.properties-text
        """
        try:
            changes = decode_settings(request.frame.body)
            values = check_changes(changes)
        except Rejection as refusal:
            reason = f"no setting was changed: {refusal}"
            self._parts.note(Severity.WARNING, f"{request.peer} asked for other settings, {reason}")
            return refuse(ResponseCode.SYSTEM_ERROR, reason)
        if values:
            apply_values(self._parts.settings, values)
            self._version = advance_version(self._version, request.now_ms)
            spelled = ", ".join(f"{key}={text}" for key, text in changes.items())
            self._parts.note(Severity.INFO, f"{request.peer} set, until the broker stops: {spelled}")
            self._follow(values, request.now_ms)
        return OK

    def _follow(self, values: Mapping[str, Value], now_ms: int) -> None:
        """What rests on a setting is as it would be had the broker begun with it."""
        if values.get("autoCreateTopicEnable") is True:
            self._open_template(now_ms)
        if "brokerPermission" in values:
            self._on_permission(now_ms)

    def _open_template(self, now_ms: int) -> None:
        """The template topic is there, and may be created by.

        Clause: broker.topic.built-in
        """
        settings, topics = self._parts.settings, self._parts.topics
        built_in = derive_built_in_topics(settings.cluster, settings.name)
        pattern = next(topic for topic in built_in if topic.name == AUTO_CREATE_TOPIC)
        known = topics.find(AUTO_CREATE_TOPIC)
        wanted = pattern if known is None else replace(known, permission=pattern.permission)
        if wanted != known:
            topics.put(wanted, now_ms)

    def on_list(self, _request: Request) -> Reply:
        """All settings as lines, and the version that counts their changes."""
        version = _VERSION.encode(self._version, is_dialect=True).decode()
        return succeed(ConfigResponseHeader(version), encode_settings(derive_texts(self._parts.settings)))

    def on_delays(self, _request: Request) -> Reply:
        """Where each delay level goes on, as the file has it."""
        return succeed(None, self._delay_table())
