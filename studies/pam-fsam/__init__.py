"""PAM and F-SAM: the studies in the order of the paper's section VI.

Das, Dutta and Helmy, "Fair Stateless Aggregate Traffic Marking using Active Queue Management Techniques", 2002.
"""

from __future__ import annotations

from pathlib import Path

from perhop_studies import Paper
from perhop_studies import notes as noted
from perhop_studies.notes import TRIED, Notes, joined
from perhop_studies.pam_fsam import bulk, mice, rogue, tokens
from perhop_studies.pam_fsam.figures import draw
from perhop_studies.pam_fsam.method import METHOD, answer
from perhop_studies.pam_fsam.tokens import cell

_ORDERS = {(study.id, claim) for study, claim, _ in rogue.ORDERS}


def notes(directory: Path) -> Notes:
    """Those of both files; what readings gave at 1 Mbit/s is said of the growing UDP flow as well."""
    found = noted.load(directory)
    for (study, claim), text in noted.read(directory / TRIED).items():
        if (study, claim) in _ORDERS:
            grown = f"At 1 Mbit/s, on the grid of {study}: {text}"
            found["pf-udp", claim] = joined(found.get(("pf-udp", claim), ""), grown)
    return found


PAPER = Paper(
    name="pam-fsam",
    title="Fair Stateless Aggregate Traffic Marking using Active Queue Management Techniques",
    source="A. Das, D. Dutta, A. Helmy, arXiv cs/0204011, April 2002",
    studies=[*tokens.STUDIES, *bulk.STUDIES, *mice.STUDIES, *rogue.STUDIES],
    method=METHOD,
    measured="Every marker sees the same traffic. Throughput is what the receiving application gets in order after "
    "the warm-up.",
    cell=cell,
    pictures=draw,
    notes=notes,
    answer=answer,
)
