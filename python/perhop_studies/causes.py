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
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from perhop_studies import Paper, trying
from perhop_studies.criteria import Criterion
from perhop_studies.runs import Budget, RunSet, Settings
from perhop_studies.sentences import fits
from perhop_studies.settings import FROZEN
from perhop_studies.variants import FULL, Bench, Line, Lines, Say, Store, read
from perhop_studies.verdict import REPRODUCED, Finding, Part, number

FILE, RECORD = "causes.toml", "records/causes.jsonl"
OPENING = "The cause is open"
_MEASURED = re.compile(r"\{([^{}|]+)(?:\|(%|sign))?\}")


@dataclass(frozen=True)
class Intervention:
    """A change that takes a suspected cause away, and nothing else."""

    name: str
    set: dict[str, Any] = field(default_factory=dict)
    sets: dict[str, dict[str, Any]] = field(default_factory=dict)
    setting: str = FROZEN
    seeds: int = FULL

    def lay(self, paper: Paper, runs: RunSet) -> Settings:
        """The keys that it lays over a run set."""
        below = paper.settings()[self.setting].laid(runs, paper.readings(), paper.answer)
        return {**below, **self.set, **self.sets.get(runs.name, {})}


@dataclass(frozen=True)
class Cause:
    """Why some claims fail in the frozen setting, or that nobody knows."""

    claims: tuple[str, ...]
    """Patterns of `study/claim`, without grid point."""
    text: str = ""
    measured: str = ""
    interventions: tuple[Intervention, ...] = ()

    def explains(self, criterion: Criterion) -> bool:
        """Whether the criterion is one of those that fail by it."""
        return fits(self.claims, criterion)

    def says(self, path: Path, criterion: Criterion, finding: Finding) -> str:
        """What the run at hand measured.

        Raises:
            ValueError: the finding has no part of a label in `measured`.
        """
        return _MEASURED.sub(lambda found: _value(path, found, criterion, finding), self.measured)


def load(directory: Path) -> list[Cause]:
    """Those of a paper; none without the file.

    Raises:
        ValueError: a cause without an intervention that shows it.
    """
    path = directory / FILE
    stated = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    found = [_cause(entry) for entry in stated.get("cause", [])]
    if bare := [one for one in found if one.text and not one.interventions]:
        raise ValueError(f"{path}: {bare[0].claims[0]}: `text` needs an intervention that takes the cause away")
    return found


def _cause(entry: Mapping[str, Any]) -> Cause:
    rest = {key: value for key, value in entry.items() if key not in ("claims", "intervention")}
    interventions = tuple(Intervention(**one) for one in entry.get("intervention", []))
    return Cause(claims=tuple(entry["claims"]), interventions=interventions, **rest)


def _value(path: Path, found: re.Match[str], criterion: Criterion, finding: Finding) -> str:
    label, form = found[1], found[2]
    parts = [part for part in finding.parts if _is_of(part.name, label)]
    if not parts:
        name, there = f"{criterion.study}/{criterion.rule}", "; ".join(part.name for part in finding.parts)
        raise ValueError(f"{path}: {name}: nothing measured is called `{label}`: {there}")
    if form == "sign":
        signs = {_sign(part) for part in parts}
        return signs.pop() if len(signs) == 1 else "above zero at some points and not at others"
    means = [part.interval.mean for part in parts]
    scale, unit = (100, " %") if form else (1, "")
    ends = dict.fromkeys(f"{scale * x:.3g}" if form else number(x) for x in (min(means), max(means)))
    return " to ".join(ends) + unit


def _sign(part: Part) -> str:
    if part.interval.low > 0:
        return "above zero"
    return "below zero" if part.interval.high < 0 else "not distinguishable from zero"


def _is_of(part: str, label: str) -> bool:
    """Whether a part, `LABEL >= 2`, has this label."""
    return any(fnmatchcase(part, f"{label}{rest}") for rest in ("", " [<>]*", " in *", ", not below *"))


def run(paper: Paper, budget: Budget, out: Path, say: Say) -> Path:
    """Judges the claims of each cause under each of its interventions; returns the file of what they gave."""
    bench = Bench(paper, replace(budget, seeds=FULL), say)
    lines = Lines.resumed(out / f"causes-{paper.name}.jsonl", paper.directory / RECORD)
    stores: dict[str, Store] = {}
    for cause in load(paper.directory):
        claims = [one for one in paper.criteria().claims if cause.explains(one)]
        for one in cause.interventions:
            say(f"{', '.join(cause.claims)}: {one.name}")
            keys = repr((one.set, one.sets, one.setting))
            changed = stores.setdefault(keys, bench.laid(lambda runs, i=one: i.lay(paper, runs)))  # type: ignore[misc]
            lines.add(
                bench.hash(changed, claims, one.seeds),
                lambda c=claims, n=one.seeds, s=changed: _line(bench, c, n, s),  # type: ignore[misc]
                {"claims": list(cause.claims), "intervention": one.name},
            )
    lines.finish()
    say("")
    print("\n".join(f"{_outcome(line)}  {line['intervention']}" for line in lines.found))
    return lines.path


def _line(bench: Bench, claims: list[Criterion], seeds: int, changed: Store) -> Line:
    found = bench.judge(claims, seeds, changed).findings
    verdicts = {name: finding.verdict for name, finding in found.items()}
    parts = {name: "; ".join(map(str, finding.parts)) for name, finding in found.items()}
    return {"seeds": seeds, "verdicts": verdicts, "parts": parts}


def _outcome(line: Line) -> str:
    held = sum(verdict == REPRODUCED for verdict in line["verdicts"].values())
    return f"{held:3} of {len(line['verdicts']):3} hold"


@dataclass(frozen=True)
class Trial:
    """What an intervention gave for one claim."""

    intervention: str
    seeds: int
    verdict: str
    parts: str


def trials(paper: Paper) -> dict[str, list[Trial]]:
    """By `study/claim`, as last run."""
    found: dict[str, list[Trial]] = {}
    for line in read(paper.directory / RECORD):
        for name, verdict in line["verdicts"].items():
            trial = Trial(line["intervention"], line["seeds"], verdict, line["parts"][name])
            found.setdefault(name, []).append(trial)
    return found


def with_more_seeds(paper: Paper) -> set[str]:
    """Claims that hold in a named setting with the seeds of an intervention that lays nothing else over it."""
    plain = {one.name for cause in load(paper.directory) for one in cause.interventions if not one.set and not one.sets}
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
        cause = next((one for one in self.causes if one.explains(criterion)), None)
        measured = cause.says(self.path, criterion, finding) if cause else ""
        shown = self._shown(cause, criterion) if cause and self.frozen else ()
        return ". ".join(text for text in (measured, *shown, self._tried(criterion)) if text)

    def _shown(self, cause: Cause, criterion: Criterion) -> Iterable[str]:
        yield cause.text or OPENING
        for trial in self.trials.get(f"{criterion.study}/{criterion.claim}", []):
            verdict = "it holds" if trial.verdict == REPRODUCED else "it still fails"
            yield f"With {trial.intervention} ({trial.seeds} seeds) {verdict}"

    def _tried(self, criterion: Criterion) -> str:
        if not self.tried:
            return ""
        won = self.won_by.get(f"{criterion.study}/{criterion.claim}", [])
        of = f"of {self.tried} other answers, one at a time"
        return f"It holds with {len(won)} {of}: {'; '.join(won)}" if won else f"It holds with none {of}"
