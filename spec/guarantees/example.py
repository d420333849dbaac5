"""One rule, one written history, one word: for examples in clauses and the book."""

from spec.guarantees.judge import judge_history
from spec.history.notation import parse_history


def verdict_of(rule: str, history: str) -> str:
    """What the rule says about the history, which is written in the notation."""
    verdicts = {
        judgement.rule: judgement.verdict.value for judgement in judge_history(parse_history(history))
    }
    return verdicts[rule]
