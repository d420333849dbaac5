"""What the cases share: the jars, a folder of their own, and stores that Apache filled."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple

import pytest

from model_tests.interop.artifact import APACHE_VERSION, INTEROP_OUT, InconclusiveError, Jars, resolve_apache
from model_tests.interop.load import send_load
from model_tests.interop.peer import NOTHING_CHOSEN, SMALL_FILES, run_apache
from model_tests.interop.served import Served, ask_broker
from model_tests.interop.target import Target, run_target


class FilledStore(NamedTuple):
    """A store that Apache filled and left, and what it had served from it."""

    store: Path
    served: Served


def pytest_addoption(parser: pytest.Parser) -> None:
    """The version of Apache, and what real clients talk to, can be chosen."""
    parser.addoption("--apache-version", default=APACHE_VERSION, help="which Apache broker is the peer")
    parser.addoption(
        "--target", default="reference", choices=("reference", "apache"), help="what clients use"
    )


@pytest.fixture(scope="session")
def jars(pytestconfig: pytest.Config) -> Jars:
    """Apache's jars; without them nothing can be learned, and every case says so."""
    version: str = pytestconfig.getoption("--apache-version")
    try:
        return resolve_apache(version)
    except InconclusiveError as reason:
        pytest.skip(f"inconclusive: {reason}")


@pytest.fixture(scope="module")
def target(request: pytest.FixtureRequest, pytestconfig: pytest.Config) -> Iterator[Target]:
    """What the clients of a module talk to: one broker for all its cases, so each case has its own topics.

    A module may choose settings of broker.conf as its `BROKER_SETTINGS`.
    """
    name: str = pytestconfig.getoption("--target")
    module = str(request.module.__name__).rpartition(".")[2]
    chosen = INTEROP_OUT / "targets" / module
    rmtree(chosen, ignore_errors=True)
    chosen.mkdir(parents=True)
    apache: Jars | None = request.getfixturevalue("jars") if name == "apache" else None
    settings: Mapping[str, str] = getattr(request.module, "BROKER_SETTINGS", NOTHING_CHOSEN)
    with run_target(name, apache, chosen, settings) as running:
        yield running


@pytest.fixture
def folder(request: pytest.FixtureRequest) -> Path:
    """An empty folder of the case; it is kept for whoever wants to look."""
    chosen: Path = INTEROP_OUT / "cases" / str(request.node.name)
    rmtree(chosen, ignore_errors=True)
    chosen.mkdir(parents=True)
    return chosen


def _fill(jars: Jars, name: str, *, is_killed: bool) -> FilledStore:
    folder = INTEROP_OUT / "stores" / name
    rmtree(folder, ignore_errors=True)
    store = folder / "store"
    with run_apache(jars, store, folder / "home") as broker:
        with broker.connect() as client:
            send_load(client)
            client.wait_dispatched()
            served = ask_broker(client, store, SMALL_FILES.shape())
        if is_killed:
            broker.child.kill()
        else:
            broker.child.stop()
    return FilledStore(store, served)


@pytest.fixture(scope="session")
def stopped_by_apache(jars: Jars) -> FilledStore:
    """A store that Apache filled and left by a clean stop."""
    return _fill(jars, "apache-stopped", is_killed=False)


@pytest.fixture(scope="session")
def killed_under_apache(jars: Jars) -> FilledStore:
    """A store that Apache filled and was writing to when it was killed."""
    return _fill(jars, "apache-killed", is_killed=True)
