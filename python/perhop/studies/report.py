"""The report: one offline page, the figures beside it as SVG and PNG, every sample as Parquet."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from perhop import __version__
from perhop.studies import Study
from perhop.studies import criteria as frozen
from perhop.studies import readings as open_readings
from perhop.studies import runs as simulation
from perhop.studies.drawing import Picture
from perhop.studies.records import Record, counts, overall
from perhop.studies.samples import Sample
from perhop.studies.verdict import VERDICTS, number

if TYPE_CHECKING:
    from perhop.reproduce import Outcome

TEMPLATES = Path(__file__).resolve().parent / "templates"
NOTHING = "\N{EN DASH}"
MARKS = {"reproduced": "✓", "not reproduced": "✗", "undecided": "?", "reported": "·"}
CLASSES = {"reproduced": "yes", "not reproduced": "no", "undecided": "open", "reported": "told"}


@dataclass(frozen=True)
class Section:
    """One study on the page."""

    study: Study
    pictures: list[Picture]
    records: list[Record]
    cells: list[tuple[str, list[tuple[str, Record]]]]
    scenario: str

    @property
    def verdict(self) -> str:
        """What its hard and soft lines say together."""
        return overall(self.records)

    def held(self, kind: str) -> tuple[int, int]:
        """Claims of a kind that are reproduced, of how many."""
        listed = [r for r in self.records if r["kind"] == kind]
        return sum(r["verdict"] == "reproduced" for r in listed), len(listed)


def write(outcomes: list[Outcome], out: Path, say: Callable[[str], None]) -> Path:
    """Writes figures, samples and `report.html`; returns the page's path."""
    papers = []
    for outcome in outcomes:
        say(f"{outcome.paper.name}: samples")
        parquet(outcome.samples, out / f"samples-{outcome.paper.name}.parquet")
        papers.append({"outcome": outcome, "sections": _sections(outcome, out / "figures", say)})
    page = out / "report.html"
    page.write_text(_render(papers), encoding="utf-8")
    return page


def _sections(outcome: Outcome, figures: Path, say: Callable[[str], None]) -> list[Section]:
    directory = simulation.data(outcome.paper.name)
    stated = frozen.load(directory / "criteria.toml")
    by_set = simulation.by_set(outcome.samples)
    found = []
    for study in outcome.studies:
        say(f"{study.id}: figures")
        pictures = outcome.paper.module.pictures(study.id, by_set[study.runs], stated.table(study.id))
        _save(pictures, figures)
        mine = [r for r in outcome.records if r["study"] == study.id]
        is_cell = {cell.criterion.claim for cell in stated.table(study.id)}
        claims = [r for r in mine if r["claim"] not in is_cell]
        scenario = (directory / f"{study.id}.toml").read_text(encoding="utf-8")
        found.append(Section(study, pictures, claims, _table(stated.table(study.id), mine), scenario))
    return found


def _save(pictures: Iterable[Picture], figures: Path) -> None:
    figures.mkdir(parents=True, exist_ok=True)
    for picture in pictures:
        prologue = '<?xml version="1.0" encoding="utf-8"?>\n'
        (figures / f"{picture.name}.svg").write_text(prologue + picture.svg + "\n", encoding="utf-8")
        (figures / f"{picture.name}.png").write_bytes(picture.png)


def _table(cells: list[frozen.Cell], records: list[Record]) -> list[tuple[str, list[tuple[str, Record]]]]:
    """Rows of a printed table: marker, and (column, record) for each cell."""
    by_claim = {r["claim"]: r for r in records}
    rows: dict[str, list[tuple[str, Record]]] = {}
    for cell in cells:
        rows.setdefault(cell.row, []).append((cell.column, by_claim[cell.criterion.claim]))
    return list(rows.items())


def parquet(samples: list[Sample], path: Path) -> None:
    """Every quantity of every replication: one row each, sorted, by DuckDB on one thread."""
    import duckdb
    import numpy as np

    rows = [(s, quantity, value) for s in samples for quantity, value in s.values.items()]
    axes = ("n", "rate")
    columns: dict[str, Any] = {
        "runs": np.array([s.runs for s, _, _ in rows]),
        "arrivals": np.array([s.arrivals for s, _, _ in rows]),
        "marker": np.array([s.at["marker"] for s, _, _ in rows]),
        "loop": np.array([s.at.get("loop", "") for s, _, _ in rows]),
        **{axis: np.array([s.at.get(axis, -1) for s, _, _ in rows], dtype=np.int64) for axis in axes},
        "replication": np.array([s.replication for s, _, _ in rows], dtype=np.int64),
        "quantity": np.array([quantity for _, quantity, _ in rows]),
        "value": np.array([value for _, _, value in rows], dtype=np.float64),
    }
    path.unlink(missing_ok=True)
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.register("samples", columns)
        connection.execute(
            "COPY (SELECT runs, arrivals, marker, nullif(loop, '') AS loop, nullif(n, -1) AS n, "
            "nullif(rate, -1) AS rate_mbit_s, replication, quantity, "
            "CASE WHEN isnan(value) THEN NULL ELSE value END AS value FROM samples "
            "ORDER BY runs, arrivals, marker, loop, n, rate, replication, quantity) "
            f"TO '{str(path).replace(chr(39), chr(39) * 2)}' (FORMAT parquet, COMPRESSION zstd)"
        )


def _render(papers: list[dict[str, Any]]) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"show": show, "both": both, "chip": _chip}
    records = [r for entry in papers for r in entry["outcome"].records]
    readings = {
        entry["outcome"].paper.name: open_readings.load(simulation.data(entry["outcome"].paper.name) / "readings.toml")
        for entry in papers
    }
    return environment.get_template("report.html").render(
        papers=papers,
        records=records,
        counts=counts(records),
        verdicts=VERDICTS,
        readings=readings,
        version=__version__,
        marks=MARKS,
        classes=CLASSES,
    )


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
    """What was measured with its interval, one pair a condition."""
    measured, spans = entry["measured"], entry["ci95"]
    if not isinstance(measured, list):
        measured, spans = [measured], [spans]
    return [(show(value), _span(found)) for value, found in zip(measured, spans or [None] * len(measured), strict=True)]


def _span(found: list[float] | None) -> str:
    return "" if found is None else f"[{number(found[0])}, {number(found[1])}]"
