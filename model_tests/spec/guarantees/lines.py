"""Judging one rule over a few written lines."""

from spec.guarantees.judge import judge_history
from spec.guarantees.verdict import Judgement
from spec.history.notation import parse_history


def judge_lines(rule: str, *lines: str) -> Judgement:
    judgements = judge_history(parse_history("\n".join(lines)))
    return next(judgement for judgement in judgements if judgement.rule == rule)


def find_shown(judgement: Judgement) -> list[tuple[str, list[int]]]:
    """Each witness as its summary and the numbers of the lines that show it."""
    return [
        (witness.summary, [event.sequence for event in witness.events]) for witness in judgement.witnesses
    ]
