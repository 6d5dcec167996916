"""Today: do the markers of the five papers still matter?

Every marker before every queue it goes with, under transports as they are deployed, in five scenarios. Nothing here is
judged: each answer of `perhop_studies/today/criteria.toml` is reported with the cells it is read from.
"""

from __future__ import annotations

from perhop_studies import Paper
from perhop_studies.today.answers import STUDIES
from perhop_studies.today.figures import draw
from perhop_studies.today.method import METHOD

PAPER = Paper(
    name="today",
    title="Do the markers of the five papers still matter?",
    source="the systems of five papers of the early 2000s beside the queues and transports of today",
    studies=STUDIES,
    method=METHOD,
    measured="What a customer gets is what passes the shared link of 10 Mbit/s from 10 s to 40 s, headers included.",
    pictures=draw,
    template="today.html",
)
