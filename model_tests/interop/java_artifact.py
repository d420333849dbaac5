"""The official Java client of one version, and our small program around it: resolved, compiled, kept.

One source serves both generations of the client. What was resolved and compiled once is kept until the
pom or the source changes.
"""

import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Final

from model_tests.interop.artifact import (
    INTEROP_OUT,
    RESOLVE_LIMIT_SECONDS,
    InconclusiveError,
    Jars,
    _first_error,
    find_java,
    find_program,
)

CLIENT_VERSIONS: Final = ("4.9.8", "5.3.3")
PROGRAM: Final = Path(__file__).parent / "java_peer"
COMPILE_LIMIT_SECONDS: Final = 120
LANGUAGE_LEVEL: Final = "11"


def resolve_client(version: str, root: Path = INTEROP_OUT) -> Jars:
    """The jars of the client are in a folder of their own, and our program in `classes` beside it."""
    java = find_java()
    home = root / f"java-client-{version}"
    sources = sorted(PROGRAM.glob("src/**/*.java"))
    texts = b"".join(path.read_bytes() for path in (PROGRAM / "pom.xml", *sources))
    mark, wanted = home / "resolved", sha256(texts).hexdigest()
    if not (mark.is_file() and mark.read_text("utf-8") == wanted):
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        _copy_jars(version, home / "lib")
        _compile(sources, home)
        mark.write_text(wanted, "utf-8")
    return Jars(java, home / "lib", version)


def derive_class_path(jars: Jars) -> str:
    """What `java -cp` is given: our program, then the client."""
    return f"{jars.folder.with_name('classes')}:{jars.folder}/*"


def _copy_jars(version: str, folder: Path) -> None:
    """The folder holds what Maven found for the client."""
    command = [
        str(find_program("mvn")),
        *("--batch-mode", "--quiet", "--file", str(PROGRAM / "pom.xml")),
        *(f"-Drocketmq.version={version}", f"-DoutputDirectory={folder}", "-DincludeScope=runtime"),
        "dependency:copy-dependencies",
    ]
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=RESOLVE_LIMIT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise InconclusiveError(f"Maven did not end within {RESOLVE_LIMIT_SECONDS} s") from None
    if ended.returncode != 0 or not (folder / f"rocketmq-client-{version}.jar").is_file():
        raise InconclusiveError(
            f"Maven cannot resolve the Java client {version}: {_first_error(ended.stdout)}"
        )


def _compile(sources: list[Path], home: Path) -> None:
    """Our program is compiled; that it does not is an error of ours, and not inconclusive."""
    command = [str(find_program("javac")), "--release", LANGUAGE_LEVEL, "-Werror"]
    lint = "-Xlint:all,-processing,-path"  # of the jars: annotations and manifests that are not ours
    places = ["-d", str(home / "classes"), "-cp", f"{home / 'lib'}/*"]
    ended = subprocess.run(
        [*command, lint, *places, *map(str, sources)],
        capture_output=True,
        text=True,
        timeout=COMPILE_LIMIT_SECONDS,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
