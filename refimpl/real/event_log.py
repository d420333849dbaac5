"""Log lines: one for each event, as text for people or as JSON for programs.

An event has a sentence and fields. Whatever came from a peer stands in the fields or is quoted,
and nothing in it can begin a new line or move a cursor.
"""

import json
import logging
import time
from collections.abc import Mapping
from typing import Final, TextIO

from spec.override import override

ROOT: Final = "mqspec"
_FIELDS: Final = "mqspec_fields"


def tell(logger: logging.Logger, level: int, event: str, **fields: object) -> None:
    """The event is in the log, if the level is wanted."""
    if logger.isEnabledFor(level):
        logger.log(level, "%s", event, extra={_FIELDS: fields})


def start_log(level: int, *, is_json: bool, stream: TextIO) -> logging.Handler:
    """Events of this level and above go to the stream, one line each."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLine() if is_json else TextLine())
    root = logging.getLogger(ROOT)
    root.setLevel(level)
    root.propagate = False
    root.handlers = [handler]
    # What asyncio has to say, it says of connections that nobody else speaks for.
    foreign = logging.getLogger("asyncio")
    foreign.propagate = False
    foreign.handlers = [handler]
    # A log that cannot be written is no reason to stop, nor to say so for every line.
    logging.raiseExceptions = False
    return handler


def _fields_of(record: logging.LogRecord) -> Mapping[str, object]:
    fields = getattr(record, _FIELDS, None)
    return fields if isinstance(fields, dict) else {}


def _stamp(record: logging.LogRecord) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{whole}.{int(record.msecs):03d}Z"


def _part(record: logging.LogRecord) -> str:
    return record.name.removeprefix(ROOT + ".")


def escape(text: str) -> str:
    """The same text on one line, without anything that a terminal would obey."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def _quote(value: object) -> str:
    text = str(value)
    if text and text.isprintable() and not set(' "=\\') & set(text):
        return text
    return json.dumps(text)


class _OneLine(logging.Formatter):
    """Keeps the traceback on the event's own line: logs are read line by line."""

    def trace(self, record: logging.LogRecord) -> str:
        """The traceback, if the event came with one."""
        if not record.exc_info or record.exc_info[0] is None:
            return ""
        return self.formatException(record.exc_info)


class TextLine(_OneLine):
    """`2026-01-31T12:00:00.000Z WARNING broker: connection refused peer=127.0.0.1:5 reason="..."`."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        head = f"{_stamp(record)} {record.levelname} {_part(record)}: {escape(record.getMessage())}"
        tail = "".join(f" {name}={_quote(value)}" for name, value in _fields_of(record).items())
        trace = self.trace(record)
        return f"{head}{tail} trace={_quote(trace)}" if trace else head + tail


class JsonLine(_OneLine):
    """One object with `time`, `level`, `part` and `event`, and the event's own fields behind them."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        row: dict[str, object] = {
            "time": _stamp(record),
            "level": record.levelname.lower(),
            "part": _part(record),
            "event": record.getMessage(),
            **_fields_of(record),
        }
        trace = self.trace(record)
        if trace:
            row["trace"] = trace
        return json.dumps(row, default=str)
