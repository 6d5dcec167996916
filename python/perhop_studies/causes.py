"""Why claims fail: `perhop_studies/<paper>/causes.toml`, with the experiments that show it.

    [[cause]]
    claims = ["rtt-fig5/larger-windows"]       # study and claim, without grid point
    measured = "Windows are {RTT-SW / basic} of basic's"   # printed wherever the claim fails
    text = "..."                               # the cause in the frozen setting: what an intervention takes away
    [[cause.intervention]]
    name = "50 flows an aggregate, not 200"
    set = { "@ftp.flows" = 50 }                # keys laid over every run set; `sets.RUNS` over one
    setting = "kindest"                        # a named setting, below these keys
    seeds = 40                                 # ten without it

Without `text` the cause is open: no intervention makes the claims hold. `perhop reproduce PAPER --causes` runs the
interventions; what each gave is in `records/causes.jsonl`.

`measured` says nothing that the run at hand does not: `{LABEL}` is the part of the claim with that label (stars match
any text; of several parts the least and the largest are given), `{LABEL|%}` is in per cent, and `{LABEL|sign}` says on
which side of zero its interval lies.

Decision: docs/decisions/124-a-cause-needs-an-intervention.md
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from perhop_studies import Paper, trying
from perhop_studies.criteria import Criterion, read
from perhop_studies.runs import Budget, RunSet, Settings
from perhop_studies.settings import FROZEN
from perhop_studies.variants import FULL, Bench, Change, Line, Say, Store, Variant, recorded
from perhop_studies.verdict import REPRODUCED, Finding, Part, number

FILE, KIND = "causes.toml", "causes"
OPENING = "The cause is open"
_MEASURED = re.compile(r"\{([^{}|]+)(?:\|(%|sign))?\}")


@dataclass(frozen=True)
class Intervention(Change):
    """A change that takes a suspected cause away, and nothing else."""

    setting: str = FROZEN
    seeds: int = FULL

    @property
    def plain(self) -> bool:
        """Whether it lays nothing over its setting: only the seeds are others."""
        return not self.set and not self.sets

    def over(self, paper: Paper, runs: RunSet) -> Settings:
        """The keys that it lays over a run set, those of its setting below them."""
        return {**paper.settings()[self.setting].laid(runs, paper.readings(), paper.answer), **self.lay(runs)}


class Cause(NamedTuple):
    """Why some claims fail in the frozen setting, or that the cause is open."""

    claims: list[str]
    """Patterns of `study/claim`, without grid point."""
    text: str = ""
    measured: str = ""
    interventions: tuple[Intervention, ...] = ()

    def says(self, path: Path, criterion: Criterion, finding: Finding) -> str:
        """What the run at hand measured.

        Raises:
            ValueError: the finding has no part of a label in `measured`.
        """
        try:
            return _MEASURED.sub(lambda found: _value(found[1], found[2], finding.parts), self.measured)
        except LookupError as error:
            raise ValueError(f"{path}: {criterion.study}/{criterion.rule}: {error.args[0]}") from None


def load(directory: Path) -> list[Cause]:
    """Those of a paper; none without the file.

    Raises:
        ValueError: a cause without an intervention that shows it.
    """
    path = directory / FILE
    found = [_cause(**entry) for entry in read(path).get("cause", [])]
    if bare := [one for one in found if one.text and not one.interventions]:
        raise ValueError(f"{path}: {bare[0].claims[0]}: `text` needs an intervention that takes the cause away")
    return found


def _cause(intervention: Iterable[Mapping[str, Any]] = (), **rest: Any) -> Cause:
    return Cause(interventions=tuple(Intervention(**one) for one in intervention), **rest)


def _value(label: str, form: str | None, parts: list[Part]) -> str:
    """The measured value of a label, or on which side of zero it is."""
    mine = [part.interval for part in parts if _is_of(part.name, label)]
    if not mine:
        raise LookupError(f"nothing measured is called `{label}`: {'; '.join(part.name for part in parts)}")
    if form == "sign":
        sides = {"above" if x.low > 0 else "below" if x.high < 0 else "not distinguishable from" for x in mine}
        return f"{sides.pop()} zero" if len(sides) == 1 else "above zero at some points and not at others"
    ends = min(x.mean for x in mine), max(x.mean for x in mine)
    texts = [f"{100 * x:.3g}" for x in ends] if form else [*map(number, ends)]
    return " to ".join(dict.fromkeys(texts)) + (" %" if form else "")


def _is_of(part: str, label: str) -> bool:
    """Whether a part, `LABEL >= 2`, has this label."""
    return any(fnmatchcase(part, f"{label}{rest}") for rest in ("", " [<>]*", " in *", ", not below *"))


def run(paper: Paper, budget: Budget, out: Path, say: Say) -> Path:
    """Judges the claims of each cause under each of its interventions; returns the file of what they gave."""
    path, lines = (bench := Bench(paper, budget, say)).lines(KIND, out, _variants(bench))
    for line in lines:
        held = [*line["verdicts"].values()].count(REPRODUCED)
        print(f"{held:3} of {len(line['verdicts']):3} hold  {line['intervention']}")
    return path


def _variants(bench: Bench) -> Iterable[Variant]:
    stores: dict[str, Store] = {}
    for cause in load(bench.paper.directory):
        claims = [one for one in bench.paper.criteria().claims if one.fits(cause.claims)]
        for one in cause.interventions:
            keys = repr((one.set, one.sets, one.setting))
            changed = stores.setdefault(keys, bench.laid(partial(one.over, bench.paper)))
            name = {"claims": cause.claims, "intervention": one.name}
            yield Variant(name, changed, claims, partial(_line, bench, claims, one.seeds, changed), (one.seeds,))


def _line(bench: Bench, claims: list[Criterion], seeds: int, changed: Store) -> Line:
    found = bench.judge(claims, seeds, changed)
    parts = {name: "; ".join(map(str, finding.parts)) for name, finding in found.findings.items()}
    return {"seeds": seeds, "verdicts": found.verdicts, "parts": parts}


class Trial(NamedTuple):
    """What an intervention gave for one claim."""

    intervention: str
    seeds: int
    verdict: str


def trials(paper: Paper) -> dict[str, list[Trial]]:
    """By `study/claim`, as last run."""
    found: dict[str, list[Trial]] = {}
    for line in recorded(paper, KIND):
        for name, verdict in line["verdicts"].items():
            found.setdefault(name, []).append(Trial(line["intervention"], line["seeds"], verdict))
    return found


def with_more_seeds(paper: Paper) -> set[str]:
    """Claims that hold in a named setting with the seeds of an intervention that lays nothing else over it."""
    plain = {one.name for cause in load(paper.directory) for one in cause.interventions if one.plain}
    found = trials(paper).items()
    return {name for name, listed in found if any(t.verdict == REPRODUCED and t.intervention in plain for t in listed)}


@dataclass(frozen=True)
class Notes:
    """What a report says beside a claim that fails."""

    path: Path
    causes: list[Cause]
    trials: dict[str, list[Trial]]
    frozen: bool
    """Whether the run is of the setting that the causes are about."""
    won_by: dict[str, list[str]]
    """By `study/claim`, the other answers with which it holds."""
    tried: int
    """How many other answers were tried."""

    @classmethod
    def of_paper(cls, paper: Paper, *, plain: bool) -> Notes:
        """Those of a paper; `plain` if its frozen setting is run, with nothing laid over it."""
        won_by, tried = trying.won_by(paper), trying.answers(paper)
        return cls(paper.directory / FILE, load(paper.directory), trials(paper), plain, won_by, tried)

    def of(self, criterion: Criterion, finding: Finding) -> str:
        """The note of a claim that failed."""
        return ". ".join(text for text in self._texts(criterion, finding) if text)

    def _texts(self, criterion: Criterion, finding: Finding) -> Iterable[str]:
        cause = next((one for one in self.causes if criterion.fits(one.claims)), None)
        if cause:
            yield cause.says(self.path, criterion, finding)
        if cause and self.frozen:
            yield cause.text or OPENING
            for trial in self.trials.get(criterion.name, []):
                verdict = "it holds" if trial.verdict == REPRODUCED else "it still fails"
                yield f"With {trial.intervention} ({trial.seeds} seeds) {verdict}"
        if self.tried:
            won, of = self.won_by.get(criterion.name, []), f"of {self.tried} other answers, one at a time"
            yield f"It holds with {len(won)} {of}: {'; '.join(won)}" if won else f"It holds with none {of}"
