"""The causes that rules know are the ones that the schema lists."""

import ast
from enum import StrEnum
from pathlib import Path

import spec.guarantees
from spec.broker.offset_table import Carrier
from spec.history import cause
from spec.history.kind import FORMS

MODULES = sorted(Path(spec.guarantees.__path__[0]).rglob("*.py"))
FAMILIES = {
    name: family
    for name, family in vars(cause).items()
    if isinstance(family, type) and issubclass(family, StrEnum) and family is not StrEnum
}


def is_cause(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "cause"


def has_bare_word(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in ast.walk(node))


def test_no_rule_compares_a_cause_with_a_word_that_is_not_listed() -> None:
    bare = [
        f"{path.name}:{node.lineno}"
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Compare)
        and any(map(is_cause, [node.left, *node.comparators]))
        and any(map(has_bare_word, [node.left, *node.comparators]))
    ]
    assert bare == []


def test_every_listed_cause_is_used_by_a_rule_and_belongs_to_a_kind() -> None:
    used = {
        (node.value.id, node.attr)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    assert {(name, member.name) for name, family in FAMILIES.items() for member in family} - used == {
        ("CommitCause", "PULL"),
        ("CommitCause", "UPDATE"),
    }, "the two ordinary carriers have no other meaning than not to be one of the others"
    assert {tuple(family) for family in FAMILIES.values()} == {
        form.causes for form in FORMS.values() if form.causes
    }


def test_causes_of_a_commit_are_the_carriers_of_the_broker() -> None:
    assert {word.value for word in cause.CommitCause} == {carrier.value for carrier in Carrier}
