"""Log lines: one for each event, whatever stands in it, and not more than somebody wants to read."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Final

import pytest

from refimpl.real.event_log import ROOT, start_log, tell
from refimpl.real.flood_log import FloodLog

STAMP: Final = "2026-01-31T12:00:00.007Z"


@pytest.fixture(autouse=True)
def _loggers() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in (ROOT, "asyncio")]
    states = [(logger, logger.handlers, logger.level, logger.propagate) for logger in loggers]
    raises = logging.raiseExceptions
    yield
    logging.raiseExceptions = raises
    for logger, handlers, level, propagate in states:
        logger.handlers, logger.level, logger.propagate = handlers, level, propagate


def _start(*, is_json: bool = False, level: int = logging.INFO) -> tuple[io.StringIO, logging.Logger]:
    stream = io.StringIO()
    start_log(level, is_json=is_json, stream=stream)
    logger = logging.getLogger(f"{ROOT}.broker")
    return stream, logger


def _lines(stream: io.StringIO) -> list[str]:
    """The lines without their time, which is looked at here."""
    lines = stream.getvalue().splitlines()
    for line in lines:
        assert len(line.partition(" ")[0]) == len(STAMP)
    return [line.partition(" ")[2] for line in lines]


def test_an_event_is_a_sentence_and_its_fields() -> None:
    stream, logger = _start()
    tell(
        logger, logging.WARNING, "connection refused", peer="127.0.0.1:5", reason="it does not read", empty=""
    )
    assert _lines(stream) == [
        'WARNING broker: connection refused peer=127.0.0.1:5 reason="it does not read" empty=""'
    ]


def test_nothing_in_an_event_begins_a_line_or_moves_a_cursor() -> None:
    stream, logger = _start()
    tell(logger, logging.WARNING, "a\nb\x1b[2J\u2028", peer='x\n"y\\\x1b')
    assert _lines(stream) == ['WARNING broker: a\\nb\\x1b[2J\\u2028 peer="x\\n\\"y\\\\\\u001b"']


def test_a_program_gets_an_object_a_line() -> None:
    stream, logger = _start(is_json=True)
    tell(logger, logging.ERROR, "a\nb", peer="x y", count=3, why=ValueError("no"))
    (line,) = stream.getvalue().splitlines()
    row = json.loads(line)
    assert len(row.pop("time")) == len(STAMP)
    assert row == {
        "level": "error",
        "part": "broker",
        "event": "a\nb",
        "peer": "x y",
        "count": 3,
        "why": "no",
    }


@pytest.mark.parametrize("is_json", [False, True])
def test_a_traceback_stands_on_the_line_of_its_event(*, is_json: bool) -> None:
    stream, logger = _start(is_json=is_json)
    logger.error("it failed", exc_info=ValueError("a mistake"))
    (line,) = stream.getvalue().splitlines()
    assert "ValueError: a mistake" in line
    assert "it failed" in line


def test_a_level_that_is_not_wanted_is_not_told() -> None:
    stream, logger = _start(level=logging.WARNING)
    tell(logger, logging.INFO, "ready")
    assert _lines(stream) == []


def test_a_log_that_cannot_be_written_stops_nobody() -> None:
    stream, logger = _start()
    stream.close()
    tell(logger, logging.ERROR, "lost")


def test_events_that_peers_cause_are_counted_after_a_few() -> None:
    stream, logger = _start()
    flood = FloodLog(logger, lines=2, window_ms=1_000)
    for number in range(5):
        flood.tell(100 + number, logging.WARNING, "connection refused", peer=number)
    flood.tell(105, logging.WARNING, "other")
    flood.sweep(1_099)
    assert _lines(stream) == [
        "WARNING broker: connection refused peer=0",
        "WARNING broker: connection refused peer=1",
        "WARNING broker: other",
    ]
    flood.sweep(1_100)
    flood.tell(1_101, logging.WARNING, "connection refused", peer=9)
    flood.end()
    assert _lines(stream)[3:] == [
        "WARNING broker: connection refused more=3 seconds=1",
        "WARNING broker: connection refused peer=9",
    ]
