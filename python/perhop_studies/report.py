"""The report: offline pages, the figures beside them as SVG and PNG, every sample as Parquet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from perhop import files, pages, stats
from perhop.plots.dark import alone
from perhop.sql import connect, text
from perhop_studies import Study, known, maps, referee
from perhop_studies import runs as simulation
from perhop_studies import score as scores
from perhop_studies.criteria import Cell, Criterion
from perhop_studies.drawing import Picture
from perhop_studies.known import Known
from perhop_studies.maps.drawing import draw
from perhop_studies.maps.grid import newest, read
from perhop_studies.outcome import Outcome
from perhop_studies.readings import Readings
from perhop_studies.records import Record, counts, overall
from perhop_studies.samples import Samples
from perhop_studies.score import Score
from perhop_studies.settings import Answer, Setting
from perhop_studies.verdict import NOT_REPRODUCED, REPORTED, REPRODUCED, UNDECIDED, VERDICTS, number

SUMMARY = "report.html"
NOTHING = "\N{EN DASH}"
FLAT = 2e-3
"""Width of an interval, relative to its mean, that prose leaves out."""
MARKS = {"reproduced": "✓", "not reproduced": "✗", "undecided": "?", "reported": "·"}
CLASSES = {"reproduced": "yes", "not reproduced": "no", "undecided": "open", "reported": "told"}


@dataclass(frozen=True)
class Section:
    """One study on the page."""

    study: Study
    pictures: list[Picture]
    records: list[Record]
    cells: list[tuple[str, list[tuple[str, Record]]]]
    scenarios: list[tuple[str, str]]
    """Name and text of its files."""

    @property
    def verdict(self) -> str:
        """The verdict of its hard and soft lines together."""
        return overall(self.records)

    def held(self, kind: str) -> tuple[int, int]:
        """Claims of a kind that are reproduced, and their total."""
        listed = [r for r in self.records if r["kind"] == kind]
        return sum(r["verdict"] == "reproduced" for r in listed), len(listed)


class Mapped(NamedTuple):
    """A map on the page."""

    map: maps.Map
    picture: Picture
    date: str
    """When it was run."""


@dataclass(frozen=True)
class Entry:
    """One paper's part of the report."""

    outcome: Outcome
    sections: list[Section]
    page: str
    """Its file's name."""
    figures: str = "figures"
    """The directory of its pictures."""
    out: Path = Path()
    """That of the report."""

    @property
    def counts(self) -> dict[str, Counter[str]]:
        """Verdicts by kind."""
        return counts(self.outcome.records)

    @property
    def readings(self) -> Readings:
        """What it leaves open."""
        return self.outcome.paper.readings()

    @property
    def answers(self) -> dict[str, Answer]:
        """What its setting takes, by reading."""
        return self.outcome.setting.answers

    @property
    def refereed(self) -> Counter[str]:
        """Lines of the referee by change, of the studies in question."""
        studies = {section.study.id for section in self.sections}
        return Counter(line.change for line in self.outcome.paper.referee().lines if line.study in studies)

    @property
    def score(self) -> Score:
        """How it did."""
        return scores.of(self.outcome.records, self.outcome.criteria.cells)

    @cached_property
    def maps(self) -> list[Mapped]:
        """Where its claims are true, as last run."""
        kept = [(one, read(newest(one, self.out))) for one in maps.load(self.outcome.paper)]
        return [Mapped(one, draw(one, grid), grid.date) for one, grid in kept if grid]

    @cached_property
    def known(self) -> Known | None:
        """What is known now, by the paper's own setting."""
        paper = self.outcome.paper
        return known.load(paper.directory / known.FILE, [one.id for one in maps.load(paper)])

    @property
    def known_page(self) -> str:
        """The name of the page that says it, if there is one."""
        return f"known-{self.outcome.paper.name}.html" if self.known and self.outcome.setting.headline else ""

    @property
    def left_out(self) -> list[simulation.LeftOut]:
        """Variants that are not run."""
        return simulation.left_out(self.outcome.paper.directory)

    def why(self, entry: Record) -> str:
        """What a reader should know beside a record."""
        return why(next(c for c in self.outcome.criteria.of(entry["study"]) if c.claim == entry["claim"]), entry)

    @property
    def studies(self) -> tuple[int, int]:
        """Studies that are reproduced, of those that are judged."""
        judged = [s.verdict for s in self.sections if s.verdict != REPORTED]
        return sum(verdict.endswith(REPRODUCED) and verdict != NOT_REPRODUCED for verdict in judged), len(judged)


def write(outcomes: list[Outcome], out: Path, say: Callable[[str], None]) -> Path:
    """Writes figures, samples and `report.html`; returns that page's path.

    It is the page of the one paper; for several it is their summary, and each also has its own page.
    """
    single = len(outcomes) == 1
    entries = []
    for outcome in outcomes:
        name = _name(outcome)
        say(f"{name}: samples")
        with files.whole(out / f"samples-{name}.parquet") as temporary:
            parquet(outcome, temporary)
        figures = "figures" if outcome.setting.headline else f"figures-{outcome.setting.name}"
        sections = _sections(outcome, out / figures, say)
        entries.append(Entry(outcome, sections, SUMMARY if single else f"{name}.html", figures, out))
    for entry in entries:
        if entry.outcome.setting.headline:
            _save([mapped.picture for mapped in entry.maps], out / entry.figures)
        rows = tried([one for one in entries if one.outcome.paper is entry.outcome.paper])
        text = _render(entry.outcome.paper.template, entry=entry, tried=rows, home=None if single else SUMMARY)
        files.write(out / entry.page, text)
        if entry.known_page:
            page = _render("known.html", entry=entry, known=entry.known, home=None if single else SUMMARY)
            files.write(out / entry.known_page, page)
    if not single:
        first = list({entry.outcome.paper.name: entry for entry in sorted(entries, key=_is_headline)}.values())
        shown = [entry for entry in entries if entry in first]
        records = [r for entry in shown for r in entry.outcome.records]
        text = _render("papers.html", papers=shown, tried=tried(entries), records=records, counts=counts(records))
        files.write(out / SUMMARY, text)
    return out / SUMMARY


def _name(outcome: Outcome) -> str:
    """Of its files: the paper's for its headline setting."""
    return outcome.paper.name + ("" if outcome.setting.headline else f"-{outcome.setting.name}")


def _is_headline(entry: Entry) -> bool:
    return entry.outcome.setting.headline


@dataclass(frozen=True)
class Tried:
    """A row of the table of settings: a paper under one of them."""

    paper: str
    setting: Setting
    score: Score | None
    """None if it was never run in full."""
    page: str | None
    """Of this report; None if it was run before."""


class Square(NamedTuple):
    """A hard claim in the picture of all."""

    claim: str
    state: str
    """`held`, `elsewhere` (it holds in another setting), `nowhere`, or `open`."""
    says: str


def squares(entry: Entry, rows: Iterable[Tried]) -> dict[str, list[Square]]:
    """By study of a paper: each hard claim, whether it holds, and where if not here."""
    others = [
        (row.setting.name, row.score.failed)
        for row in rows
        if row.score and row.paper == entry.outcome.paper.name and row.setting.name != entry.outcome.setting.name
    ]
    found: dict[str, list[Square]] = {}
    for r in entry.outcome.records:
        if r["kind"] == "hard":
            where = [name for name, failed in others if f"{r['study']}/{r['claim']}" not in failed]
            found.setdefault(r["study"], []).append(_square(r, where))
    return found


def _square(entry: Record, where: list[str]) -> Square:
    text = f"{entry['study']}: {entry['criterion']}"
    if entry["verdict"] == REPRODUCED:
        return Square(entry["claim"], "held", f"{text} (holds)")
    if entry["verdict"] == UNDECIDED:
        return Square(entry["claim"], "open", f"{text} (undecided)")
    if where:
        return Square(entry["claim"], "elsewhere", f"{text} (holds in {', '.join(where)})")
    return Square(entry["claim"], "nowhere", f"{text} (does not hold)")


def tried(entries: Iterable[Entry]) -> list[Tried]:
    """Every setting of these papers: those of this report, and the last full run of the others."""
    listed = list(entries)
    rows = []
    for found in {entry.outcome.paper.name: entry.outcome.paper for entry in listed}.values():
        now = {e.outcome.setting.name: e for e in listed if e.outcome.paper is found}
        last = scores.read(found.directory / scores.LAST)
        for name, setting in found.settings().items():
            entry = now.get(name)
            score, page = (entry.score, entry.page) if entry else (last.get(name), None)
            rows.append(Tried(found.name, setting, score, page))
    return rows


def _sections(outcome: Outcome, figures: Path, say: Callable[[str], None]) -> list[Section]:
    found = []
    for study in outcome.studies:
        say(f"{study.id}: figures")
        cells = outcome.criteria.table(study.id)
        pictures = outcome.paper.pictures(study.id, outcome.looks.everywhere(study), cells)
        _save(pictures, figures)
        mine = [r for r in outcome.records if r["study"] == study.id]
        is_cell = {cell.criterion.claim for cell in cells}
        claims = [r for r in mine if r["claim"] not in is_cell]
        found.append(Section(study, pictures, claims, _table(cells, mine), _scenarios(outcome, study)))
    return found


def _scenarios(outcome: Outcome, study: Study) -> list[tuple[str, str]]:
    """Its files: `<study>.toml`, `<study>-<variant>.toml`; for a study without any, those of its runs."""
    directory = outcome.paper.directory
    own = [*directory.glob(f"{study.id}.toml"), *sorted(directory.glob(f"{study.id}-*.toml"))]
    paths = own or dict.fromkeys(s.scenario for s in outcome.paper.runs() if s.name in study.sets)
    return [(path.name, path.read_text(encoding="utf-8")) for path in paths]


def _save(pictures: Iterable[Picture], figures: Path) -> None:
    figures.mkdir(parents=True, exist_ok=True)
    for picture in pictures:
        prologue = '<?xml version="1.0" encoding="utf-8"?>\n'
        files.write(figures / f"{picture.name}.svg", prologue + alone(picture.svg) + "\n")
        files.write(figures / f"{picture.name}.png", picture.png)


def _table(cells: list[Cell], records: list[Record]) -> list[tuple[str, list[tuple[str, Record]]]]:
    """Rows of a printed table: name, and (column, record) for each cell."""
    by_claim = {r["claim"]: r for r in records}
    rows: dict[str, list[tuple[str, Record]]] = {}
    for cell in cells:
        rows.setdefault(cell.row, []).append((cell.heading, by_claim[cell.criterion.claim]))
    return list(rows.items())


def parquet(outcome: Outcome, path: Path) -> None:
    """Every quantity of every replication: one row each, sorted, by DuckDB on one thread.

    An axis is a column: whole numbers if all its values are, else text; null where a run set has no such axis.
    """
    rows = [(s, quantity, value) for s in outcome.samples for quantity, value in s.values.items()]
    grid = Samples(outcome.samples).grid()
    columns: dict[str, Any] = {
        "runs": np.array([s.runs for s, _, _ in rows]),
        **{axis: np.array([str(s.at.get(axis, "")) for s, _, _ in rows]) for axis in grid},
        "replication": np.array([s.replication for s, _, _ in rows], dtype=np.int64),
        "quantity": np.array([quantity for _, quantity, _ in rows]),
        "value": np.array([value for _, _, value in rows], dtype=np.float64),
    }
    names = {axis.name: axis.column for axis in outcome.paper.method.axes.values()}
    axes = ", ".join(f'{_column(axis, values)} AS "{names.get(axis, axis)}"' for axis, values in grid.items())
    order = ", ".join(str(1 + i) for i in range(len(grid) + 3))
    path.unlink(missing_ok=True)
    with connect() as connection:
        connection.register("samples", columns)
        connection.execute(
            f"COPY (SELECT runs, {axes}, replication, quantity, "
            f"CASE WHEN isnan(value) THEN NULL ELSE value END AS value FROM samples ORDER BY {order}) "
            f"TO {text(str(path))} (FORMAT parquet, COMPRESSION zstd)"
        )


def _column(axis: str, values: list[Any]) -> str:
    """Its SQL: numbers as numbers."""
    stated = f"nullif(\"{axis}\", '')"
    return f"CAST({stated} AS BIGINT)" if all(isinstance(value, int) for value in values) else stated


def _render(template: str, **context: Any) -> str:
    environment = pages.environment("perhop_studies")
    environment.filters |= {"show": show, "both": both, "chip": _chip}
    shared = {"verdicts": VERDICTS, "marks": MARKS, "classes": CLASSES, "squares": squares, "changes": referee.CHANGES}
    return environment.get_template(template).render(**shared, **context)


def _chip(verdict: str) -> str:
    return CLASSES.get(verdict, "yes")


def show(value: Any) -> str:
    """A measured or published value as text."""
    if value is None:
        return NOTHING
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int | float):
        return number(float(value))
    if isinstance(value, list):
        return ", ".join(show(item) for item in value)
    return ", ".join(f"{key} {show(item)}" for key, item in value.items())


def both(entry: Record) -> list[tuple[str, str]]:
    """The measured values with their intervals, one pair per condition."""
    measured, spans = entry["measured"], entry["ci95"]
    if not isinstance(measured, list):
        measured, spans = [measured], [spans]
    return [(show(value), _span(found)) for value, found in zip(measured, spans or [None] * len(measured), strict=True)]


def why(criterion: Criterion, entry: Record) -> str:
    """Its text beside the criterion, with what was measured in the places `{0}`, `{1}` ..."""
    return criterion.why.format(*map(_estimate, entry["measured"], entry["ci95"]))


def _estimate(mean: float, span: list[float] | None) -> str:
    """`0.59 ±0.06`; a value that hardly varies by itself."""
    low, high = span or [mean, mean]
    return str(stats.Interval(mean, low, high, 2)) if high - low > FLAT * abs(mean) else show(round(mean, 3))


def _span(found: list[float] | None) -> str:
    return "" if found is None else f"[{number(found[0])}, {number(found[1])}]"
