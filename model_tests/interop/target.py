"""The system that real clients talk to: the reference as `mqspec serve` runs it, or Apache for comparison.

Cases ask for a `target` and do not care which of the two it is. Whatever they demand of the reference
was seen of Apache first; with the reference, the history that the broker recorded is judged as well.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from model_tests.interop.artifact import Jars
from model_tests.interop.child import Child, find_broker_port
from model_tests.interop.peer import NOTHING_CHOSEN, run_apache
from model_tests.interop.wire_client import WireClient
from refimpl.real.history_file import read_lines
from spec.guarantees.judge import judge_history
from spec.guarantees.verdict import Judgement, Verdict
from spec.history.json_lines import decode_events

_READY: Final = re.compile(r"^ready namesrv=127\.0\.0\.1:(\d+) broker=127\.0\.0\.1:(\d+)$", re.MULTILINE)


class Target(NamedTuple):
    """A name server and a broker that answer."""

    name: str
    """`reference` or `apache`."""
    child: Child
    """The process of the broker."""
    broker_port: int
    name_server_port: int
    history: Path | None
    """What the broker recorded; Apache records nothing."""

    @property
    def name_server(self) -> str:
        """The address that a client is configured with."""
        return f"127.0.0.1:{self.name_server_port}"

    def connect(self) -> WireClient:
        """A new connection to the broker."""
        return WireClient(self.broker_port)


def start_reference(folder: Path, port: int, arguments: Sequence[str] = ()) -> Target:
    """The reference serves the store in the folder on these ports; whoever calls ends the child."""
    history = folder / "history.jsonl"
    command = [str(Path(sys.executable).with_name("mqspec")), "serve"]
    ports = ["--broker-port", str(port), "--namesrv-port", str(port + 2)]
    places = ["--store", str(folder / "store"), "--history", str(history)]
    log = folder / "serve.log"
    printed = log.stat().st_size if log.exists() else 0
    child = Child([*command, *ports, *places, *arguments], log, {})
    try:
        child.wait_ready(lambda: _READY.search(log.read_text("utf-8", "replace")[printed:]))
    except BaseException:
        child.kill()
        raise
    return Target("reference", child, port, port + 2, history)


@contextmanager
def run_reference(folder: Path, arguments: Sequence[str] = ()) -> Iterator[Target]:
    """The reference runs; at the end it stops cleanly, and its history holds."""
    target = start_reference(folder, find_broker_port(), arguments)
    try:
        yield target
        if target.child.is_running:
            assert target.child.stop() == 0, target.child.tail()
            check_history(folder / "history.jsonl")
    finally:
        target.child.kill()


def write_config(folder: Path, chosen: Mapping[str, str]) -> tuple[str, ...]:
    """The arguments that name a file with what was chosen; none if nothing was."""
    if not chosen:
        return ()
    file = folder / "broker.conf"
    file.write_text("".join(f"{name}={value}\n" for name, value in chosen.items()), "utf-8")
    return ("-c", str(file))


@contextmanager
def run_target(
    name: str, jars: Jars | None, folder: Path, chosen: Mapping[str, str] = NOTHING_CHOSEN
) -> Iterator[Target]:
    """The named target runs until the end of the block, with what was chosen in its broker.conf."""
    if name == "reference":
        with run_reference(folder, write_config(folder, chosen)) as target:
            yield target
        return
    assert jars is not None, "Apache needs its jars"
    with run_apache(jars, folder / "store", folder / "home", chosen=chosen) as broker:
        yield Target("apache", broker.child, broker.port, broker.name_server_port, None)


def judge_file(history: Path) -> list[Judgement]:
    """What each guarantee says about a recorded history."""
    return judge_history(list(decode_events(read_lines(history))))


def check_history(history: Path) -> None:
    """No guarantee is violated by the history, and some were exercised."""
    judgements = judge_file(history)
    violated = [judgement for judgement in judgements if judgement.verdict is Verdict.VIOLATED]
    assert not violated, violated
    assert any(judgement.verdict is Verdict.HELD for judgement in judgements), judgements
