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

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from perhop_studies.criteria import Criteria, Criterion
from perhop_studies.verdict import REPRODUCED

FILE = "sentences.toml"
HOLDS, IN_PART, FAILS = "holds", "in part", "fails"


@dataclass(frozen=True)
class Sentence:
    """One of them."""

    place: str
    words: str
    claims: tuple[str, ...] = ()
    """Patterns of `study/claim`, without grid point."""
    no_claim: str = ""
    """Why it has none."""

    @property
    def title(self) -> str:
        """Where it stands and what it says."""
        return f"{self.place}: {self.words}" if self.words else self.place

    def says(self, criterion: Criterion) -> bool:
        """Whether the criterion is drawn from it."""
        return fits(self.claims, criterion)

    def state(self, verdicts: Sequence[str]) -> str:
        """It holds if all of its criteria do, and in part if some do."""
        held = sum(verdict == REPRODUCED for verdict in verdicts)
        return HOLDS if held == len(verdicts) else IN_PART if held else FAILS


def fits(patterns: Iterable[str], criterion: Criterion) -> bool:
    """Whether one of these patterns names the criterion."""
    return any(fnmatchcase(f"{criterion.study}/{criterion.rule}", pattern) for pattern in patterns)


def load(directory: Path) -> list[Sentence]:
    """A paper's sentences; none without the file.

    Raises:
        ValueError: an entry with neither claims nor a reason, or with both.
    """
    path = directory / FILE
    stated = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    found = [
        Sentence(entry["place"], entry["words"], tuple(entry.get("claims", ())), entry.get("no-claim", ""))
        for entry in stated.get("sentence", [])
    ]
    for one in found:
        if bool(one.claims) == bool(one.no_claim):
            raise ValueError(f"{path}: {one.title}: give either `claims` or `no-claim`, the reason why there are none")
    return found


def counted(found: Iterable[Sentence], criteria: Criteria, verdicts: Mapping[tuple[str, str], str]) -> dict[str, int]:
    """How many sentences hold, in part, or fail, of those of which every frozen hard criterion was judged.

    What no sentence of the paper says is not counted.
    """
    states = dict.fromkeys((HOLDS, IN_PART, FAILS), 0)
    hard = [one for one in criteria.claims if one.kind == "hard" and not one.added]
    for sentence in (one for one in found if one.words):
        mine = [verdicts.get((one.study, one.claim)) for one in hard if sentence.says(one)]
        judged = [verdict for verdict in mine if verdict is not None]
        if judged and len(judged) == len(mine):
            states[sentence.state(judged)] += 1
    return states
