"""The report: offline pages, the figures beside them as SVG and PNG, every sample as Parquet."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from perhop import files, pages, stats
from perhop.plots.dark import alone
from perhop.sql import connect, text
from perhop_studies import Paper, Study, headline, known, maps, mutants, sentences, summary, tally, trying
from perhop_studies import runs as simulation
from perhop_studies.criteria import Criterion
from perhop_studies.drawing import Picture
from perhop_studies.known import Known
from perhop_studies.maps.drawing import draw
from perhop_studies.maps.grid import newest, read
from perhop_studies.outcome import Outcome
from perhop_studies.records import Estimate, Record, overall
from perhop_studies.samples import Samples
from perhop_studies.sentences import Sentence
from perhop_studies.settings import Setting
from perhop_studies.tally import NOTHING, Share, Tally, share
from perhop_studies.verdict import NOT_REPRODUCED, REPORTED, REPRODUCED, UNDECIDED, number

SUMMARY = "report.html"
FLAT = 2e-3
"""Width of an interval, relative to its mean, that prose leaves out."""
MARKS = {REPRODUCED: "✓", NOT_REPRODUCED: "✗", UNDECIDED: "?", REPORTED: "·"}
WORDS: dict[str, str] = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))
"""The words of a report, each said in one line at one place."""
CLASSES = {REPRODUCED: "yes", NOT_REPRODUCED: "no", UNDECIDED: "open", REPORTED: "told"}


@dataclass(frozen=True)
class Section:
    """One study on the page."""

    study: Study
    pictures: list[Picture]
    records: list[Record]
    cells: dict[str, dict[str, Record]]
    """The printed table: its rows, and a record for each column."""
    scenarios: list[tuple[str, str]]
    """Name and text of its files."""

    @property
    def verdict(self) -> str:
        """The verdict of its hard and soft lines together."""
        return overall(self.records)

    def held(self, kind: str, *, added: bool = False) -> Share:
        """Claims of a kind that are reproduced, and their total."""
        return share(r for r in self.records if r.kind == kind and r.added == added)


class Mapped(NamedTuple):
    """A map on the page."""

    map: maps.Map
    picture: Picture
    date: str
    """When it was run."""


class Row(NamedTuple):
    """A paper under one of its settings."""

    paper: str
    setting: Setting
    tally: Tally | None
    """None if it was never run in full."""
    page: str | None
    """Of this report; None if it was run before."""


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
    def paper(self) -> Paper:
        """Whose part it is."""
        return self.outcome.paper

    @property
    def refereed(self) -> bool:
        """Whether a referee has a line for one of its claims."""
        return any(r.referee for r in self.outcome.records)

    @cached_property
    def sentences(self) -> list[tuple[Sentence, list[Record]]]:
        """Those of the paper, with the hard claims that were drawn from each and judged now."""
        hard = [r for r in self.outcome.records if r.kind == "hard"]
        found = sentences.load(self.paper.directory)
        return [(one, mine) for one in found if (mine := [r for r in hard if r.sentence == one.title])]

    def elsewhere(self, rows: Iterable[Row]) -> dict[str, list[str]]:
        """Where each hard claim holds that does not hold here."""
        mine = [row for row in rows if row.paper == self.paper.name and row.setting.name != self.outcome.setting.name]
        named = {row.setting.name: row.tally for row in mine if row.tally}
        return headline.elsewhere(headline.Part(self.paper, self.outcome.tally), named)

    def anywhere(self, rows: Iterable[Row]) -> Share:
        """Hard claims that hold now, in another setting, with another answer or with more seeds, as the head-line."""
        held, of = self.outcome.tally.held
        return Share(held + sum(bool(where) for where in self.elsewhere(rows).values()), of)

    @cached_property
    def maps(self) -> list[Mapped]:
        """Where its claims are true, as last run."""
        kept = [(one, read(newest(one, self.out))) for one in maps.load(self.paper)]
        return [Mapped(one, draw(one, grid), grid.date) for one, grid in kept if grid]

    @cached_property
    def known(self) -> Known | None:
        """What is known now, by the frozen setting."""
        return known.load(self.paper.directory / known.FILE, [one.id for one in maps.load(self.paper)])

    @property
    def known_page(self) -> str:
        """The name of the page that says it, if there is one."""
        return f"known-{self.paper.name}.html" if self.known and self.outcome.setting.frozen else ""

    def why(self, entry: Record) -> str:
        """What a reader should know beside a record."""
        return why(next(c for c in self.outcome.criteria.of(entry.study) if c.claim == entry.claim), entry)

    @property
    def studies(self) -> Share:
        """Studies that are reproduced, of those that are judged."""
        judged = [s.verdict for s in self.sections if s.held("hard").of]
        return Share(sum(v.endswith(REPRODUCED) and v != NOT_REPRODUCED for v in judged), len(judged))


def write(outcomes: list[Outcome], out: Path, say: Callable[[str], None]) -> Path:
    """Writes figures, samples and `report.html`; returns that page's path.

    It is the page of the one paper; for several it is their summary, and each also has its own page.
    """
    single = len(outcomes) == 1
    home = None if single else SUMMARY
    entries = [_entry(outcome, out, single, say) for outcome in outcomes]
    rows = settings_of(entries)
    for entry in entries:
        if entry.outcome.setting.frozen:
            _save([mapped.picture for mapped in entry.maps], out / entry.figures)
        page = _render(entry.paper.template, entry=entry, rows=rows, home=home, headline=_headline([entry]))
        files.write(out / entry.page, page)
        if entry.known_page:
            files.write(out / entry.known_page, _render("known.html", entry=entry, known=entry.known, home=home))
    if not single:
        firsts = {entry.paper.name: entry for entry in sorted(entries, key=lambda entry: entry.outcome.setting.frozen)}
        shown = [entry for entry in entries if entry is firsts[entry.paper.name]]
        whole = tally.total(entry.outcome.tally for entry in shown)
        lines = [*summary.headlines(entry.outcome for entry in shown)]
        files.write(
            out / SUMMARY, _render("papers.html", papers=shown, rows=rows, whole=whole, headline=lines, home=None)
        )
    return out / SUMMARY


def _headline(entries: Iterable[Entry]) -> list[str]:
    return [*summary.headlines(entry.outcome for entry in entries)]


def _entry(outcome: Outcome, out: Path, single: bool, say: Callable[[str], None]) -> Entry:
    end = "" if outcome.setting.frozen else f"-{outcome.setting.name}"
    name = outcome.paper.name + end
    say(f"{name}: samples")
    with files.whole(out / f"samples-{name}.parquet") as temporary:
        parquet(outcome, temporary)
    sections = [_section(outcome, study, out / f"figures{end}", say) for study in outcome.studies]
    return Entry(outcome, sections, SUMMARY if single else f"{name}.html", f"figures{end}", out)


def settings_of(entries: Iterable[Entry]) -> list[Row]:
    """Every setting of these papers: those of this report, and the last full run of the others."""
    listed, rows = list(entries), []
    for found in {entry.paper.name: entry.paper for entry in listed}.values():
        now = {e.outcome.setting.name: e for e in listed if e.paper is found}
        last = tally.read(found)
        for name, setting in found.settings().items():
            if entry := now.get(name):
                rows.append(Row(found.name, entry.outcome.setting, entry.outcome.tally, entry.page))
            else:
                rows.append(Row(found.name, setting, last.get((name, 1)), None))
    return rows


def _section(outcome: Outcome, study: Study, figures: Path, say: Callable[[str], None]) -> Section:
    say(f"{study.id}: figures")
    cells = outcome.criteria.table(study.id)
    pictures = outcome.paper.pictures(study.id, outcome.looks.of(study, outcome.looks.least(study))[0], cells)
    _save(pictures, figures)
    by_claim = {r.claim: r for r in outcome.records if r.study == study.id}
    printed: dict[str, dict[str, Record]] = {}
    for cell in cells:
        printed.setdefault(cell.row, {})[cell.heading] = by_claim.pop(cell.criterion.claim)
    return Section(study, pictures, list(by_claim.values()), printed, _scenarios(outcome.paper, study))


def _scenarios(paper: Paper, study: Study) -> list[tuple[str, str]]:
    """Its files: `<study>.toml`, `<study>-<variant>.toml`; for a study without any, those of its runs."""
    directory = paper.directory
    own = [*directory.glob(f"{study.id}.toml"), *sorted(directory.glob(f"{study.id}-*.toml"))]
    paths = own or dict.fromkeys(s.scenario for s in paper.runs() if s.name in study.sets)
    return [(path.name, path.read_text(encoding="utf-8")) for path in paths]


def _save(pictures: Iterable[Picture], figures: Path) -> None:
    figures.mkdir(parents=True, exist_ok=True)
    for picture in pictures:
        prologue = '<?xml version="1.0" encoding="utf-8"?>\n'
        files.write(figures / f"{picture.name}.svg", prologue + alone(picture.svg) + "\n")
        files.write(figures / f"{picture.name}.png", picture.png)


def parquet(outcome: Outcome, path: Path) -> None:
    """Every quantity of every replication: one row each, sorted, by DuckDB on one thread.

    An axis is a column: whole numbers if all its values are, else text; null where a run set has no such axis.
    """
    rows = [(s, quantity, value) for s in outcome.looks.samples for quantity, value in s.values.items()]
    grid = Samples(outcome.looks.samples).grid()
    columns: dict[str, Any] = {
        "runs": np.array([s.runs for s, _, _ in rows]),
        **{axis: np.array([str(s.at.get(axis, "")) for s, _, _ in rows]) for axis in grid},
        "replication": np.array([s.replication for s, _, _ in rows], dtype=np.int64),
        "quantity": np.array([quantity for _, quantity, _ in rows]),
        "value": np.array([value for _, _, value in rows], dtype=np.float64),
    }
    names = {axis.name: axis.column for axis in outcome.paper.method.axes.values()}
    types = {axis: "BIGINT" if all(isinstance(x, int) for x in values) else "VARCHAR" for axis, values in grid.items()}
    axes = ", ".join(f'CAST(nullif("{axis}", \'\') AS {types[axis]}) AS "{names.get(axis, axis)}"' for axis in grid)
    order = ", ".join(str(1 + i) for i in range(len(grid) + 3))
    path.unlink(missing_ok=True)
    with connect() as connection:
        connection.register("samples", columns)
        connection.execute(
            f"COPY (SELECT runs, {axes}, replication, quantity, "
            f"CASE WHEN isnan(value) THEN NULL ELSE value END AS value FROM samples ORDER BY {order}) "
            f"TO {text(str(path))} (FORMAT parquet, COMPRESSION zstd)"
        )


def _render(template: str, **context: object) -> str:
    environment = pages.environment("perhop_studies")
    environment.filters |= {"show": show, "span": span, "chip": lambda verdict: CLASSES.get(verdict, "yes")}
    stated = {"left_out": simulation.left_out, "told": mutants.told, "answers": trying.answers}
    shared = {"marks": MARKS, "columns": tally.COLUMNS, "words": WORDS, **stated}
    return environment.get_template(template).render(**shared, **context)


def show(value: object) -> str:
    """A measured or published value as text."""
    if value is None:
        return NOTHING
    if isinstance(value, list):
        return ", ".join(map(show, value))
    return str(value) if isinstance(value, bool | str) else number(float(str(value)))


def why(criterion: Criterion, entry: Record) -> str:
    """Its text beside the criterion, with what was measured in the places `{0}`, `{1}` ..."""
    return criterion.why.format(*map(_estimate, entry.estimates))


def _estimate(found: Estimate) -> str:
    """`0.59 ±0.06`; a value that hardly varies by itself."""
    mean = math.nan if found.mean is None else found.mean
    low, high = found.span or (mean, mean)
    return str(stats.Interval(mean, low, high, 2)) if high - low > FLAT * abs(mean) else show(round(mean, 3))


def span(found: Estimate) -> str:
    """Its interval as text."""
    return "" if found.span is None else f"[{number(found.span[0])}, {number(found.span[1])}]"
