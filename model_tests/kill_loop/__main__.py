"""`python -m model_tests.kill_loop --kills 200 --seed 1`: many kills, and one line of figures."""

import argparse
import sys
import tempfile
from pathlib import Path

from model_tests.kill_loop.circle import Figures, run_circle

KILLS_A_LINE = 20


def _tell(figures: Figures) -> None:
    if figures.kills % KILLS_A_LINE == 0:
        sys.stdout.write(f"  {figures.kills} kills, {figures.acknowledged} acknowledged\n")
        sys.stdout.flush()


def main() -> int:
    """0 if nothing was lost and nothing wrong."""
    parser = argparse.ArgumentParser(prog="python -m model_tests.kill_loop")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kill-loop-") as folder:
        figures = run_circle(Path(folder), chosen.kills, chosen.seed, tell=_tell)
    for finding in (*figures.lost, *figures.wrong)[:20]:
        sys.stdout.write(f"  {finding}\n")
    sys.stdout.write(figures.sentence() + "\n")
    return 1 if figures.lost or figures.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
