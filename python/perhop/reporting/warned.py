"""What `check` warns of in the scenario of a run, for the top of its page."""

from __future__ import annotations

from dataclasses import dataclass

from perhop import _core
from perhop.answer import network
from perhop.results import Results

MOST_OPEN = 3
"""More warnings than this are folded."""

MOST_NAMED = 4
"""More points than this are counted, not named."""


@dataclass(frozen=True)
class Warned:
    """A warning, and the points that it is said of; empty if of all."""

    code: str
    text: str
    where: str


def warned(runs: Results) -> list[Warned]:
    """Each warning once, in the order of the points and of `check`."""
    points: dict[tuple[str, str], list[int]] = {}
    for i, point in enumerate(runs.points):
        of = network(point.effective)
        recorded = point.origin is not None and point.origin.recorded
        for found in of.recorded_warnings if recorded else of.warnings:
            points.setdefault((found["code"], _text(found)), []).append(i)
    return [Warned(code, text, _where(runs, at)) for (code, text), at in points.items()]


def _text(found: _core.Diagnostic) -> str:
    """In one sentence: what, why, and what to do."""
    why = f": {found['label']}" if found["label"] else ""
    remedy = f" ({found['help']})" if found["help"] else ""
    return f"{found['message']}{why}{remedy}"


def _where(runs: Results, at: list[int]) -> str:
    different = list(dict.fromkeys(at))
    if len(different) == len(runs.points):
        return ""
    if len(different) > MOST_NAMED:
        return f"{len(different)} of {len(runs.points)} points"
    return "; ".join(runs.points[i].title for i in different)
