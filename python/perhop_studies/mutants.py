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

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from perhop_studies import Paper
from perhop_studies.criteria import Criterion
from perhop_studies.runs import Budget, RunSet, Settings
from perhop_studies.samples import Sample
from perhop_studies.sentences import fits
from perhop_studies.variants import FEW, FULL, Bench, Line, Lines, Say, Store, read
from perhop_studies.verdict import NOT_REPRODUCED

FILE, RECORD = "mutants.toml", "records/mutants.jsonl"


@dataclass(frozen=True)
class Mutant:
    """A mechanism that is broken in one place."""

    name: str
    set: dict[str, Any] = field(default_factory=dict)
    sets: dict[str, dict[str, Any]] = field(default_factory=dict)
    axis: str = ""
    of: list[Any] = field(default_factory=list)
    by: Any = None
    patch: str = ""

    @property
    def seeds(self) -> int:
        """With which criteria are judged."""
        return FULL if self.axis else FEW

    def made_from(self, directory: Path) -> list[object]:
        """What else its line depends on: a rival's seeds, a patch's text."""
        patches = [directory / "mutants" / f"{self.patch}.toml"] if self.patch else []
        return [*[self.seeds] * bool(self.axis), *(one.read_text(encoding="utf-8") for one in patches)]

    def lay(self, runs: RunSet) -> Settings:
        """The keys that it lays over a run set."""
        return {**self.set, **self.sets.get(runs.name, {})}

    def replaced(self, samples: Iterable[Sample]) -> list[Sample]:
        """Samples with those of the rival in the mechanism's places."""
        listed = list(samples)
        there = {s.key for s in listed if s.at.get(self.axis) in self.of}
        theirs = [s for s in listed if self.axis in s.at and s.at[self.axis] == self.by]
        moved = [replace(s, at={**s.at, self.axis: value}) for s in theirs for value in self.of]
        taken = {s.key for s in moved} & there
        return [*(s for s in listed if s.key not in taken), *(s for s in moved if s.key in taken)]


@dataclass(frozen=True)
class Mechanism:
    """What some criteria are about, and its mutants."""

    name: str
    claims: tuple[str, ...]
    mutants: tuple[Mutant, ...]

    def decides(self, criterion: Criterion) -> bool:
        """Whether the criterion is about it."""
        return fits(self.claims, criterion)


def load(directory: Path) -> list[Mechanism]:
    """A paper's mechanisms; none without the file."""
    path = directory / FILE
    stated = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return [
        Mechanism(one["name"], tuple(one["claims"]), tuple(Mutant(**mutant) for mutant in one["mutant"]))
        for one in stated.get("mechanism", [])
    ]


def run(paper: Paper, budget: Budget, out: Path, say: Say, patch: str = "") -> Path:
    """Judges each mechanism's criteria with each of its mutants; of patches, with the one that is built in."""
    bench = Bench(paper, replace(budget, seeds=FEW), say)
    lines = Lines.resumed(out / f"mutants-{paper.name}.jsonl", paper.directory / RECORD)
    for mechanism in load(paper.directory):
        claims = [one for one in bench.hard if mechanism.decides(one)]
        for mutant in mechanism.mutants:
            name: Line = {"mechanism": mechanism.name, "mutant": mutant.name}
            changed = bench.laid(mutant.lay)
            of = bench.hash(changed, claims, repr(mutant), *mutant.made_from(paper.directory))
            if mutant.patch == patch or of in lines.kept:
                say(f"{mechanism.name}: {mutant.name}")
                lines.add(of, lambda m=mutant, c=claims, s=changed: _line(bench, m, c, s), name)  # type: ignore[misc]
            else:
                print(f"{paper.name}: {mutant.name}: a patch, which `make renew-tells` runs")
    lines.finish()
    say("")
    print(_said(paper, lines.found))
    return lines.path


def _line(bench: Bench, mutant: Mutant, claims: list[Criterion], changed: Store) -> Line:
    n = mutant.seeds
    if mutant.axis:
        sets = {name for claim in claims for name in bench.paper.study(claim.study).sets}
        samples = bench.frozen.upto(n, {key for key in bench.frozen.places if key[0] in sets})
        verdicts = bench.by(mutant.replaced(samples), claims, n).verdicts
    else:
        verdicts = bench.judge(claims, n, changed).verdicts
    return {"seeds": n, "judged": len(verdicts), "fails": [name for name, v in verdicts.items() if v == NOT_REPRODUCED]}


@dataclass(frozen=True)
class Told:
    """What the mutants of a criterion's mechanism did to it."""

    mechanisms: tuple[str, ...]
    failed_by: tuple[str, ...]
    tried: int

    @property
    def tells(self) -> bool:
        """Whether one of them fails it."""
        return bool(self.failed_by)


def told(paper: Paper, path: Path | None = None) -> dict[tuple[str, str], Told]:
    """By study and claim, as last run."""
    lines, mechanisms, found = read(path or paper.directory / RECORD), load(paper.directory), {}
    for claim in (one for one in paper.criteria().claims if one.kind == "hard"):
        mine = [m for m in mechanisms if m.decides(claim)]
        named = {(m.name, mutant.name) for m in mine for mutant in m.mutants}
        run_of = [line for line in lines if (line["mechanism"], line["mutant"]) in named]
        failed = tuple(line["mutant"] for line in run_of if f"{claim.study}/{claim.claim}" in line["fails"])
        if run_of:
            found[claim.study, claim.claim] = Told(tuple(m.name for m in mine), failed, len(run_of))
    return found


def _said(paper: Paper, lines: list[Line]) -> str:
    rows = [f"{len(line['fails']):4} of {line['judged']:3} fail  {line['mutant']}" for line in lines]
    failed = {name for line in lines for name in line["fails"]}
    mechanisms = load(paper.directory)
    about = [c for c in paper.criteria().claims if c.kind == "hard" and any(m.decides(c) for m in mechanisms)]
    never = [f"{c.study}/{c.claim}" for c in about if f"{c.study}/{c.claim}" not in failed]
    return "\n".join(
        [*rows, f"no mutant fails {len(never)} of {len(about)} hard criteria:", *(f"  {n}" for n in never)]
    )
