"""The committed manifest: which verdict each theorem is expected to get.

CrossHair ends with success when it merely ran out of time. The manifest makes that visible: a
theorem is either listed as confirmed, or as not confirmed with the reason. Both directions are
errors: a confirmed theorem that no longer is, and an unconfirmed one that now could be listed
as confirmed.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model_tests.contracts.theorem import Theorem
from model_tests.contracts.verdict import Result, Verdict

FOLDER: Final = Path(__file__).parent / "manifest"

_LISTED: Final = {"confirmed": Verdict.CONFIRMED, "not confirmed": Verdict.NOT_CONFIRMED}


@dataclass(frozen=True, slots=True)
class Expectation:
    """What the manifest says of one theorem."""

    verdict: Verdict
    reason: str


class ManifestError(ValueError):
    """A manifest part that is not written in the expected form."""


def _read_expectation(where: str, entry: object) -> Expectation:
    if not isinstance(entry, dict):
        raise ManifestError(f"{where}: expected a table with `verdict`")
    if unknown := sorted(set(entry) - {"verdict", "reason"}):
        raise ManifestError(f"{where}: unknown key {unknown[0]!r}")
    verdict, reason = entry.get("verdict"), entry.get("reason", "")
    if verdict not in _LISTED:
        raise ManifestError(f"{where}: verdict is 'confirmed' or 'not confirmed', not {verdict!r}")
    if not isinstance(reason, str) or (verdict == "not confirmed" and not reason.strip()):
        raise ManifestError(f"{where}: a theorem that is not confirmed needs a reason, one sentence")
    return Expectation(_LISTED[verdict], reason)


def load_manifest(folder: Path = FOLDER) -> dict[str, Expectation]:
    """The expectation of every listed theorem, by `module.function`."""
    expectations: dict[str, Expectation] = {}
    for path in sorted(folder.glob("*.toml")):
        try:
            entries = tomllib.loads(path.read_text("utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise ManifestError(f"manifest/{path.name}: {error}") from error
        for name, entry in entries.items():
            where = f"manifest/{path.name}: {name}"
            expectations[f"{path.stem}.{name}"] = _read_expectation(where, entry)
    return expectations


def check_listing(theorems: list[Theorem], expectations: dict[str, Expectation]) -> list[str]:
    """One line for each theorem that is not listed and each listed name that is no theorem."""
    found = [theorem.id for theorem in theorems]
    unlisted = [f"{name}: not in the manifest" for name in found if name not in expectations]
    unknown = [f"{name}: in the manifest, but no such theorem" for name in expectations if name not in found]
    return unlisted + unknown


def check_result(result: Result, expected: Expectation) -> str | None:
    """Nothing if the verdict is the expected one, otherwise a line that says what to do."""
    if result.verdict is expected.verdict:
        return None
    if result.verdict is Verdict.CONFIRMED:
        return f"{result.theorem}: now confirmed; update the manifest"
    return f"{result.theorem}: {result.verdict.value}, expected {expected.verdict.value}: {result.message}"
