"""What CrossHair said of one theorem.

Under `--report_all` every postcondition gets a line `file:line: info|error: message`; a message
may go on in the next line. Each theorem runs in a process of its own, so its output holds the
verdict of one postcondition and nothing else, and anything else is a failure of the lane.
"""

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Verdict(Enum):
    """The possible ends of a search for a counterexample."""

    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not confirmed"
    VACUOUS = "vacuous"
    REFUTED = "refuted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict on one theorem, with CrossHair's own words."""

    theorem: str
    verdict: Verdict
    message: str
    seconds: float


_LINE: Final = re.compile(r"^.+?:\d+: (info|error|warning): (.*)$")


def split_messages(output: str) -> list[tuple[str, str]]:
    """The messages as (kind, text); a line of another form continues the message before it."""
    messages: list[tuple[str, str]] = []
    for line in output.splitlines():
        matched = _LINE.match(line)
        if matched:
            messages.append((matched[1], matched[2]))
        elif messages:
            kind, text = messages.pop()
            messages.append((kind, f"{text} {line.strip()}"))
        elif line.strip():
            messages.append(("unreadable", line))
    return messages


def _judge(kind: str, text: str) -> Verdict:
    if kind == "info" and text.startswith("Confirmed over all paths"):
        return Verdict.CONFIRMED
    if kind == "info" and text.startswith("Not confirmed"):
        return Verdict.NOT_CONFIRMED
    if kind == "info" and text.startswith("Unable to meet precondition"):
        return Verdict.VACUOUS
    if kind == "error" and " when calling " in text:
        return Verdict.REFUTED
    return Verdict.FAILED


def read_verdict(output: str, errors: str) -> tuple[Verdict, str]:
    """The one verdict that the output holds; no verdict, or two, is a failure."""
    messages = split_messages(output)
    if len(messages) != 1:
        told = [text for _, text in messages] or errors.strip().splitlines()[-1:]
        return Verdict.FAILED, f"expected one verdict, got {len(messages)}: {'; '.join(told)}"
    kind, text = messages[0]
    return _judge(kind, text), text
