"""The brokers that are measured: the reference as a user starts it, and Apache with its own file sizes."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from model_tests.interop.artifact import Jars
from model_tests.interop.child import Child, find_broker_port
from model_tests.interop.peer import FileSizes, run_apache
from model_tests.interop.wire_client import WireClient

APACHE_FILES: Final = FileSizes(1 << 30, 300_000, 5_000_000, 20_000_000)
"""The defaults of Apache 4.9: small files, as other lanes use them, would slow it down."""

_READY_LINE: Final = re.compile(rb"^ready namesrv=", re.MULTILINE)
_RESIDENT: Final = re.compile(r"^VmRSS:\s+(\d+) kB$", re.MULTILINE)


class Server(NamedTuple):
    """A broker that answers on loopback."""

    name: str
    port: int
    child: Child

    def connect(self) -> WireClient:
        """A new connection to the broker."""
        return WireClient(self.port)

    def read_resident_mib(self) -> float:
        """The memory that its process, and every process that it started, has resident now."""
        return sum(map(_read_resident_kib, _iter_family(self.child.process_id))) / 1024


def _iter_family(process_id: int) -> Iterator[int]:
    """The process and all below it."""
    yield process_id
    for children in Path(f"/proc/{process_id}/task").glob("*/children"):
        for child in children.read_text("ascii").split():
            yield from _iter_family(int(child))


def _read_resident_kib(process_id: int) -> int:
    # `getrusage` would tell the peak, and of children only once they have ended.
    status = Path(f"/proc/{process_id}/status").read_text("ascii")
    resident = _RESIDENT.search(status)
    if resident is None:
        raise ValueError(f"the system does not tell the resident memory of process {process_id}")
    return int(resident[1])


@contextmanager
def serve_reference(folder: Path) -> Iterator[Server]:
    """The reference runs as it does by default: it keeps its store in the folder and records no history."""
    port = find_broker_port()
    ports = ["--broker-port", str(port), "--namesrv-port", str(port + 2)]
    command = [str(Path(sys.executable).with_name("mqspec")), "serve", *ports]
    log = folder / "serve.log"
    child = Child([*command, "--store", str(folder / "store")], log, {})
    try:
        child.wait_ready(lambda: _READY_LINE.search(log.read_bytes()))
        yield Server("reference", port, child)
    finally:
        child.kill()


@contextmanager
def serve_apache(jars: Jars, folder: Path) -> Iterator[Server]:
    """Apache runs, with its store in the folder."""
    with run_apache(jars, folder / "store", folder / "home", APACHE_FILES) as broker:
        yield Server(f"Apache {jars.version}", broker.port, broker.child)
