"""Every recorded example of a rule gets the verdict written on it.

A file under `vectors/histories/RULE/` is a history in the notation, with `# rule:`, `# verdict:`
and `# why:` on top (and `# zoo:` where it retells a real defect). Each rule has at least one
violated history and a legal twin: something that a cruder rule would call a violation.
"""

import re
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from spec.guarantees.catalogue import MONITORS
from spec.guarantees.judge import judge_history
from spec.guarantees.verdict import Verdict
from spec.history.json_lines import decode_events, encode_events
from spec.history.notation import parse_history

FOLDER = Path(__file__).parents[2] / "vectors" / "histories"
FILES = sorted(FOLDER.glob("*/*.txt"))
RULES = {monitor.rule.id: monitor.rule for monitor in MONITORS}


def read_label(text: str, name: str) -> str:
    found = re.search(rf"^# {name}: (.+)$", text, re.MULTILINE)
    assert found, f"the history needs a line '# {name}: ...'"
    return found[1]


def as_parameter(path: Path) -> ParameterSet:
    rule = RULES[path.parent.name]
    return pytest.param(path, id=f"{rule.id}/{path.stem}", marks=pytest.mark.clause(rule.clause))


@pytest.mark.parametrize("path", [as_parameter(path) for path in FILES])
def test_history_gets_the_verdict_written_on_it(path: Path) -> None:
    text = path.read_text("utf-8")
    rule = read_label(text, "rule")
    assert rule == path.parent.name
    read_label(text, "why")
    events = parse_history(text)
    assert list(decode_events(encode_events(events))) == events
    judgements = {judgement.rule: judgement for judgement in judge_history(events)}
    assert judgements[rule].verdict is Verdict(read_label(text, "verdict")), judgements[rule]
    if judgements[rule].verdict is not Verdict.VIOLATED:
        other = [judgement for judgement in judgements.values() if judgement.verdict is Verdict.VIOLATED]
        assert other == [], "a legal history violates no rule at all"


@pytest.mark.parametrize("rule", sorted(RULES))
def test_rule_has_a_violating_history_and_a_legal_twin(rule: str) -> None:
    verdicts = {read_label(path.read_text("utf-8"), "verdict") for path in FOLDER.glob(f"{rule}/*.txt")}
    assert {"violated", "held"} <= verdicts
