"""Wrong variants: small changes of the real sources that a theorem must refute.

A lane that calls everything confirmed is worth nothing. Each variant replaces one piece of text
in a copy of `spec`, and the theorem it names must find a counterexample there. A variant whose
text is no longer in the source, or is there twice, is an error: it would test nothing.
"""

import shutil
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model_tests.contracts.crosshair import ROOT, run_crosshair
from model_tests.contracts.theorem import Theorem
from model_tests.contracts.verdict import Result, Verdict

FOLDER: Final = Path(__file__).parent / "wrong"
KEYS: Final = ("name", "file", "old", "new", "refuted_by")


@dataclass(frozen=True, slots=True)
class WrongVariant:
    """One change of one file, and the theorem that must notice."""

    id: str
    file: str
    old: str
    new: str
    refuted_by: str


class WrongVariantError(ValueError):
    """A variant that cannot be applied as it is written."""


def _read_variant(where: str, entry: dict[str, object]) -> WrongVariant:
    texts = {key: value for key, value in entry.items() if isinstance(value, str)}
    if sorted(entry) != sorted(KEYS) or len(texts) != len(KEYS):
        raise WrongVariantError(f"{where}: a variant has the texts {', '.join(KEYS)}")
    return WrongVariant(
        f"{where}: {texts['name']}", texts["file"], texts["old"], texts["new"], texts["refuted_by"]
    )


def load_variants(folder: Path = FOLDER) -> list[WrongVariant]:
    """Every variant of every part, in the order in which they stand."""
    variants: list[WrongVariant] = []
    for path in sorted(folder.glob("*.toml")):
        try:
            entries = tomllib.loads(path.read_text("utf-8")).get("variant", [])
        except tomllib.TOMLDecodeError as error:
            raise WrongVariantError(f"wrong/{path.name}: {error}") from error
        variants.extend(_read_variant(path.stem, entry) for entry in entries)
    return variants


def apply_variant(variant: WrongVariant, tree: Path) -> None:
    """The file in `tree` has the wrong text where the right one stood."""
    path = tree / variant.file
    if not variant.file.startswith("spec/") or not path.is_file():
        raise WrongVariantError(f"{variant.id}: there is no file {variant.file}")
    text = path.read_text("utf-8")
    if (count := text.count(variant.old)) != 1:
        raise WrongVariantError(
            f"{variant.id}: the old text stands {count} times in {variant.file}, expected once"
        )
    path.write_text(text.replace(variant.old, variant.new), "utf-8")


def run_variant(variant: WrongVariant, theorem: Theorem, limit_seconds: float) -> Result:
    """The theorem's verdict on a copy of `spec` with the variant applied."""
    with tempfile.TemporaryDirectory(prefix="mqspec-wrong-") as folder:
        tree = Path(folder).resolve()
        shutil.copytree(ROOT / "spec", tree / "spec", ignore=shutil.ignore_patterns("__pycache__"))
        try:
            apply_variant(variant, tree)
        except WrongVariantError as error:
            return Result(theorem.id, Verdict.FAILED, str(error), 0.0)
        return run_crosshair(theorem, limit_seconds, tree)


def check_variant(variant: WrongVariant, result: Result) -> str | None:
    """Nothing if the theorem refuted the variant, otherwise a line that says what happened."""
    if result.verdict is Verdict.REFUTED:
        return None
    return f"{variant.id}: {result.theorem} must refute it, but: {result.verdict.value} ({result.message})"
