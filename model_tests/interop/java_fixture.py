"""A pytest plugin for the cases with the Java client; a module names it in `pytest_plugins`."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from model_tests.interop.artifact import InconclusiveError, Jars
from model_tests.interop.java_admin import Admin
from model_tests.interop.java_artifact import CLIENT_VERSIONS, resolve_client
from model_tests.interop.java_peer import JavaClient
from model_tests.interop.target import Target


@cache
def _find(version: str) -> Jars | InconclusiveError:
    """The client, or why there is none: what failed once is not tried again for each case."""
    try:
        return resolve_client(version)
    except InconclusiveError as reason:
        return reason


def _resolve(version: str) -> Jars:
    found = _find(version)
    if isinstance(found, InconclusiveError):
        pytest.skip(f"inconclusive: {found}")
    return found


@pytest.fixture(params=CLIENT_VERSIONS)
def java(request: pytest.FixtureRequest, target: Target, folder: Path) -> Iterator[JavaClient]:
    """The client of each version in turn; what a case started has ended after it."""
    version: str = request.param
    client = JavaClient(_resolve(version), target.name_server, folder)
    yield client
    client.end_all()


@pytest.fixture
def admin(java: JavaClient, target: Target, folder: Path) -> Admin:
    """The administration tools of the same version as the client."""
    return Admin(java.jars, target.name_server, folder)


@pytest.fixture
def both_java(target: Target, folder: Path) -> Iterator[tuple[JavaClient, ...]]:
    """The clients of all versions at once: for what they do together, and for what takes each long."""
    clients = tuple(
        JavaClient(_resolve(version), target.name_server, folder / version) for version in CLIENT_VERSIONS
    )
    yield clients
    for client in clients:
        client.end_all()
