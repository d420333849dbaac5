"""What every driver shares: its options, the lines that it prints, and how it ends."""

import json
import os
import signal
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Final

from model_tests.interop.native_peer.library import IncomingMessage, NativeClient

_STANDARD_OUTPUT: Final = 1
_CHANNEL: Final = "ALIYUN"
"""What every request calls itself, signed or not."""


def read_options(**defaults: str) -> dict[str, str]:
    """The options of this start; those without a default have to be given."""
    parser = ArgumentParser()
    for name in ("name-server", "group", "topic"):
        parser.add_argument(f"--{name}", required=True)
    for name, default in {"access_key": "", "secret_key": "", **defaults}.items():
        parser.add_argument(f"--{name.replace('_', '-')}", default=default)
    return {name: str(value) for name, value in vars(parser.parse_args()).items()}


def start(client: NativeClient, options: dict[str, str]) -> None:
    """The client runs, and this was reported."""
    client.set_namesrv_addr(options["name_server"])
    if options["access_key"]:
        client.set_session_credentials(options["access_key"], options["secret_key"], _CHANNEL)
    client.start()
    report("ready")


def report(event: str, **fields: str | int) -> None:
    """One JSON line says what happened; it is one write, because the client has many threads."""
    line = json.dumps({"event": event, **fields, "atMs": time.time_ns() // 1_000_000})
    os.write(_STANDARD_OUTPUT, f"{line}\n".encode())


def report_received(message: IncomingMessage, outcome: str) -> None:
    """The user got a message, and this is what it made of it."""
    report(
        "received",
        topic=message.topic,
        queueId=message.queue_id,
        queueOffset=message.queue_offset,
        messageId=message.id,
        tags=message.tags.decode(),
        keys=message.keys.decode(),
        body=message.body.decode(),
        reconsumeTimes=message.reconsume_times,
        outcome=outcome,
    )


def run(scenario: Callable[[], None]) -> None:
    """The process ends with 0 after the scenario; with 1 and the reason if it did not do what it was told."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # before the client starts its threads
    try:
        scenario()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is reported
        report("failed", error=repr(error))
        sys.exit(1)
    report("ended")


def wait_asked_to_end() -> None:
    """Somebody asked this process to end."""
    signal.sigwait({signal.SIGTERM})


def is_asked_to_end(within_ms: int) -> bool:
    """Whether somebody asks this process to end within the time."""
    return signal.sigtimedwait({signal.SIGTERM}, within_ms / 1000) is not None
