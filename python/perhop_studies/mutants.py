"""Do a paper's criteria tell? `perhop_studies/<paper>/mutants.toml` breaks its mechanisms on purpose.

A criterion tells if one of the mutants of its mechanism fails it. One that holds with every mutant too says nothing of
the mechanism, however true it is. `perhop reproduce PAPER --mutants` runs them, with three seeds; a rival that was run
beside the mechanism anyway is judged with ten. What they gave is in `records/mutants.jsonl`.

    [[mechanism]]
    name = "the average of the token level"
    claims = ["pf-fig2/pam-*"]                 # study and claim, without grid point
    [[mechanism.mutant]]
    name = "the level of the moment"
    set = { "@pam.weight?" = 1.0 }             # keys laid over every run set; `sets.RUNS` over one
    [[mechanism.mutant]]
    name = "TSW2CM in the place of PAM"
    axis = "marker"                            # what was run beside it takes its place: no new run
    of = ["pam"]
    by = "tsw2cm"
    [[mechanism.mutant]]
    name = "..."
    patch = "no-average"                       # a wrong line of Rust, mutants/no-average.toml: `make renew-tells`
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from perhop_studies import Paper
from perhop_studies.criteria import Criterion, read
from perhop_studies.runs import Budget
from perhop_studies.samples import Sample
from perhop_studies.variants import FEW, FULL, Bench, Change, Line, Say, Store, Variant, recorded
from perhop_studies.verdict import NOT_REPRODUCED

FILE, KIND = "mutants.toml", "mutants"


@dataclass(frozen=True)
class Mutant(Change):
    """A mechanism that is broken in one place."""

    axis: str = ""
    of: list[Any] = field(default_factory=list)
    by: Any = None
    patch: str = ""

    @property
    def seeds(self) -> int:
        """With which criteria are judged."""
        return FULL if self.axis else FEW

    def made_from(self, directory: Path) -> list[object]:
        """What its line depends on: its definition, a rival's seeds, a patch's text."""
        patches = [directory / f"mutants/{self.patch}.toml"] if self.patch else []
        return [repr(self), *[FULL] * bool(self.axis), *(one.read_text(encoding="utf-8") for one in patches)]

    def replaced(self, samples: Iterable[Sample]) -> list[Sample]:
        """Samples with those of the rival in the mechanism's places."""
        listed = list(samples)
        there = {s.key for s in listed if s.at.get(self.axis) in self.of}
        theirs = [s for s in listed if self.axis in s.at and s.at[self.axis] == self.by]
        moved = [replace(s, at={**s.at, self.axis: value}) for s in theirs for value in self.of]
        taken = {s.key for s in moved} & there
        return [*(s for s in listed if s.key not in taken), *(s for s in moved if s.key in taken)]


class Mechanism(NamedTuple):
    """What some criteria are about, and its mutants."""

    name: str
    claims: list[str]
    """Patterns of `study/claim`, without grid point."""
    mutants: list[Mutant]


def load(directory: Path) -> list[Mechanism]:
    """A paper's mechanisms; none without the file."""
    stated = read(directory / FILE).get("mechanism", [])
    return [Mechanism(one["name"], one["claims"], [Mutant(**mutant) for mutant in one["mutant"]]) for one in stated]


def run(paper: Paper, budget: Budget, out: Path, say: Say, patch: str = "") -> Path:
    """Judges each mechanism's criteria with each of its mutants; of patches, with the one that is built in."""
    bench = Bench(paper, budget, say)
    path, lines = bench.lines(KIND, out, _variants(bench, patch))
    made = {(line["mechanism"], line["mutant"]) for line in lines}
    named = ((mechanism.name, mutant.name) for mechanism in load(paper.directory) for mutant in mechanism.mutants)
    left = (f"{paper.name}: {one[1]}: a patch, which `make renew-tells` runs" for one in named if one not in made)
    print("\n".join([*left, _said(paper, lines)]))
    return path


def _variants(bench: Bench, patch: str) -> Iterable[Variant]:
    for mechanism in load(bench.paper.directory):
        claims = [one for one in bench.hard if one.fits(mechanism.claims)]
        for mutant in mechanism.mutants:
            changed = bench.laid(mutant.lay)
            make = partial(_line, bench, mutant, claims, changed) if mutant.patch == patch else None
            name = {"mechanism": mechanism.name, "mutant": mutant.name}
            yield Variant(name, changed, claims, make, tuple(mutant.made_from(bench.paper.directory)))


def _line(bench: Bench, mutant: Mutant, claims: list[Criterion], changed: Store) -> Line:
    n = mutant.seeds
    if mutant.axis:
        samples = bench.frozen.upto(n, bench.places(claims))
        verdicts = bench.by(mutant.replaced(samples), claims, n).verdicts
    else:
        verdicts = bench.judge(claims, n, changed).verdicts
    return {"seeds": n, "judged": len(verdicts), "fails": [name for name, v in verdicts.items() if v == NOT_REPRODUCED]}


class Sensitivity(NamedTuple):
    """What the mutants of a criterion's mechanism did to it."""

    failed_by: tuple[str, ...]
    tried: int

    @property
    def tells(self) -> bool:
        """Whether one of them fails it."""
        return bool(self.failed_by)


def told(paper: Paper) -> dict[tuple[str, str], Sensitivity]:
    """By study and claim, as last run."""
    lines, mechanisms, found = recorded(paper, KIND), load(paper.directory), {}
    for claim in paper.criteria().hard:
        named = {(m.name, mutant.name) for m in mechanisms if claim.fits(m.claims) for mutant in m.mutants}
        mine = [line for line in lines if (line["mechanism"], line["mutant"]) in named]
        if mine:
            failed = tuple(line["mutant"] for line in mine if claim.name in line["fails"])
            found[claim.study, claim.claim] = Sensitivity(failed, len(mine))
    return found


def _said(paper: Paper, lines: list[Line]) -> str:
    rows = [f"{len(line['fails']):4} of {line['judged']:3} fail  {line['mutant']}" for line in lines]
    failed = {name for line in lines for name in line["fails"]}
    mechanisms = load(paper.directory)
    about = [c.name for c in paper.criteria().hard if any(c.fits(m.claims) for m in mechanisms)]
    never = [name for name in about if name not in failed]
    return "\n".join(
        [*rows, f"no mutant fails {len(never)} of {len(about)} hard criteria:", *(f"  {n}" for n in never)]
    )
