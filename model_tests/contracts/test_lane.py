"""The lane tells confirmed from every other end, and notices when manifest and theorems differ."""

import shutil
from pathlib import Path

import pytest

from model_tests.contracts.crosshair import ROOT, run_crosshair
from model_tests.contracts.manifest import (
    Expectation,
    ManifestError,
    check_listing,
    check_result,
    load_manifest,
)
from model_tests.contracts.theorem import Theorem, check_form, find_theorems
from model_tests.contracts.verdict import Result, Verdict, read_verdict
from model_tests.contracts.wrong_variant import (
    WrongVariant,
    WrongVariantError,
    apply_variant,
    check_variant,
    load_variants,
)

SAMPLE = '''\
"""Sample theorems, one for each end."""

from spec.sample import successor


def successor_is_greater(number: int) -> bool:
    """Confirmed.

    clause: sample.number.greater
    pre: 0 <= number <= 9
    post: __return__
    """
    return successor(number) > number


def successor_is_small(number: int) -> bool:
    """Refuted.

    clause: sample.number.small, sample.number.greater
    pre: 0 <= number <= 9
    post: __return__
    """
    return successor(number) < 10


def nothing_is_between(number: int) -> bool:
    """Vacuous.

    clause: sample.number.small
    pre: 3 < number < 3
    post: __return__
    """
    return successor(number) == 3


def no_theorem(number: int) -> int:
    """No postcondition."""
    return number
'''

SAMPLE_RULE = """\
def successor(number: int) -> int:
    return number + 1
"""


def _theorem(name: str, line: int, *clauses: str) -> Theorem:
    return Theorem("sample", name, f"theorems.sample.{name}", line, clauses, ("__return__",))


THEOREMS = [
    _theorem("successor_is_greater", 6, "sample.number.greater"),
    _theorem("successor_is_small", 16, "sample.number.small", "sample.number.greater"),
    _theorem("nothing_is_between", 26, "sample.number.small"),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "__init__.py").write_text("")
    (tmp_path / "spec" / "sample.py").write_text(
        "def successor(number: int) -> int:\n    return number + 1\n"
    )
    (tmp_path / "theorems").mkdir()
    (tmp_path / "theorems" / "sample.py").write_text(SAMPLE)
    return tmp_path


def _result(verdict: Verdict) -> Result:
    return Result("sample.successor_is_greater", verdict, "words", 0.1)


def test_theorems_are_found_without_importing_them(tree: Path) -> None:
    assert find_theorems(tree / "theorems", "theorems") == THEOREMS


def test_a_theorem_in_another_form_is_named_with_its_line() -> None:
    odd = Theorem("odd", "two_posts", "odd.two_posts", 7, (), ("__return__", "True"))
    assert check_form([*THEOREMS[:2], odd], frozenset({"sample.number.greater"})) == [
        "theorems/sample.py:16: successor_is_small: unknown clause sample.number.small",
        "theorems/odd.py:7: two_posts: a theorem has exactly one line `post: __return__`",
        "theorems/odd.py:7: two_posts: names no clause; add a line `clause: chapter.subject.rule`",
    ]


def test_crosshair_judges_the_spec_package_of_the_given_tree(tree: Path) -> None:
    verdicts = [run_crosshair(theorem, 5, tree).verdict for theorem in THEOREMS]
    assert verdicts == [Verdict.CONFIRMED, Verdict.REFUTED, Verdict.VACUOUS]


def test_a_wrong_variant_is_refuted_in_the_copy_that_has_it(tree: Path) -> None:
    variant = WrongVariant("off", "spec/sample.py", "number + 1", "number", THEOREMS[0].id)
    apply_variant(variant, tree)
    result = run_crosshair(THEOREMS[0], 5, tree)
    assert (result.verdict, check_variant(variant, result)) == (Verdict.REFUTED, None)
    assert result.message.startswith("false when calling successor_is_greater(")


def test_a_run_that_would_judge_the_installed_spec_fails(tree: Path) -> None:
    shutil.rmtree(tree / "spec")
    result = run_crosshair(THEOREMS[0], 5, tree)
    assert result.verdict is Verdict.FAILED
    assert result.message == f"judged {ROOT / 'spec' / '__init__.py'}, not {tree / 'spec' / '__init__.py'}"


@pytest.mark.parametrize(
    ("output", "verdict", "message"),
    [
        ("/a/b.py:7: info: Confirmed over all paths.\n", Verdict.CONFIRMED, "Confirmed over all paths."),
        ("/a/b.py:7: info: Not confirmed.\n", Verdict.NOT_CONFIRMED, "Not confirmed."),
        (
            '/a/b.py:7: info: Unable to meet precondition (possibly because it raised "NameError\n"?).\n',
            Verdict.VACUOUS,
            'Unable to meet precondition (possibly because it raised "NameError "?).',
        ),
        (
            "/a/b.py:7: error: false when calling f(9) (which returns False)\n",
            Verdict.REFUTED,
            "false when calling f(9) (which returns False)",
        ),
        (
            "/a/b.py:7: error: AssertionError:  when calling f(90)\n",
            Verdict.REFUTED,
            "AssertionError:  when calling f(90)",
        ),
        (
            "/a/b.py:7: error: bad (<string>)\n",
            Verdict.FAILED,
            "bad (<string>)",
        ),
        ("", Verdict.FAILED, "expected one verdict, got 0: NotFound"),
        (
            "/a/b.py:7: info: Not confirmed.\n/a/b.py:9: info: Not confirmed.\n",
            Verdict.FAILED,
            "expected one verdict, got 2: Not confirmed.; Not confirmed.",
        ),
        ("Killed\n", Verdict.FAILED, "Killed"),
    ],
)
def test_output_is_read_as_one_verdict_or_as_a_failure(output: str, verdict: Verdict, message: str) -> None:
    assert read_verdict(output, "Traceback\nNotFound\n") == (verdict, message)


def test_manifest_and_theorems_must_name_the_same(tmp_path: Path) -> None:
    (tmp_path / "sample.toml").write_text(
        '[successor_is_greater]\nverdict = "confirmed"\n'
        '[nothing_is_between]\nverdict = "not confirmed"\nreason = "Too wide."\n'
        '[gone]\nverdict = "confirmed"\n'
    )
    expectations = load_manifest(tmp_path)
    assert expectations == {
        "sample.successor_is_greater": Expectation(Verdict.CONFIRMED, ""),
        "sample.nothing_is_between": Expectation(Verdict.NOT_CONFIRMED, "Too wide."),
        "sample.gone": Expectation(Verdict.CONFIRMED, ""),
    }
    assert check_listing(THEOREMS, expectations) == [
        "sample.successor_is_small: not in the manifest",
        "sample.gone: in the manifest, but no such theorem",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[t]\nverdict = "not confirmed"', "a theorem that is not confirmed needs a reason"),
        ('[t]\nverdict = "not confirmed"\nreason = " "', "a theorem that is not confirmed needs a reason"),
        ('[t]\nverdict = "proved"', "verdict is 'confirmed' or 'not confirmed', not 'proved'"),
        ('[t]\nverdict = "confirmed"\nwhy = "x"', "unknown key 'why'"),
        ('t = "confirmed"', "expected a table with `verdict`"),
        ("[t", "Expected ']'"),
    ],
)
def test_a_manifest_in_another_form_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "sample.toml").write_text(text)
    with pytest.raises(ManifestError, match=r"^manifest/sample\.toml: .*") as caught:
        load_manifest(tmp_path)
    assert message in str(caught.value)


CONFIRMED = Expectation(Verdict.CONFIRMED, "")
UNCONFIRMED = Expectation(Verdict.NOT_CONFIRMED, "Too wide.")


@pytest.mark.parametrize(
    ("verdict", "expected", "problem"),
    [
        (Verdict.CONFIRMED, CONFIRMED, None),
        (Verdict.NOT_CONFIRMED, UNCONFIRMED, None),
        (Verdict.CONFIRMED, UNCONFIRMED, "now confirmed; update the manifest"),
        (Verdict.NOT_CONFIRMED, CONFIRMED, "not confirmed, expected confirmed: words"),
        (Verdict.REFUTED, CONFIRMED, "refuted, expected confirmed: words"),
        (Verdict.REFUTED, UNCONFIRMED, "refuted, expected not confirmed: words"),
        (Verdict.VACUOUS, CONFIRMED, "vacuous, expected confirmed: words"),
        (Verdict.FAILED, UNCONFIRMED, "failed, expected not confirmed: words"),
    ],
)
def test_a_verdict_must_be_the_listed_one(
    verdict: Verdict, expected: Expectation, problem: str | None
) -> None:
    line = None if problem is None else f"sample.successor_is_greater: {problem}"
    assert check_result(_result(verdict), expected) == line


@pytest.mark.parametrize(
    ("file", "old", "message"),
    [
        ("spec/sample.py", "number - 1", "the old text stands 0 times in spec/sample.py, expected once"),
        ("spec/sample.py", "int", "the old text stands 2 times in spec/sample.py, expected once"),
        ("spec/gone.py", "int", "there is no file spec/gone.py"),
        ("theorems/sample.py", "Vacuous", "there is no file theorems/sample.py"),
    ],
)
def test_a_variant_that_changes_nothing_or_too_much_is_refused(
    tree: Path, file: str, old: str, message: str
) -> None:
    with pytest.raises(WrongVariantError) as caught:
        apply_variant(WrongVariant("w: off", file, old, "x", "sample.successor_is_greater"), tree)
    assert str(caught.value) == f"w: off: {message}"


def test_a_variant_that_is_not_refuted_is_reported() -> None:
    variant = WrongVariant("w: off", "spec/sample.py", "a", "b", "sample.successor_is_greater")
    assert check_variant(variant, _result(Verdict.CONFIRMED)) == (
        "w: off: sample.successor_is_greater must refute it, but: confirmed (words)"
    )


def test_variants_are_read_in_their_one_form(tmp_path: Path) -> None:
    entry = '[[variant]]\nname = "n"\nfile = "spec/a.py"\nold = "x"\nnew = "y"\nrefuted_by = "t.f"\n'
    (tmp_path / "a.toml").write_text(entry)
    assert load_variants(tmp_path) == [WrongVariant("a: n", "spec/a.py", "x", "y", "t.f")]
    (tmp_path / "a.toml").write_text(entry.replace("refuted_by", "by"))
    with pytest.raises(WrongVariantError, match="a variant has the texts name, file, old, new, refuted_by"):
        load_variants(tmp_path)
