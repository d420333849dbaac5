"""Requests that real clients sent, as frames."""

import json
from pathlib import Path
from typing import Final

from spec.wire.frame import Frame, decode_frame

CAPTURES: Final = Path(__file__).parents[2] / "vectors" / "captures"


def captured_frames(name: str, *codes: int) -> list[Frame]:
    """The requests in one capture, those with these codes if any are given, in their order."""
    rows = map(json.loads, (CAPTURES / f"{name}.jsonl").read_text("utf-8").splitlines())
    frames = [decode_frame(bytes.fromhex(row["hex"])) for row in rows if row["ev"] == "req"]
    return [frame for frame in frames if not codes or frame.code in codes]
