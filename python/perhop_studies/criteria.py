"""The criteria of a paper: `perhop_studies/<paper>/criteria.toml` as records, frozen.

`[axes]` of the file names the axes a record may be stated over, each with what it adds to a claim's id. Beside it, if
there are any:

- `added.toml`: claims of the paper that were added after its results were known; they are counted apart
- `beyond.toml`: experiments that are not the paper's; their records are reports
- `claims.toml`: how claims of these three are measured that need no Python, `[STUDY.CLAIM]`: `measures` and `of` as in
  a record, `holds` for what its text bounds in words only, `table` for a report (see `bounds`)

Decision: docs/decisions/100-criteria-are-frozen.md
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import Any

from perhop_studies.bounds import Bounds

KINDS = ("hard", "soft", "report")
ADDED, BEYOND, CLAIMS = "added.toml", "beyond.toml", "claims.toml"

Measures = Mapping[str, str]
"""Expressions that several records bound, by label."""
Forms = Mapping[str, str]
"""What each axis adds to an id: `"-n{:02}"`."""


@dataclass(frozen=True)
class Criterion:
    """One claim to judge: a line of the specification, at one point of its grid."""

    study: str
    claim: str
    kind: str
    text: str
    published: Any = None
    rule: str = ""
    """The claim without the grid point, as the code names it."""
    at: dict[str, Any] = field(default_factory=dict)
    bounds: Bounds = field(default_factory=Bounds)
    """What its text bounds, if numbers alone decide."""
    why: str = ""
    """What a reader should know beside it."""
    added: bool = False
    """Whether it was added after results were known."""

    @property
    def name(self) -> str:
        """`study/claim`."""
        return f"{self.study}/{self.claim}"

    @property
    def where(self) -> str:
        """`n = 5`, or nothing."""
        return _where(self.at)

    def fits(self, patterns: Iterable[str]) -> bool:
        """Whether one of these patterns of `study/claim`, without grid point, names it."""
        return any(fnmatchcase(f"{self.study}/{self.rule}", pattern) for pattern in patterns)


@dataclass(frozen=True)
class Cell:
    """One printed table cell, at one point of the grid its table is measured over."""

    study: str
    row: str
    column: str
    published: float
    unit: str
    at: dict[str, Any] = field(default_factory=dict)
    suffix: str = ""

    @property
    def criterion(self) -> Criterion:
        """Its record, of kind `report`."""
        claim = "cell-" + f"{self.row}-{self.column}".lower().replace(" ", "-") + self.suffix
        text = f"printed table, {self.row}, {self.column} {self.unit}"
        return Criterion(self.study, claim, "report", text, self.published, rule="cell", at=self.at)

    @property
    def heading(self) -> str:
        """Its column where the table is shown."""
        return ", ".join([self.column, *(str(value) for value in self.at.values())])


@dataclass(frozen=True)
class Criteria:
    """The criteria of one paper."""

    claims: list[Criterion]
    cells: list[Cell]

    @property
    def hard(self) -> list[Criterion]:
        """The hard ones, added ones too."""
        return [c for c in self.claims if c.kind == "hard"]

    def of(self, study: str) -> list[Criterion]:
        """Those of one study, in the file's order."""
        return [c for c in self.claims if c.study == study]

    def table(self, study: str) -> list[Cell]:
        """The printed cells of one study."""
        return [c for c in self.cells if c.study == study]


def load(path: Path) -> Criteria:
    """Reads a paper's criteria, and those beyond it.

    Raises:
        ValueError: a kind that is none, two records with one name, or one beyond the paper that is not a report.
    """
    stated = read(path)
    added = [{**entry, "added": True} for entry in read(path.with_name(ADDED)).get("criterion", [])]
    entries = [*stated["criterion"], *added, *_beyond(path.with_name(BEYOND))]
    reader = _Reader(stated.get("axes", {}), stated.get("measures", {}), read(path.with_name(CLAIMS)))
    claims = [c for entry in entries for c in reader.claims(entry)]
    names = [(c.study, c.claim) for c in claims]
    twice = sorted({f"{s}/{c}" for s, c in names if names.count((s, c)) > 1})
    if twice:
        raise ValueError(f"{path}: listed twice: {', '.join(twice)}")
    reader.all_used(path.with_name(CLAIMS), claims)
    forms = reader.forms
    return Criteria(
        claims, [cell for study, table in stated.get("table", {}).items() for cell in _cells(study, table, forms)]
    )


def read(path: Path) -> dict[str, Any]:
    """A paper's file; empty if the paper has none of that name."""
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _beyond(path: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = read(path).get("criterion", [])
    for entry in entries:
        if entry["kind"] != "report":
            raise ValueError(f"{path}: {entry['study']}/{entry['id']} is {entry['kind']!r}: only report goes here")
    return entries


@dataclass(frozen=True)
class _Reader:
    """What all records of a paper share."""

    forms: Forms
    measures: Measures
    stated: Mapping[str, Mapping[str, Any]]
    """`claims.toml`, by study and claim."""

    def claims(self, entry: dict[str, Any]) -> list[Criterion]:
        """A record at each point of its grid."""
        if entry["kind"] not in KINDS:
            raise ValueError(f"{entry['study']}/{entry['id']}: kind is {entry['kind']!r}: one of {', '.join(KINDS)}")
        bounds = Bounds.read(entry, self.measures, self.stated.get(entry["study"], {}).get(entry["id"], {}))
        return [replace(_at(entry, point, self.forms), bounds=bounds) for point in _points(entry, self.forms)]

    def all_used(self, path: Path, claims: Iterable[Criterion]) -> None:
        """Refuses what is stated of a claim that there is not."""
        known = {(claim.study, claim.rule) for claim in claims}
        for study, stated in self.stated.items():
            for rule in stated:
                if (study, rule) not in known:
                    raise ValueError(f"{path}: [{study}.{rule}] is no claim of {path.with_name('criteria.toml').name}")


def _points(entry: dict[str, Any], forms: Forms) -> list[dict[str, Any]]:
    """The grid of an entry."""
    axes = {key: entry[key] for key in forms if key in entry}
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def _suffix(point: Mapping[str, Any], forms: Forms) -> str:
    return "".join(forms[key].format(value) for key, value in point.items())


def _where(point: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in point.items())


def _at(entry: dict[str, Any], point: dict[str, Any], forms: Forms) -> Criterion:
    return Criterion(
        study=entry["study"],
        claim=entry["id"] + _suffix(point, forms),
        kind=entry["kind"],
        text=entry["text"],
        published=entry.get("published"),
        rule=entry["id"],
        at=point,
        why=entry.get("why", ""),
        added=entry.get("added", False),
    )


def _cells(study: str, table: dict[str, Any], forms: Forms) -> list[Cell]:
    rows = [key for key in table if key not in ("columns", "unit", *forms)]
    return [
        Cell(study, row, column, value, table["unit"], point, _suffix(point, forms))
        for point in _points(table, forms)
        for row in rows
        for column, value in zip(table["columns"], table[row], strict=True)
    ]
