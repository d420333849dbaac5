"""`mqspec clauses` shows the registry, whole, to people and to programs."""

import dataclasses
import json
import sys

import pytest

from refimpl.cli import clauses as command
from refimpl.cli.entry import run
from spec.registry import parse_page

PAGE = """\
# {chapter}

## {chapter}.thing.{name}

- level: {level}
- side: broker, client
- when: always
- source: decision: an example

A {name} thing is a thing.

Why: Otherwise it is none.

Holds:

```python
assert True
```

Broken: A thing that is none.
"""


CASES = [("alpha", "first", "must"), ("alpha", "second", "may"), ("beta", "third", "must")]
CLAUSES = [
    parse_page(chapter, PAGE.format(chapter=chapter, name=name, level=level))[0]
    for chapter, name, level in CASES
]


@pytest.fixture(autouse=True)
def _sample_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "load_clauses", lambda: {clause.id: clause for clause in CLAUSES})


def _output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["clauses", *arguments]) == 0
    return capsys.readouterr().out


def test_the_list_is_a_table_by_chapter(capsys: pytest.CaptureFixture[str]) -> None:
    assert _output(capsys) == (
        "alpha (2 clauses)\n"
        "  must    alpha.thing.first   A first thing is a thing.\n"
        "  may     alpha.thing.second  A second thing is a thing.\n"
        "\n"
        "beta (1 clause)\n"
        "  must    beta.thing.third  A third thing is a thing.\n"
        "\n"
    )


def test_chapter_and_level_choose(capsys: pytest.CaptureFixture[str]) -> None:
    assert _output(capsys, "--chapter", "alpha", "--level", "must") == (
        "alpha (1 clause)\n  must    alpha.thing.first  A first thing is a thing.\n\n"
    )


def test_nothing_left_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["clauses", "alpha.thing.first", "--chapter", "beta"]) == 0
    assert capsys.readouterr() == ("", "no clause fits all that was asked for\n")


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        (80, "  must    alpha.thing.first   A first thing is a thing.\n"),
        (30, "  must    alpha.thing.first\n          A first thing is a\n          thing.\n"),
        (9, "  must    alpha.thing.first\n          A first thing is a\n          thing.\n"),
    ],
)
def test_a_narrow_terminal_wraps_sentences(
    columns: int, row: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert row in _output(capsys)


def test_a_wide_terminal_has_one_line_a_clause(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    long = dataclasses.replace(CLAUSES[0], sentence="A " + "long " * 20 + "sentence.")
    monkeypatch.setattr(command, "load_clauses", lambda: {long.id: long})
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert _output(capsys).splitlines()[1] == (f"  must    alpha.thing.first  A {'long ' * 20}")[:79] + "…"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("alpha", "alpha is a chapter, not a clause: use --chapter alpha."),
        ("alpha.thing.frist", "there is no clause alpha.thing.frist; close to it: alpha.thing.first"),
        ("x", "there is no clause x."),
    ],
)
def test_an_unknown_clause_is_wrong_usage(name: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["clauses", name]) == 64
    assert line in capsys.readouterr().err


def test_an_unknown_chapter_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["clauses", "--chapter", "gamma"]) == 64
    assert "there is no chapter gamma; there are alpha, beta." in capsys.readouterr().err


def test_a_clause_asked_for_is_shown_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert _output(capsys, "beta.thing.third") == (
        f"beta.thing.third  (must, broker, client; text {CLAUSES[2].text_hash})\n"
        "\n"
        "  A third thing is a thing.\n"
        "\n"
        "  Why: Otherwise it is none.\n"
        "  When: always\n"
        "  Source: decision: an example\n"
        "\n"
        "  Holds:\n"
        "    assert True\n"
        "\n"
        "  Broken:\n"
        "    A thing that is none.\n"
        "\n"
    )


def test_json_holds_every_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(_output(capsys, "--json", "beta.thing.third")) == [
        {
            "id": "beta.thing.third",
            "chapter": "beta",
            "level": "must",
            "sides": ["broker", "client"],
            "when": "always",
            "source": "decision: an example",
            "sentence": "A third thing is a thing.",
            "reason": "Otherwise it is none.",
            "holds": {"text": "assert True", "is_code": True},
            "broken": {"text": "A thing that is none.", "is_code": False},
            "text_hash": CLAUSES[2].text_hash,
        }
    ]
