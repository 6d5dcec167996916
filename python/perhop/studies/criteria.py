"""The frozen criteria of a paper: `studies/<paper>/criteria.toml` as records."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

KINDS = ("hard", "soft", "report")


@dataclass(frozen=True)
class Criterion:
    """One claim to judge: a line of the specification, at one point of its grid."""

    study: str
    claim: str
    kind: str
    text: str
    published: Any = None
    rule: str = ""
    """The claim without the grid point: what the code is written for."""
    at: dict[str, int] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """`n = 5`, or nothing."""
        return ", ".join(f"{key} = {value}" for key, value in self.at.items())


@dataclass(frozen=True)
class Cell:
    """One printed table cell."""

    study: str
    row: str
    column: str
    published: float
    arrivals: str

    @property
    def criterion(self) -> Criterion:
        """Its record, of kind `report`."""
        claim = "cell-" + f"{self.row}-{self.column}".lower().replace(" ", "-")
        text = f"printed table, {self.row}, {self.column} packets"
        return Criterion(self.study, claim, "report", text, self.published, rule="cell")


@dataclass(frozen=True)
class Criteria:
    """All of one paper."""

    claims: list[Criterion]
    cells: list[Cell]

    def of(self, study: str) -> list[Criterion]:
        """Those of one study, in the file's order."""
        return [c for c in self.claims if c.study == study]

    def table(self, study: str) -> list[Cell]:
        """The printed cells of one study."""
        return [c for c in self.cells if c.study == study]


def load(path: Path) -> Criteria:
    """Reads a paper's criteria.

    Raises:
        ValueError: a kind that is none, or two records with one name.
    """
    with path.open("rb") as file:
        stated = tomllib.load(file)
    claims = [c for entry in stated["criterion"] for c in _expand(entry)]
    names = [(c.study, c.claim) for c in claims]
    twice = sorted({f"{s}/{c}" for s, c in names if names.count((s, c)) > 1})
    if twice:
        raise ValueError(f"{path}: stated twice: {', '.join(twice)}")
    return Criteria(claims, [cell for study, table in stated["table"].items() for cell in _cells(study, table)])


def _expand(entry: dict[str, Any]) -> list[Criterion]:
    if entry["kind"] not in KINDS:
        raise ValueError(f"{entry['study']}/{entry['id']}: kind is {entry['kind']!r}: one of {', '.join(KINDS)}")
    axes = [(key, entry[key]) for key in ("rate", "n") if key in entry]
    points = [dict(zip([a[0] for a in axes], values, strict=True)) for values in product(*(a[1] for a in axes))]
    return [_at(entry, point) for point in points]


def _at(entry: dict[str, Any], point: dict[str, int]) -> Criterion:
    form = {"rate": "-r{}", "n": "-n{:02}"}
    suffix = "".join(form[key].format(value) for key, value in point.items())
    return Criterion(
        study=entry["study"],
        claim=entry["id"] + suffix,
        kind=entry["kind"],
        text=entry["text"],
        published=entry.get("published"),
        rule=entry["id"],
        at=point,
    )


def _cells(study: str, table: dict[str, Any]) -> list[Cell]:
    rows = [key for key in table if key not in ("columns", "arrivals")]
    return [
        Cell(study, row, column, value, table["arrivals"])
        for row in rows
        for column, value in zip(table["columns"], table[row], strict=True)
    ]
