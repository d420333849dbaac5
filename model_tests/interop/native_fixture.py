"""A pytest plugin for the cases with the native and the JavaScript client; a module names it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from model_tests.interop.artifact import InconclusiveError
from model_tests.interop.native_driver import Client
from model_tests.interop.native_install import resolve_native_client
from model_tests.interop.native_program import ClientProgram
from model_tests.interop.node_install import resolve_node_client
from model_tests.interop.target import Target


def _resolve(resolve: Callable[[], ClientProgram]) -> ClientProgram:
    try:
        return resolve()
    except InconclusiveError as reason:
        pytest.skip(f"inconclusive: {reason}")


@contextmanager
def _run_client(program: ClientProgram, target: Target, folder: Path) -> Iterator[Client]:
    client = Client(program, target.name_server, folder)
    try:
        yield client
    finally:
        client.end_all()


@pytest.fixture(scope="session")
def native_program() -> ClientProgram:
    """The installed native client; without it nothing can be learned, and every case says so."""
    return _resolve(resolve_native_client)


@pytest.fixture(scope="session")
def node_program() -> ClientProgram:
    """The installed JavaScript client; without it nothing can be learned, and every case says so."""
    return _resolve(resolve_node_client)


@pytest.fixture
def native(native_program: ClientProgram, target: Target, folder: Path) -> Iterator[Client]:
    """The native client of a case; what the case started has ended after it."""
    with _run_client(native_program, target, folder) as client:
        yield client


@pytest.fixture
def node(node_program: ClientProgram, target: Target, folder: Path) -> Iterator[Client]:
    """The JavaScript client of a case; what the case started has ended after it."""
    with _run_client(node_program, target, folder) as client:
        yield client


@pytest.fixture(params=("native", "node"))
def client(request: pytest.FixtureRequest) -> Client:
    """Each of the two in turn."""
    chosen: Client = request.getfixturevalue(request.param)
    return chosen
