"""PAM and F-SAM: the studies in the order of the paper's section VI.

Das, Dutta and Helmy, "Fair Stateless Aggregate Traffic Marking using Active Queue Management Techniques", 2002.
"""

from __future__ import annotations

from pathlib import Path

from perhop.studies import Paper, Say
from perhop.studies import notes as noted
from perhop.studies.criteria import Cell
from perhop.studies.drawing import Picture
from perhop.studies.notes import TRIED, Notes, joined
from perhop.studies.pam_fsam import bulk, mice, rogue, tokens
from perhop.studies.pam_fsam.method import METHOD
from perhop.studies.pam_fsam.tokens import cell
from perhop.studies.runs import Budget
from perhop.studies.samples import Samples


def pictures(study: str, runs: Samples, cells: list[Cell]) -> list[Picture]:
    """The figures of one study."""
    from perhop.studies.pam_fsam import figures

    return figures.draw(study, runs, cells)


_ORDERS = {(study.id, claim) for study, claim, _ in rogue.ORDERS}


def notes(directory: Path) -> Notes:
    """Those of both files; what readings gave at 1 Mbit/s is said of the growing UDP flow as well."""
    found = noted.load(directory)
    for (study, claim), text in noted.read(directory / TRIED).items():
        if (study, claim) in _ORDERS:
            grown = f"At 1 Mbit/s, on the grid of {study}: {text}"
            found["pf-udp", claim] = joined(found.get(("pf-udp", claim), ""), grown)
    return found


def try_readings(budget: Budget, out: Path, say: Say) -> Path:
    """Runs the open readings and writes what each gave; see `trials`."""
    from perhop.studies.pam_fsam import trials

    return trials.run(PAPER, budget, (out, say))


PAPER = Paper(
    name="pam-fsam",
    title="Fair Stateless Aggregate Traffic Marking using Active Queue Management Techniques",
    source="A. Das, D. Dutta, A. Helmy, arXiv cs/0204011, April 2002",
    studies=[*tokens.STUDIES, *bulk.STUDIES, *mice.STUDIES, *rogue.STUDIES],
    method=METHOD,
    measured="Every marker sees the same traffic. Throughput is what the receiving application gets in order after "
    "the warm-up.",
    cell=cell,
    pictures=pictures,
    try_readings=try_readings,
    notes=notes,
)
