"""Where the programs of a peer come from: a Java, and the jars that Maven resolves.

What cannot be had makes the cases inconclusive, with the reason; it never makes them pass. Jars that
were resolved once are kept, and the next run asks nobody for them.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from model_tests.evaluation import OUT
from spec.override import override

INTEROP_OUT: Final = OUT / "interop"
POM: Final = Path(__file__).parent / "apache" / "pom.xml"
APACHE_VERSION: Final = "4.9.7"
"""As in the pom: the last 4.9 whose broker and name server are published."""

JAVA_AT_LEAST: Final = 17
RESOLVE_LIMIT_SECONDS: Final = 600


class InconclusiveError(Exception):
    """A peer cannot be had on this machine, so nothing was learned about it."""


@dataclass(frozen=True, slots=True)
class Jars:
    """A Java and a folder of jars: enough to start the programs in them."""

    java: Path
    folder: Path
    version: str

    @override
    def __str__(self) -> str:
        return f"apache-{self.version}"


def find_program(name: str) -> Path:
    """The program of this name on the path."""
    found = shutil.which(name)
    if found is None:
        raise InconclusiveError(f"there is no {name} on this machine")
    return Path(found)


def parse_java_version(text: str) -> int:
    """The major version in what `java -version` prints."""
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    if found is None:
        raise InconclusiveError(f"java does not say its version: {text[:80]!r}")
    return int(found[1])


def find_java() -> Path:
    """A Java that is new enough."""
    java = find_program("java")
    told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    version = parse_java_version(told.stderr)
    if version < JAVA_AT_LEAST:
        raise InconclusiveError(
            f"java is version {version}, the peer is started with {JAVA_AT_LEAST} or newer"
        )
    return java


def resolve_apache(version: str = APACHE_VERSION, root: Path = INTEROP_OUT) -> Jars:
    """The jars of Apache's name server and broker are in a folder below `root`."""
    java = find_java()
    folder = root / f"apache-{version}" / "lib"
    mark = folder.with_name("resolved")
    wanted = sha256(POM.read_bytes()).hexdigest()
    if not (mark.is_file() and mark.read_text("utf-8") == wanted):
        _copy_jars(version, folder)
        mark.write_text(wanted, "utf-8")
    return Jars(java, folder, version)


def _copy_jars(version: str, folder: Path) -> None:
    """The folder holds what Maven found, and only that; a failure leaves no folder that looks whole."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    command = [
        str(find_program("mvn")),
        *("--batch-mode", "--quiet", "--update-snapshots", "--file", str(POM)),
        *(f"-Drocketmq.version={version}", f"-DoutputDirectory={folder}", "-DincludeScope=runtime"),
        "dependency:copy-dependencies",
    ]
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=RESOLVE_LIMIT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise InconclusiveError(f"Maven did not end within {RESOLVE_LIMIT_SECONDS} s") from None
    if ended.returncode != 0 or not any(folder.glob(f"rocketmq-broker-{version}.jar")):
        shutil.rmtree(folder, ignore_errors=True)
        raise InconclusiveError(f"Maven cannot resolve Apache {version}: {_first_error(ended.stdout)}")


def _first_error(printed: str) -> str:
    """What Maven complained about first, without the addresses of repositories."""
    errors = (line for line in printed.splitlines() if "[ERROR]" in line)
    line = next(errors, "it printed no error").partition("[ERROR]")[2].partition(" -> ")[0].strip()
    return re.sub(r" \(?https?://\S+", "", line) or "it printed no error"
