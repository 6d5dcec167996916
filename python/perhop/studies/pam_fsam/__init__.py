"""PAM and F-SAM: Das, Dutta and Helmy, "Fair Stateless Aggregate Traffic Marking using Active Queue Management

Techniques", 2002. The studies in the order of the paper's section VI.
"""

from __future__ import annotations

import sys

from perhop.studies import Paper
from perhop.studies.pam_fsam import bulk, mice, rogue, tokens

PAPER = Paper(
    name="pam-fsam",
    title="Fair Stateless Aggregate Traffic Marking using Active Queue Management Techniques",
    source="A. Das, D. Dutta, A. Helmy, arXiv cs/0204011, April 2002",
    studies=[*tokens.STUDIES, *bulk.STUDIES, *mice.STUDIES, *rogue.STUDIES],
    module=sys.modules[__name__],
)
