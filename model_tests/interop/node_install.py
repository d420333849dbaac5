"""The JavaScript client, installed by npm at the exact version that the drivers name."""

import json
import re
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Final

from model_tests.interop.artifact import INTEROP_OUT, InconclusiveError, find_program
from model_tests.interop.native_program import (
    PROBE_LIMIT_SECONDS,
    ClientProgram,
    derive_reason,
    keep_installed,
    run_installer,
)

DRIVERS: Final = Path(__file__).parent / "node_peer"
PACKAGE: Final = DRIVERS / "package.json"
CLIENT: Final = "ali-ons"
NODE_AT_LEAST: Final = 20
"""The drivers parse their options with what the first 18.x did not have yet; 20 is the oldest one tried."""

_OPTIONS: Final = ("--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--loglevel=error")


def _read_version() -> str:
    """The version that the drivers are pinned to."""
    version: str = json.loads(PACKAGE.read_text("utf-8"))["dependencies"][CLIENT]
    assert re.fullmatch(r"\d+\.\d+\.\d+", version), f"{version} is not one exact version"
    return version


def _find_node() -> Path:
    node = find_program("node")
    told = run_installer([node, "--version"], PROBE_LIMIT_SECONDS).stdout.strip()
    found = re.match(r"v(\d+)\.", told)
    if found is None or int(found[1]) < NODE_AT_LEAST:
        raise InconclusiveError(
            f"node is {told or 'silent about its version'}, the drivers need {NODE_AT_LEAST}"
        )
    return node


def _install(folder: Path) -> None:
    shutil.copy(PACKAGE, folder)
    ended = run_installer([find_program("npm"), "install", "--prefix", folder, *_OPTIONS])
    if ended.returncode != 0 or not (folder / "node_modules" / CLIENT / "package.json").is_file():
        # The code is enough: what npm prints behind it is full of addresses.
        reason = derive_reason(ended.stderr, r"^npm (?:error|ERR!) code (.*)$")
        raise InconclusiveError(f"npm cannot install {CLIENT} {_read_version()}: {reason}")


def resolve_node_client(root: Path = INTEROP_OUT) -> ClientProgram:
    """The client is in a folder below `root`, and loads."""
    node = _find_node()
    folder = root / f"node-client-{_read_version()}"
    keep_installed(folder, sha256(PACKAGE.read_bytes()).hexdigest(), _install)
    environment = {"NODE_PATH": str(folder / "node_modules")}
    return ClientProgram("node", (str(node),), f"{DRIVERS}/{{}}.js", environment, makes_ids=False)
