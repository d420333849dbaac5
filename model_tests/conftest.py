"""What every test shares: the Hypothesis profiles, and the record of evaluated clauses."""

from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from model_tests.evaluation import Recorder, find_unknown_clauses, write_evaluations

settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("nightly", max_examples=5_000, deadline=None, print_blob=True)
settings.load_profile("ci")

_RECORDER = pytest.StashKey[Recorder]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The lane asks for the record; a run of a few tests leaves the last whole one alone."""
    parser.addoption(
        "--evaluations", metavar="FILE", help="write which clauses were evaluated by tests that passed"
    )


def _record_of(config: pytest.Config) -> Path | None:
    name = config.getoption("--evaluations")
    return Path(name) if isinstance(name, str) and not hasattr(config, "workerinput") else None


def pytest_configure(config: pytest.Config) -> None:
    """A recorder listens in every process; only the first one writes, and an old record is gone."""
    if config.getoption("--evaluations"):
        config.stash[_RECORDER] = Recorder()
        config.pluginmanager.register(config.stash[_RECORDER])
    if path := _record_of(config):
        path.unlink(missing_ok=True)


def pytest_unconfigure(config: pytest.Config) -> None:
    """The record stands in its file."""
    if path := _record_of(config):
        write_evaluations(path, config.stash[_RECORDER].evaluations())


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,  # noqa: ARG001 - pytest passes arguments by name
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A test that names an unknown clause is a collection error, not a quiet gap in the matrix."""
    report = yield
    unknown = find_unknown_clauses(item for item in report.result or () if isinstance(item, pytest.Item))
    if unknown:
        report.outcome = "failed"
        report.longrepr = "\n".join(unknown)
        report.result = []
    return report
