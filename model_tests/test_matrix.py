"""The matrix counts what really ran and passed, and nothing else."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from model_tests.evaluation import layer_of
from model_tests.matrix import (
    MatrixError,
    check_matrix,
    derive_totals,
    merge,
    read_awaiting,
    read_evaluations,
)

RECORD = {"a.b.c": {"property": ["t1"], "example": ["e1"]}, "a.b.d": {"example": ["e2"]}}

SAMPLE_TEST = """\
import pytest

@pytest.mark.clause("sample.test.one", "sample.test.two")
def test_that_passes(): pass

@pytest.mark.clause("sample.test.two")
def test_that_fails(): assert False

@pytest.mark.clause("sample.test.three")
def test_that_is_skipped(): pytest.skip("no")

@pytest.mark.clause("sample.test.four")
@pytest.mark.xfail(strict=True)
def test_that_fails_as_expected(): assert False

@pytest.fixture
def broken_end():
    yield
    assert False

@pytest.mark.clause("sample.test.five")
def test_whose_end_fails(broken_end): pass

@pytest.mark.parametrize("case", [pytest.param(1, marks=pytest.mark.clause("sample.test.six")), 2])
def test_of_cases(case): pass
"""


def _run_pytest(folder: Path, source: str, known: list[str], *arguments: str) -> tuple[str, Path]:
    """Run the real plugin on a small suite whose clauses are `known`."""
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n  clause\n")
    (folder / "conftest.py").write_text(
        "import model_tests.evaluation as evaluation\n"
        f"evaluation.load_clauses = lambda: {dict.fromkeys(known)!r}\n"
        "from model_tests.conftest import *\n"
    )
    (folder / "test_sample.py").write_text(source)
    record = folder / "out" / "record.json"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        f"--evaluations={record}",
        *arguments,
    ]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return ended.stdout + ended.stderr, record


KNOWN = [f"sample.test.{number}" for number in ("one", "two", "three", "four", "five", "six")]
PASSED = {
    "sample.test.one": {"property": ["test_sample.py::test_that_passes"]},
    "sample.test.six": {"property": ["test_sample.py::test_of_cases[1]"]},
    "sample.test.two": {"property": ["test_sample.py::test_that_passes"]},
}


@pytest.mark.parametrize("workers", ["0", "2"])
def test_only_passed_tests_evaluate_clauses_in_any_number_of_processes(tmp_path: Path, workers: str) -> None:
    output, record = _run_pytest(tmp_path, SAMPLE_TEST, KNOWN, "-n", workers)
    assert "1 failed, 4 passed, 1 skipped, 1 xfailed, 1 error" in output
    assert json.loads(record.read_text()) == PASSED


@pytest.mark.parametrize("workers", ["0", "2"])
def test_an_unknown_clause_fails_the_collection(tmp_path: Path, workers: str) -> None:
    output, record = _run_pytest(tmp_path, SAMPLE_TEST, KNOWN[1:], "-n", workers)
    assert "test_that_passes: unknown clause 'sample.test.one': no page of spec/clauses defines it" in output
    assert "1 error" in output
    assert json.loads(record.read_text()) == {}


@pytest.mark.parametrize(
    ("test", "layer"),
    [
        ("model_tests/vectors/test_capture.py::test_a", "vector"),
        ("model_tests/machines/test_group.py::test_a", "machine"),
        ("model_tests/simulation/test_seed.py::test_a", "simulation"),
        ("model_tests/spec/guarantees/test_order.py::test_a", "monitor"),
        ("model_tests/spec/test_clause_pages.py::test_a[x]", "example"),
        ("model_tests/spec/wire/test_frame.py::test_a", "property"),
    ],
)
def test_the_layer_comes_from_the_path(test: str, layer: str) -> None:
    assert layer_of(test) == layer


def test_records_are_merged_by_clause_and_layer() -> None:
    other = {"a.b.c": {"contract": ["x.y"], "property": ["t2"]}}
    assert merge(RECORD, other) == {
        "a.b.c": {"contract": ["x.y"], "property": ["t1", "t2"], "example": ["e1"]},
        "a.b.d": {"example": ["e2"]},
    }


def test_every_disagreement_has_its_line() -> None:
    clauses = ["a.b.c", "a.b.e", "a.b.f"]
    awaiting = {"a.b.c": "later", "a.b.f": "later", "a.b.g": "later"}
    assert check_matrix(clauses, RECORD, awaiting) == [
        "a.b.e: evaluated by nothing; name it in a test, or in awaiting.toml",
        "a.b.c: is evaluated; take it off awaiting.toml",
        "a.b.g: on awaiting.toml, but no such clause",
        "a.b.d: recorded, but no such clause; run the lanes again",
    ]


def test_totals_show_clauses_that_rest_on_their_examples_alone() -> None:
    assert derive_totals(["a.b.c", "a.b.d", "a.b.e"], RECORD, {"a.b.e": "later"}) == {
        "clauses": 3,
        "contract": 0,
        "property": 1,
        "monitor": 0,
        "machine": 0,
        "simulation": 0,
        "vector": 0,
        "example": 2,
        "example only": 1,
        "awaiting": 1,
        "evaluated by nothing": 1,
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('at_most = 2\n[awaiting]\n"a.b.c" = "later"', "at_most is 2, but 1 clauses wait"),
        ('[awaiting]\n"a.b.c" = "later"', "at_most is None, but 1 clauses wait"),
        ('at_most = 1\n[awaiting]\n"a.b.c" = ""', "a.b.c: say which later part will evaluate it"),
    ],
)
def test_a_waiting_list_in_another_form_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "awaiting.toml").write_text(text)
    with pytest.raises(MatrixError) as caught:
        read_awaiting(tmp_path / "awaiting.toml")
    assert message in str(caught.value)


def test_a_missing_record_says_which_lanes_to_run(tmp_path: Path) -> None:
    with pytest.raises(MatrixError, match="run `make contracts unit` first"):
        read_evaluations(tmp_path / "gone.json")
