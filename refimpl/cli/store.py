"""`mqspec store`: a store's files judged and shown, offline and without a write."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from refimpl.ports import Disk, DiskError
from refimpl.real.disk import RealDisk
from refimpl.store_check.dump import QueueDump, Span, Unreadable, derive_row
from refimpl.store_check.finding import Finding, Findings, Severity
from refimpl.store_check.queue_units import QueueUnits
from refimpl.store_check.shape import Listing, arrange_pieces, infer_log_file_size, infer_units_per_file
from refimpl.store_check.source import Source
from refimpl.store_check.verify import NotAStore, Report, Sizes, open_listing, verify_store
from spec.layout.consume_queue import UNIT_SIZE
from spec.layout.directory import COMMIT_LOG_FOLDER, QUEUE_FOLDER
from spec.recovery.state import QueueName
from spec.values.units import QueueId

EXIT_VIOLATED: Final = 1
"""Something is wrong that must not be."""
EXIT_INCONCLUSIVE: Final = 2
"""There is nothing to judge, or it cannot be read."""

SCHEMA_VERSION: Final = 1
"""Of the JSON object; a program that knows another number should not read on."""
SHOWN_LIMIT: Final = 100
"""Findings that a person is shown; a decision: `--json` has all that are kept."""
NAMED_LIMIT: Final = 20
"""Queues named to somebody who asked for one that is not there; a decision."""

_DIRECTORY = click.argument(
    "directory", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
_SIZE = click.IntRange(min=1)
_LOG_FILE_SIZE = click.option("--log-file-size", type=_SIZE, help="Bytes of a log file.")
_UNITS_PER_FILE = click.option("--units-per-file", type=_SIZE, help="Units of a queue's file.")


@click.group(no_args_is_help=False)
def store() -> None:
    """Judge or show the files of a store, without writing anything."""


@contextmanager
def _show_progress(total: int) -> Iterator[Callable[[int], None]]:
    """Tells how far the log was read, if somebody looks at it."""
    # Without a standard error at all there is none to ask.
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _size: None
        return
    columns = (TextColumn("reading the log"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total)
        yield lambda size: progress.advance(task, size)


def _stop(context: click.Context, directory: Path, reason: str) -> None:
    """The command ends with one line: nothing could be judged."""
    click.echo(f"{context.command_path}: {directory}: {reason}", err=True)
    context.exit(EXIT_INCONCLUSIVE)


def _derive_data(directory: Path, report: Report) -> dict[str, object]:
    return {
        "schemaVersion": SCHEMA_VERSION,
        "directory": str(directory),
        "isCleanStop": report.is_clean_stop,
        "summary": {
            "files": report.files,
            "records": report.facts.records,
            "recordBytes": report.facts.record_bytes,
            "logBytes": report.log_bytes,
            "logEnd": report.facts.end,
            "queues": report.queues,
            "keys": report.keys,
            "messages": {severity.value: count for severity, count in report.counts.items()},
            "leftOut": report.left_out,
        },
        "findings": [finding._asdict() | {"severity": finding.severity.value} for finding in report.findings],
    }


def _derive_line(finding: Finding) -> str:
    file = "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in finding.file)
    place = f"{file}: byte {finding.position}"
    return f"{finding.severity.value:7}  {place}: {finding.sentence} [{finding.clause}]"


def _show_report(report: Report) -> None:
    order = list(Severity)
    for finding in sorted(report.findings, key=lambda finding: order.index(finding.severity))[:SHOWN_LIMIT]:
        click.echo(_derive_line(finding))
    more = sum(report.counts.values()) - SHOWN_LIMIT
    if more > 0:
        shown = f"{more - report.left_out} of them" if report.left_out else "them"
        click.echo(f"... {more} more: --json shows {shown}")
    counts = ", ".join(f"{count} {severity.value}s" for severity, count in report.counts.items())
    stop = "clean stop" if report.is_clean_stop else "no clean stop (there is an abort file)"
    click.echo(
        f"{report.files} files, {report.facts.records} records of {report.facts.record_bytes} bytes,"
        f" {report.queues} queues, {report.keys} keys; {stop}; {counts}"
    )


@store.command()
@_DIRECTORY
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@_LOG_FILE_SIZE
@_UNITS_PER_FILE
@click.option("--index-slots", type=_SIZE, help="Slots of an index file.")
@click.option("--index-entries", type=_SIZE, help="Entries of an index file.")
@click.pass_context
def verify(
    context: click.Context,
    directory: Path,
    *,
    as_json: bool,
    log_file_size: int | None,
    units_per_file: int | None,
    index_slots: int | None,
    index_entries: int | None,
) -> None:
    """Judge log, queues, index, checkpoint and tables of the store in DIR.

    Sizes are told from the files unless they are given. A store whose broker runs, or was killed, is
    judged by what recovery makes of it.
    Exit code: 0 no error was found, 1 there are errors, 2 there is nothing to judge.
    """
    disk = RealDisk(directory, is_read_only=True)
    sizes = Sizes(log_file_size, units_per_file, index_slots, index_entries)
    try:
        total = sum(entry.size for entry in disk.list_folder(COMMIT_LOG_FOLDER))
        with _show_progress(total) as advance:
            report = verify_store(disk, sizes, advance=advance)
    except (NotAStore, DiskError) as error:
        _stop(context, directory, str(error))
        return
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if as_json:
        click.echo(json.dumps(_derive_data(directory, report), indent=1))
    else:
        _show_report(report)
    if report.has_error:
        context.exit(EXIT_VIOLATED)


def _name_queues(listing: Listing) -> str:
    """Which queues there are, for somebody who asked for another one."""
    by_topic: dict[str, list[int]] = {}
    for name in sorted(listing.queues):
        by_topic.setdefault(name.topic, []).append(name.queue_id)
    named = [f"{topic} ({', '.join(map(str, ids))})" for topic, ids in by_topic.items()]
    more = f" and {len(named) - NAMED_LIMIT} topics more" if len(named) > NAMED_LIMIT else ""
    return "there are " + ", ".join(named[:NAMED_LIMIT]) + more if named else "there are no queues"


def _iter_dump(
    disk: Disk, name: QueueName, sizes: Sizes, span: Span, *, from_log: bool
) -> Iterator[dict[str, object] | Unreadable]:
    """The messages as rows; refuses a queue that the store does not have."""
    findings = Findings()
    listing = open_listing(disk, findings)
    source = Source(disk, findings)
    file_size = sizes.log_file_size or infer_log_file_size(listing)
    pieces = arrange_pieces(COMMIT_LOG_FOLDER, listing.log, file_size, findings)
    dump = QueueDump(source, name, pieces)
    if from_log:
        items = dump.iter_by_log(span)
    else:
        if name not in listing.queues:
            raise click.UsageError(
                f"the store has no queue {name.queue_id} of topic {name.topic}: {_name_queues(listing)};"
                " --from-log looks into the log instead."
            )
        folder = f"{QUEUE_FOLDER}/{name.topic}/{name.queue_id}"
        units_per_file = sizes.units_per_file or infer_units_per_file(listing)
        files = arrange_pieces(folder, listing.queues[name], units_per_file * UNIT_SIZE, findings)
        if not files:
            raise click.UsageError(f"{folder} has no files: --from-log looks into the log instead.")
        items = dump.iter_by_units(QueueUnits(source, folder, files, units_per_file), span)
    for item in items:
        yield item if isinstance(item, Unreadable) else {**derive_row(item)}


@store.command()
@_DIRECTORY
@click.option("--topic", required=True, help="The topic.")
@click.option("--queue", "queue_id", required=True, type=click.IntRange(min=0), help="The queue's number.")
@click.option("--from", "from_offset", type=click.IntRange(min=0), default=0, help="The first offset.")
@click.option("--to", "to_offset", type=click.IntRange(min=0), help="The offset behind the last one.")
@click.option("--count", type=click.IntRange(min=0), help="How many messages at most.")
@click.option("--from-log", is_flag=True, help="Read the whole log instead of the queue's files.")
@_LOG_FILE_SIZE
@_UNITS_PER_FILE
@click.pass_context
def dump(
    context: click.Context,
    directory: Path,
    *,
    topic: str,
    queue_id: int,
    from_offset: int,
    to_offset: int | None,
    count: int | None,
    from_log: bool,
    log_file_size: int | None,
    units_per_file: int | None,
) -> None:
    """Print the messages of a queue of the store in DIR, one JSON object a line.

    Exit code: 0 all were read, 1 some could not be read, 2 there is no store to read.
    """
    disk = RealDisk(directory, is_read_only=True)
    name = QueueName(topic, QueueId(queue_id))
    sizes = Sizes(log_file_size, units_per_file)
    unreadable = 0
    try:
        rows = _iter_dump(disk, name, sizes, Span(from_offset, to_offset), from_log=from_log)
        for row in islice(rows, count):
            if isinstance(row, Unreadable):
                unreadable += 1
                click.echo(f"{row.place}: {row.reason} [{row.clause}]", err=True)
            else:
                sys.stdout.write(json.dumps(row) + "\n")
    except (NotAStore, DiskError) as error:
        _stop(context, directory, str(error))
    if unreadable:
        context.exit(EXIT_VIOLATED)
