"""The papers by name, and what else is asked."""

from __future__ import annotations

from perhop_studies import Paper, msvb_sio, pam_fsam, pps, redp, rtt_rto, today

PAPERS: dict[str, Paper] = {
    found.name: found for found in (pam_fsam.PAPER, pps.PAPER, msvb_sio.PAPER, redp.PAPER, rtt_rto.PAPER)
}

ASKED = {today.PAPER.name: today.PAPER}
"""Studies that are no paper's: run by name only, and reported, never judged."""


def paper(name: str) -> Paper:
    """A paper, or what else is asked, by its name.

    Raises:
        KeyError: there is none of that name.
    """
    return (PAPERS | ASKED)[name]
