"""`perhop reproduce PAPER --fit`: the answers to open readings that come nearest to the printed numbers.

The search never sees a verdict. Half of the paper's printed cells (every other one, in the file's order) drive it: from
the frozen readings, and from those of the era, one reading after another is set to the answer that lowers the mean
error of that half (`score.error`), until a pass over all readings changes nothing. Every set of readings on the way is
a candidate; the other half of the cells, held out until then, decides between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from perhop import files, stats
from perhop.studies import Paper
from perhop.studies import runs as simulation
from perhop.studies import score as scores
from perhop.studies.criteria import Cell
from perhop.studies.runs import Budget, RunSet
from perhop.studies.samples import Key, Sample, Samples
from perhop.studies.settings import ERA, FITTED, FROZEN, Answer, Setting
from perhop.unknown import UnknownError

PASSES = 3
Chosen = dict[str, str]
"""Answers that are not the frozen ones, by reading."""


@dataclass(frozen=True)
class Candidate:
    """A set of readings, and its mean errors over the two halves of the cells."""

    chosen: Chosen
    searched: float
    held_out: float


@dataclass
class Search:
    """What is run, what it is held against, and how much was tried."""

    paper: Paper
    budget: Budget
    say: Callable[[str], None]
    cells: list[Cell]
    sets: list[RunSet]
    tried: dict[tuple[tuple[str, str], ...], Candidate] = field(default_factory=dict)
    _asked: set[Key] = field(default_factory=set)
    """Places that the cells are measured at, once known."""
    _run: dict[tuple[Key, str], list[Sample]] = field(default_factory=dict)
    """By place and what was in force there."""

    def candidate(self, chosen: Chosen) -> Candidate:
        """Runs a set of readings, once."""
        key = tuple(sorted(chosen.items()))
        if key not in self.tried:
            self.say(f"{len(self.tried) + 1}: " + (", ".join(f"{k} = {v}" for k, v in key) or "frozen"))
            errors = self._errors(chosen)
            self.tried[key] = Candidate(
                chosen, stats.mean(scores.searched(errors)), stats.mean(scores.held_out(errors))
            )
        return self.tried[key]

    def _errors(self, chosen: Chosen) -> list[float]:
        by_set, asked = simulation.by_set(self._samples(chosen)), set[Key]()
        runs = {
            study: Samples(
                (s for name in self.paper.study(study).sets if name in by_set for s in by_set[name].all), asked
            )
            for study in {cell.study for cell in self.cells}
        }
        found = [(cell, self.paper.cell(runs[cell.study], cell).mean) for cell in self.cells]
        self._asked = asked
        errors = [scores.error(measured, cell.published) for cell, measured in found]
        return [error for error in errors if error is not None]

    def _samples(self, chosen: Chosen) -> list[Sample]:
        """Of the places that count: those in which a set of readings changes something are run."""
        jobs = self._jobs(chosen)
        counted = [p for job in jobs for p in job.points if not self._asked or p.key in self._asked]
        new = {(p.key, p.hash) for p in counted if (p.key, p.hash) not in self._run}
        narrowed = [one for job in jobs for one in job.narrowed(lambda place: (place.key, place.hash) in new)]
        hashes = {p.key: p.hash for p in counted}
        for sample in simulation.simulate(narrowed, self.budget, lambda *_: None):
            self._run.setdefault((sample.key, hashes[sample.key]), []).append(sample)
        return [sample for place in counted for sample in self._run[place.key, place.hash]]

    def _jobs(self, chosen: Mapping[str, str]) -> list[simulation.Job]:
        answers = {name: Answer(value, "") for name, value in chosen.items()}
        setting = Setting(FITTED, "", answers, list(chosen))
        return simulation.prepare(setting.over(self.sets, self.paper.readings(), self.paper.answer), self.budget)

    def concerns(self, reading: str, value: str) -> bool:
        """Whether an answer changes any point that a cell is measured at."""
        plain, laid = ([p.hash for job in self._jobs(c) for p in job.points] for c in ({}, {reading: value}))
        return plain != laid

    def descend(self, start: Chosen) -> list[Candidate]:
        """From a set of readings to one that no single answer improves; all on the way."""
        way = [self.candidate(start)]
        open_answers = {
            name: [value for value in one.values if value == one.frozen or self.concerns(name, value)]
            for name, one in self.paper.readings().by_id.items()
        }
        for _ in range(PASSES):
            before = way[-1]
            for name, values in open_answers.items():
                near = [self.candidate(_with(self.paper, way[-1].chosen, name, value)) for value in values]
                best = min(near, key=lambda one: one.searched, default=way[-1])
                if best.searched < way[-1].searched:
                    way.append(best)
            if way[-1] is before:
                break
        return way


def _with(paper: Paper, chosen: Chosen, name: str, value: str) -> Chosen:
    rest = {key: other for key, other in chosen.items() if key != name}
    return rest if value == paper.readings().by_id[name].frozen else {**rest, name: value}


def run(paper: Paper, budget: Budget, out: Path, say: Callable[[str], None]) -> Path:
    """Searches, and writes `fitted-PAPER.toml`: the answers, the search's size and the scores of both halves.

    Raises:
        UnknownError: the paper prints no table.
    """
    cells = [cell for cell in paper.criteria().cells if cell.published]
    if not cells:
        raise UnknownError(f"{paper.name} prints no table: there is nothing to fit to")
    wanted = {name for cell in cells for name in paper.study(cell.study).sets}
    sets = [replace(one, draws=None) for one in paper.runs() if one.name in wanted]
    search = Search(paper, budget, say, cells, sets)
    starts: Iterable[Chosen] = (
        {name: setting.answers[name].value for name in setting.changed}
        for setting in paper.settings().values()
        if setting.name in (FROZEN, ERA)
    )
    candidates = [one for start in starts for one in search.descend(start)]
    frozen, best = search.candidate({}), min(candidates, key=lambda one: (one.held_out, len(one.chosen)))
    path = out / f"fitted-{paper.name}.toml"
    out.mkdir(parents=True, exist_ok=True)
    files.write(path, _text(search, candidates, frozen, best))
    return path


def _text(search: Search, candidates: list[Candidate], frozen: Candidate, best: Candidate) -> str:
    half = len(scores.searched(search.cells)), len(scores.held_out(search.cells))
    about = (
        f"The nearest of {len(candidates)} candidates on the way of a search over {len(search.tried)} sets of readings "
        f"({search.budget.seeds} seeds). Mean error of the {half[0]} printed cells that drove it "
        f"{_percent(best.searched)} (frozen {_percent(frozen.searched)}), of the {half[1]} held out "
        f"{_percent(best.held_out)} (frozen {_percent(frozen.held_out)})."
    )
    lines = [f'[fitted]\nabout = "{about}"']
    for name, value in best.chosen.items():
        without = search.candidate({k: v for k, v in best.chosen.items() if k != name})
        why = f"mean error of the cells held out {_percent(best.held_out)}, {_percent(without.held_out)} without it"
        lines.append(f'answers.{name} = {{ value = "{value}", why = "{why}" }}')
    return "\n".join(lines) + "\n"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
