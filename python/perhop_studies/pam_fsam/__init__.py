"""PAM and F-SAM: the studies in the order of the paper's section VI.

Das, Dutta and Helmy, "Fair Stateless Aggregate Traffic Marking using Active Queue Management Techniques", 2002.
"""

from __future__ import annotations

from perhop_studies import Paper
from perhop_studies.pam_fsam import bulk, large, mice, pi_pam, rogue, tokens, tuned
from perhop_studies.pam_fsam.figures import draw
from perhop_studies.pam_fsam.method import METHOD, answer, wire_bytes
from perhop_studies.pam_fsam.tokens import cell

PAPER = Paper(
    name="pam-fsam",
    title="Fair Stateless Aggregate Traffic Marking using Active Queue Management Techniques",
    source="A. Das, D. Dutta, A. Helmy, arXiv cs/0204011, April 2002",
    studies=[
        *tokens.STUDIES,
        *bulk.STUDIES,
        *mice.STUDIES,
        *rogue.STUDIES,
        *large.STUDIES,
        *tuned.STUDIES,
        *pi_pam.STUDIES,
    ],
    method=METHOD,
    measured="Every marker sees the same traffic. Throughput is what the receiving application gets in order after "
    "the warm-up.",
    cell=cell,
    pictures=draw,
    answer=answer,
    reread={"a10": wire_bytes},
)
