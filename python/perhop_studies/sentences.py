"""The sentences of a paper that state a result: `perhop_studies/<paper>/sentences.toml`.

Each names the criteria that were drawn from it, or says why there is none. Several criteria may be drawn from one
sentence, and points of an axis are its detail. So a count by sentence says how much of what the paper says holds; that
of criteria says how finely it was asked.

    [[sentence]]
    place = "section 5.2, Fig. 7"
    words = "..."                              # a short quotation; empty for a criterion that no sentence says
    claims = ["pf-fig7/tcp-order", "pf-udp/*"] # study and claim, without grid point; or
    no-claim = "because .."                    # why nothing is measured for it
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from perhop_studies.criteria import Criteria, read
from perhop_studies.verdict import REPRODUCED

FILE = "sentences.toml"
HOLDS, IN_PART, FAILS = "holds", "in part", "fails"


class Sentence(NamedTuple):
    """One of them."""

    place: str
    words: str
    claims: Sequence[str] = ()
    """Patterns of `study/claim`, without grid point."""
    no_claim: str = ""
    """Why it has none."""

    @property
    def title(self) -> str:
        """Where it stands and what it says."""
        return f"{self.place}: {self.words}" if self.words else self.place


def load(directory: Path) -> list[Sentence]:
    """A paper's sentences; none without the file.

    Raises:
        ValueError: an entry with neither claims nor a reason, or with both.
    """
    entries = read(directory / FILE).get("sentence", [])
    found = [Sentence(**{key.replace("-", "_"): value for key, value in entry.items()}) for entry in entries]
    if wrong := [one.title for one in found if bool(one.claims) == bool(one.no_claim)]:
        reason = "give either `claims` or `no-claim`, the reason why there are none"
        raise ValueError(f"{directory / FILE}: {wrong[0]}: {reason}")
    return found


def counted(found: Iterable[Sentence], criteria: Criteria, verdicts: Mapping[tuple[str, str], str]) -> dict[str, int]:
    """How many sentences hold, in part, or fail, of those of which every frozen hard criterion was judged.

    What no sentence of the paper says is not counted.
    """
    states = dict.fromkeys((HOLDS, IN_PART, FAILS), 0)
    hard = [one for one in criteria.hard if not one.added]
    for sentence in (one for one in found if one.words):
        mine = [verdicts.get((one.study, one.claim)) for one in hard if one.fits(sentence.claims)]
        if mine and None not in mine:
            held = mine.count(REPRODUCED)
            states[HOLDS if held == len(mine) else IN_PART if held else FAILS] += 1
    return states
