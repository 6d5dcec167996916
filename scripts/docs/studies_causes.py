"""Fills the tables of causes in docs/reports/studies/PAPER.md from causes.toml and what the interventions gave.

$ perhop reproduce PAPER --causes
$ python scripts/docs/studies_causes.py
"""

from __future__ import annotations

from pathlib import Path

from perhop_studies import Paper, causes, tally
from perhop_studies.causes import Cause, Trial
from perhop_studies.papers import PAPERS
from perhop_studies.settings import FROZEN
from perhop_studies.verdict import REPRODUCED

STUDIES = Path(__file__).parents[2] / "docs/reports/studies"
BEGIN, END = "<!-- causes: scripts/docs/studies_causes.py -->\n", "<!-- end of causes -->\n"
SEED = 1


def table(paper: Paper) -> str:
    """A row for each cause: its claims that fail as frozen, the cause, and each intervention with its outcome."""
    tried, failed = causes.trials(paper), tally.read(paper)[FROZEN, SEED].failed
    rows = [_row(paper, cause, failed, tried) for cause in causes.load(paper.directory)]
    return "\n".join(["| claim | cause | intervention | result |", "| --- | --- | --- | --- |", *rows])


def _row(paper: Paper, cause: Cause, failed: tuple[str, ...], tried: dict[str, list[Trial]]) -> str:
    names = [one.name for one in paper.criteria().claims if one.fits(cause.claims)]
    frozen = [name for name in names if name in failed] or names
    listed = [intervention.name for intervention in cause.interventions]
    results = [_result(frozen, name, tried) for name in listed]
    cells = (
        ", ".join(f"`{name}`" for name in cause.claims),
        cause.text or "open",
        "<br>".join(listed) or "none tried",
        "<br>".join(results),
    )
    return "| " + " | ".join(cells) + " |"


def _result(names: list[str], intervention: str, tried: dict[str, list[Trial]]) -> str:
    """How many of the points that fail as frozen then hold."""
    found = [trial for name in names for trial in tried.get(name, []) if trial.intervention == intervention]
    held = sum(trial.verdict == REPRODUCED for trial in found)
    seeds = max((trial.seeds for trial in found), default=0)
    outcome = ("holds" if held else "fails") if len(found) == 1 else f"{held} of {len(found)} hold"
    return f"{outcome} ({seeds} seeds)"


def filled(page: str, block: str) -> str:
    """The page with its table replaced."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + "\n" + block + "\n\n" + END + rest.split(END)[1]


def main() -> None:
    """Writes the pages."""
    for name, paper in PAPERS.items():
        path = STUDIES / f"{name}.md"
        path.write_text(filled(path.read_text(encoding="utf-8"), table(paper)), encoding="utf-8")


if __name__ == "__main__":
    main()
