"""The clauses, read from their pages.

A page of `spec/clauses` is one chapter. Every second-level heading is a clause id, permanent
and semantic; under it stand four labelled lines (level, side, when, source), the normative
sentence, then the labelled blocks `Why:`, `Holds:` and `Broken:`. Every part is always
written. An example in a fenced `python` block is executed by the tests: the `Holds` block must
run without a failing assertion, the `Broken` block must end in one (or in a Rejection). An
example in plain words waits for the code that could execute it.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib import resources
from typing import Final, NewType

ClauseId = NewType("ClauseId", str)


class Level(Enum):
    """How much a clause binds."""

    MUST = "must"
    SHOULD = "should"
    MAY = "may"


class Side(Enum):
    """Whose duty a clause is."""

    BROKER = "broker"
    CLIENT = "client"
    STORE = "store"
    NAME_SERVER = "name server"
    CHECKER = "checker"


@dataclass(frozen=True, slots=True)
class Example:
    """A case of a clause, as code if `is_code`, otherwise in words."""

    text: str
    is_code: bool


@dataclass(frozen=True, slots=True)
class Clause:
    """One normative sentence and everything a reader needs to judge it."""

    id: ClauseId
    chapter: str
    level: Level
    sides: tuple[Side, ...]
    preconditions: str
    source: str
    sentence: str
    reason: str
    holds: Example
    broken: Example
    line: int

    @property
    def text_hash(self) -> str:
        """Changes when the meaning may have changed: a digest of sentence, level and preconditions."""
        text = f"{self.level.value}\n{self.preconditions}\n{self.sentence}"
        return hashlib.sha256(text.encode()).hexdigest()[:12]


class ClausePageError(ValueError):
    """A page that is not written in the form above."""


_HEADING: Final = re.compile(r"## `?([a-z0-9.-]+)`?")
_ID: Final = re.compile(r"[a-z]+(?:-[a-z]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*){2,3}")
_FIELD: Final = re.compile(r"- (level|side|when|source): (.+)")
_FENCE: Final = re.compile(r"```python\n(.*?)\n```", re.DOTALL)
_LABELS: Final = ("Why", "Holds", "Broken")


def _parse_example(text: str) -> Example:
    fenced = _FENCE.fullmatch(text)
    return Example(fenced[1], is_code=True) if fenced else Example(text, is_code=False)


def _parse_clause(chapter: str, name: str, line: int, block: str) -> Clause:
    def fail(what: str) -> ClausePageError:
        return ClausePageError(f"{chapter}.md:{line}: clause {name}: {what}")

    if not _ID.fullmatch(name):
        raise fail("an id is three or four lower-case words in kebab case, joined by dots")
    fields = dict(_FIELD.findall(block))
    if list(fields) != ["level", "side", "when", "source"]:
        raise fail("expected the lines level, side, when, source in this order")
    body = block[block.index("- source: ") :].partition("\n")[2]
    parts = re.split(r"^(Why|Holds|Broken):\s*", body, flags=re.MULTILINE)
    if tuple(parts[1::2]) != _LABELS:
        raise fail("expected the blocks Why:, Holds:, Broken: in this order")
    sentence, reason, holds, broken = (part.strip() for part in parts[::2])
    if not (sentence and reason and holds and broken):
        raise fail("sentence, reason and both examples must be written")
    try:
        level = Level(fields["level"])
        sides = tuple(Side(side) for side in fields["side"].split(", "))
    except ValueError as error:
        raise fail(str(error)) from error
    return Clause(
        id=ClauseId(name),
        chapter=chapter,
        level=level,
        sides=sides,
        preconditions=fields["when"],
        source=fields["source"],
        sentence=" ".join(sentence.split()),
        reason=" ".join(reason.split()),
        holds=_parse_example(holds),
        broken=_parse_example(broken),
        line=line,
    )


def parse_page(chapter: str, text: str) -> list[Clause]:
    """The clauses of one page, in the order in which they stand."""
    clauses: list[Clause] = []
    lines = text.splitlines()
    fenced = [False]
    for line in lines:
        fenced.append(fenced[-1] != line.startswith("```"))
    starts = [n for n, line in enumerate(lines) if not fenced[n] and line.startswith("## ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        heading = _HEADING.fullmatch(lines[start])
        if heading is None:
            raise ClausePageError(f"{chapter}.md:{start + 1}: a second-level heading is a clause id")
        block = "\n".join(lines[start + 1 : end])
        clauses.append(_parse_clause(chapter, heading[1], start + 1, block))
    return clauses


@cache
def load_clauses() -> Mapping[ClauseId, Clause]:
    """All clauses by id, chapters in alphabetical order; an id is used once."""
    clauses: dict[ClauseId, Clause] = {}
    pages = sorted(resources.files("spec.clauses").iterdir(), key=lambda page: page.name)
    for page in pages:
        if not page.name.endswith(".md"):
            continue
        for clause in parse_page(page.name.removesuffix(".md"), page.read_text("utf-8")):
            if clause.id in clauses:
                raise ClausePageError(f"{clause.chapter}.md:{clause.line}: {clause.id} is defined twice")
            clauses[clause.id] = clause
    return clauses
