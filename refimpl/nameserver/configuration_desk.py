"""The requests about the name server itself: its settings are changed (318) and told (319)."""

from collections.abc import Callable, Mapping
from typing import Final

from refimpl.effect import Severity
from refimpl.nameserver.configuration import Configuration
from refimpl.remoting.request import OK, Handler, Reply, Request, succeed
from spec.wire.body.setting import decode_settings, encode_settings
from spec.wire.code import RequestCode

_NAMED: Final = 10
"""How many keys a note names."""


class ConfigurationDesk:
    """Where administrators look after the settings."""

    def __init__(self, configuration: Configuration, note: Callable[[Severity, str], None]) -> None:
        self._configuration = configuration
        self._note = note

    def handlers(self) -> Mapping[int, Handler]:
        """What is served here."""
        return {
            RequestCode.UPDATE_NAMESRV_CONFIG: self.on_change,
            RequestCode.GET_NAMESRV_CONFIG: self.on_describe,
        }

    def on_change(self, request: Request) -> Reply:
        """What may be changed is as the lines say; as in Apache, the rest is passed over."""
        changed, fixed, unknown = self._configuration.change(decode_settings(request.frame.body))
        if changed:
            now = self._configuration.describe()
            stated = ", ".join(f"{key}={now[key]}" for key in changed)
            self._note(Severity.INFO, f"{request.peer} has set {stated}, until this name server ends")
        if fixed:
            self._note(
                Severity.WARNING,
                f"{request.peer} wants to set {_name(fixed)}: these are set when the name server starts",
            )
        if unknown:
            self._note(
                Severity.WARNING,
                f"{request.peer} wants to set {_name(unknown)}: GET_NAMESRV_CONFIG lists those that exist",
            )
        return OK

    def on_describe(self, request: Request) -> Reply:  # noqa: ARG002 - it asks for all
        """Every setting, one a line.

        Clause: wire.body.properties-text
        """
        return succeed(body=encode_settings(self._configuration.describe()))


def _name(keys: tuple[str, ...]) -> str:
    named = ", ".join(key[:40] for key in keys[:_NAMED])
    return named if len(keys) <= _NAMED else f"{named} and {len(keys) - _NAMED} more"
