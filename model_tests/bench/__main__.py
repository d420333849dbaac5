"""`python -m model_tests.bench`: the published figures, with their bars.

A missed bar is reported, not punished: a figure depends on the machine, and the report says so.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.table import Table

from model_tests.bench.broker import measure_broker_load, measure_broker_memory
from model_tests.bench.figure import Figure, format_value, measure_ratio, measure_seconds, time_once
from model_tests.bench.store import measure_append, measure_growth, measure_read, measure_scan
from model_tests.legal_run import LegalRun
from spec.guarantees.judge import judge_history
from spec.guarantees.verdict import Verdict
from spec.layout.record import decode_record, encode_record
from spec.layout.stored_message import make_record
from spec.values.host import Host
from spec.values.message import Message
from spec.values.units import QueueId
from spec.wire.frame import Frame, decode_frame, encode_frame

ROOT: Final = Path(__file__).parents[2]
REPORT: Final = ROOT / "docs" / "reports" / "bench.json"
README_START: Final = "<!-- figures of the last make bench -->"
README_END: Final = "<!-- end of figures -->"
STARTS: Final = 9
HISTORY_SEED: Final = 2
HISTORY_STEPS: Final = 4_000
HISTORY_ROUNDS: Final = 5

SEND_FIELDS: Final = {
    "a": "producer_group",
    "b": "OrderTopic",
    "c": "TBW102",
    "d": "4",
    "e": "3",
    "f": "0",
    "g": "1660000000000",
    "h": "0",
    "i": "UNIQ_KEY\x017F00000100002A9F0000000000000000\x02WAIT\x01true\x02TAGS\x01TagA\x02",
    "j": "0",
    "k": "false",
    "m": "false",
}
"""The header fields of a short send request, as a Java producer of 4.9.x fills them."""


def measure_frame() -> Figure:
    """A send request decoded and encoded, against json.loads and json.dumps of the same header."""
    frame = Frame(310, version=399, opaque=17, extension_fields=SEND_FIELDS)
    data = encode_frame(frame)
    if decode_frame(data) != frame:
        raise ValueError("the frame does not survive its own codec")
    text = data[8:]
    ratio = measure_ratio(lambda: json.dumps(json.loads(text)), lambda: encode_frame(decode_frame(data)))
    return Figure("frame decode + encode / bare json", ratio, "x", 0.5)


def measure_record() -> Figure:
    """Records of 1 KiB decoded, CRC checked."""
    host = Host(b"\x7f\x00\x00\x01", 10911)
    message = Message("OrderTopic", bytes(range(256)) * 4, properties={"TAGS": "TagA", "KEYS": "k1"})
    data = encode_record(make_record(message, queue_id=QueueId(3), born_host=host, store_host=host))
    return Figure(
        "record decode with CRC, 1 KiB", 1 / measure_seconds(lambda: decode_record(data)), "/s", 150_000
    )


def measure_monitors() -> Figure:
    """All monitors over a long legal history in memory; the name says how many had work to do."""
    history = LegalRun(HISTORY_SEED).run(HISTORY_STEPS)
    judgements = judge_history(history)
    violated = [judgement for judgement in judgements if judgement.verdict is Verdict.VIOLATED]
    if violated:
        raise ValueError(f"the history of the bench is meant to be legal: {violated[0]}")
    exercised = sum(judgement.verdict is Verdict.HELD for judgement in judgements)
    seconds = [time_once(lambda: judge_history(history)) for _ in range(HISTORY_ROUNDS)]
    name = f"monitors, {exercised} of {len(judgements)} rules at work"
    return Figure(name, len(history) / statistics.median(seconds), "events/s", 150_000)


def measure_start() -> Figure:
    """`mqspec --help`, from nothing to its end."""
    command = [str(Path(sys.executable).with_name("mqspec")), "--help"]

    def start() -> None:
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)

    milliseconds = statistics.median(time_once(start) for _ in range(STARTS)) * 1_000
    return Figure("mqspec --help", milliseconds, "ms", 150, smaller_is_better=True)


MEASUREMENTS: Final[tuple[Callable[[], Figure | tuple[Figure, ...]], ...]] = (
    measure_frame,
    measure_record,
    measure_monitors,
    measure_start,
    measure_append,
    measure_read,
    measure_scan,
    measure_growth,
    measure_broker_load,
    measure_broker_memory,
)


def _write_report(figures: list[Figure]) -> None:
    content = {
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "figures": [
            {
                "name": figure.name,
                "value": round(figure.value, 3) if figure.value < 10 else round(figure.value),
                "unit": figure.unit,
                "bar": figure.bar,
                "met": figure.is_met,
            }
            for figure in figures
        ],
    }
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def _write_readme(figures: list[Figure]) -> None:
    """The README's table is this run's: it never shows a figure that nobody measured."""
    readme = ROOT / "README.md"
    before, start, rest = readme.read_text("utf-8").partition(README_START)
    _, end, after = rest.partition(README_END)
    if not (start and end):
        raise click.ClickException(f"README.md needs the lines {README_START} and {README_END}")
    rows = "".join(
        f"| {figure.name} | {format_value(figure.value)} {figure.unit} | {figure.describe_bar()} |\n"
        for figure in figures
    )
    table = f"\n| figure | value | bar |\n| --- | --- | --- |\n{rows}"
    readme.write_text(before + start + table + end + after, "utf-8")


@click.command()
def main() -> None:
    """Measure the published figures; write the report and the README's table."""
    figures: list[Figure] = []
    for measure in MEASUREMENTS:
        click.echo(f"{measure.__name__.removeprefix('measure_')} ...", err=True)
        measured = measure()
        figures += (measured,) if isinstance(measured, Figure) else measured
    table = Table("figure", "value", "unit", "bar", "")
    for figure in figures:
        met = "met" if figure.is_met else "missed"
        table.add_row(figure.name, format_value(figure.value), figure.unit, figure.describe_bar(), met)
    Console(width=100).print(table)
    _write_report(figures)
    _write_readme(figures)
    machine = f"Python {platform.python_version()}, {os.cpu_count()} processors"
    click.echo(f"{machine}; docs/reports/bench.json and the table in README.md")


if __name__ == "__main__":
    main()
