"""PAM and F-SAM: the studies in the order of the paper's section VI.

Das, Dutta and Helmy, "Fair Stateless Aggregate Traffic Marking using Active Queue Management Techniques", 2002.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

from perhop.studies import Paper
from perhop.studies.criteria import Cell
from perhop.studies.drawing import Picture
from perhop.studies.pam_fsam import bulk, mice, rogue, tokens
from perhop.studies.pam_fsam.tokens import cell
from perhop.studies.runs import Budget
from perhop.studies.samples import Samples

__all__ = ["PAPER", "cell", "pictures", "tried", "try_readings"]

PAPER = Paper(
    name="pam-fsam",
    title="Fair Stateless Aggregate Traffic Marking using Active Queue Management Techniques",
    source="A. Das, D. Dutta, A. Helmy, arXiv cs/0204011, April 2002",
    studies=[*tokens.STUDIES, *bulk.STUDIES, *mice.STUDIES, *rogue.STUDIES],
    module=sys.modules[__name__],
)


def pictures(study: str, runs: Samples, cells: list[Cell]) -> list[Picture]:
    """The figures of one study."""
    from perhop.studies.pam_fsam import figures

    return figures.draw(study, runs, cells)


_ORDERS = {(study.id, claim) for study, claim, _ in rogue.ORDERS}


def tried(directory: Path) -> dict[tuple[str, str], str]:
    """By study and claim: why it fails (`notes.toml`), and what other readings gave (`tried.toml`)."""
    found: dict[tuple[str, str], str] = {}
    for file in ("notes.toml", "tried.toml"):
        path = directory / file
        stated = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        for name, text in stated.items():
            study, _, claim = name.partition("/")
            found[study, claim] = f"{found[study, claim]}. {text}" if (study, claim) in found else text
            if file == "tried.toml" and (study, claim) in _ORDERS:
                grown = found.get(("pf-udp", claim), "")
                found["pf-udp", claim] = f"{grown}. At 1 Mbit/s, on the grid of {study}: {text}"
    return found


def try_readings(budget: Budget, out: Path, say: Callable[[str], None]) -> Path:
    """Runs the open readings and writes what each gave; see `trials`."""
    from perhop.studies.pam_fsam import trials

    runs_of = {study.id: study.runs for study in PAPER.studies}
    judge = {study.id: study.judge for study in PAPER.studies}
    return trials.run(lambda c, samples: judge[c.study](c, samples), runs_of, budget).write(out, say)
