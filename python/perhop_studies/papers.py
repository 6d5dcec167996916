"""The papers by name, what else is asked, and what tries the readings of each."""

from __future__ import annotations

from perhop_studies import Paper, msvb_sio, pam_fsam, pps, redp, rtt_rto, today
from perhop_studies.msvb_sio.trials import TRIAL as MSVB_SIO
from perhop_studies.pam_fsam.trials import TRIAL as PAM_FSAM
from perhop_studies.pps.trials import TRIAL as PPS
from perhop_studies.redp.trials import TRIAL as REDP
from perhop_studies.rtt_rto.trials import TRIAL as RTT_RTO
from perhop_studies.trying import Trial

PAPERS: dict[str, Paper] = {
    found.name: found for found in (pam_fsam.PAPER, pps.PAPER, msvb_sio.PAPER, redp.PAPER, rtt_rto.PAPER)
}
TRIALS: dict[str, Trial] = dict(zip(PAPERS, (PAM_FSAM, PPS, MSVB_SIO, REDP, RTT_RTO), strict=True))

ASKED = {today.PAPER.name: today.PAPER}
"""Studies that are no paper's: run by name only, and reported, never judged."""


def paper(name: str) -> Paper:
    """A paper, or what else is asked, by its name.

    Raises:
        KeyError: there is none of that name.
    """
    return (PAPERS | ASKED)[name]
