"""`perhop report`: a run as one HTML page that needs no network, its answer first."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from perhop import files, plot
from perhop.answer import Answer, answers
from perhop.pages import environment
from perhop.plots import stacked, style
from perhop.plots.dark import inline
from perhop.plots.sheet import Look, Note, PlotRequest, Sheet
from perhop.plots.style import Figure
from perhop.reporting import first
from perhop.reporting.changes import changes
from perhop.reporting.first import AnswerTable
from perhop.reporting.tables import TABLES, Tabled, tabled
from perhop.reporting.warned import MOST_OPEN, Warned, warned
from perhop.results import Results, opened
from perhop.show import count


@dataclass(frozen=True)
class Pictured:
    """A picture as the page shows it."""

    kind: str
    title: str
    alternative: str
    """What it shows, for readers who cannot see it."""
    svg: str
    notes: list[Note]
    """What it leaves out, and how to see that."""


@dataclass(frozen=True)
class Page:
    """What the template shows."""

    name: str
    about: str
    notes: list[str]
    warned: list[Warned]
    changes: list[Tabled]
    answer: AnswerTable
    first: Pictured | None
    explained: list[str]
    pictures: list[Pictured]
    tables: list[Tabled]
    scenarios: list[tuple[str, str]]
    method: list[str]

    @property
    def picture_first(self) -> bool:
        """Whether the answer's table would push its picture off the first screen."""
        return self.answer.names > 1 and len(self.answer.rows) > ROWS


ROWS = 12
"""A sweep whose answer has more rows has its picture before them."""

SHOWN = 5
"""Rows of what was changed; the others are folded."""

DETAILS = ("delay", "box", "cdf", "drops", "over-time", "delay-over-time", "queue", "bucket")
"""Pictures below the first: what the first and the tables do not show."""

PAGES = (".html", ".htm")
"""Endings of what a report replaces."""

METHOD = [
    "A number is the mean over the replications ± half of its 95 % t-interval, ±0 where all agree; without ± there is "
    "one replication. The interval of a share ends at its bounds: it is then in brackets.",
    "Every replication has its own random numbers, keyed by seed and replication: the same in runs that are compared.",
]


NARROW = Look(width=4.6)
"""Pictures that can be read on a phone."""


IN_MEMORY = PlotRequest()


def html(runs: Results, asked: PlotRequest = IN_MEMORY) -> str:
    """The page as HTML."""
    return render(page(runs, asked))


def render(page: Page) -> str:
    """A page as HTML."""
    return environment().get_template("run.html").render(page=page, shown=SHOWN, most_open=MOST_OPEN)


def page(runs: Results, asked: PlotRequest = IN_MEMORY) -> Page:
    """What it shows; commands on it name the directories that were read, and the rows that were chosen."""
    found = answers(runs)
    changing = any("change" in tomllib.loads(point.effective) for point in runs.points)
    return Page(
        runs.name,
        about(runs),
        [*runs.notes, *narrowed(runs)],
        warned(runs),
        changes(runs),
        first.table(runs, found),
        _first(runs, found, asked),
        first.explained(found, changing=changing),
        _details(runs, asked),
        [table for table in (tabled(runs, name) for name in TABLES) if table.rows],
        [(f"Every value in force{f': {p.title}' if p.title else ''}", p.effective) for p in runs.points],
        METHOD,
    )


def narrowed(runs: Results) -> list[str]:
    """Which rows the page shows, if not all."""
    said = f"Only rows of {runs.narrowed} are shown; in the answer a class counts with all its colours."
    return [said] if runs.narrowed else []


def about(runs: Results) -> str:
    """One line: how it was simulated."""
    settings, many = runs.settings, len({r.replication for r in runs})
    points = f"{len(runs.points)} points, " if len(runs.points) > 1 else ""
    warmup = f", the first {settings['warmup_s']:g} s not counted" if settings["warmup_s"] else ""
    simulated = f"{count(many, 'replication')} of {settings['duration_s']:g} s"
    return f"{points}{simulated}{warmup}; seed {runs.seed}; bytes counted as {settings['accounting']}"


def _first(runs: Results, found: list[Answer], asked: PlotRequest) -> Pictured | None:
    sheet = Sheet(NARROW, asked)
    return _pictured(sheet, lambda: stacked.drawn(runs, found, sheet), first.told(runs, found))


def _details(runs: Results, asked: PlotRequest) -> list[Pictured]:
    """The other pictures that this run has the data for."""
    sheets = [Sheet(NARROW, replace(asked, kind=kind)) for kind in DETAILS]
    told = "; the tables below have the numbers"
    found = (_pictured(s, partial(plot.PLOTS[s.asked.kind], runs, s), plot.about(s.asked.kind) + told) for s in sheets)
    return [picture for picture in found if picture]


def _pictured(sheet: Sheet, draw: Callable[[], Figure], alternative: str) -> Pictured | None:
    """`None` if this run does not have the data for it."""
    try:
        with style.styled():
            figure = draw()
    except ValueError:
        return None
    kind = sheet.asked.kind
    return Pictured(kind, plot.about(kind), alternative, inline(style.svg(figure), kind), sheet.notes)


def report(arguments: dict[str, Any]) -> int:
    """The verb."""
    runs = opened(arguments["runs"], arguments["where"])
    for note in runs.notes:
        print(f"note: {note}", file=sys.stderr)
    path = Path(arguments["output"])
    files.refuse(path, arguments["runs"])
    files.keep_others(path, PAGES)
    asked = PlotRequest(plot.DEFAULT, directories=arguments["runs"], where=arguments["where"])
    files.write(path, html(runs, asked))
    print(path)
    return 0
