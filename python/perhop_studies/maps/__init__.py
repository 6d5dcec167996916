"""Maps: where a claim is true.

A paper's `maps.toml` states them. A map lays the values of two parameters over the very points of the grid that a
claim asks for, and asks the claim's own verdict function at each; at the paper's point its verdict is the study's. What
the paper says without a number, or of all points at once, a map states by `holds`, `of` and `measures` (see `bounds`).

    [[map]]
    id = "fsam-gain"
    study = "pf-fig7"
    claim = "tcp-order-n10"                    # with its place in the study's grid
    title = "..."                              # what is true, and where
    says = ["...", "..."]                      # two sentences for an engineer
    [map.x]
    label = "UDP, Mbit/s"
    set = "traffic.rogue.rate"                 # a key, or several; or a table, { key = [factor, form] }
    form = "{}Mbit/s"                          # a value as the key has it; without, as it stands
    values = [0.5, 1, 2, 3, 4, 5]
    paper = 1                                  # the paper's value; where it prints none: `frozen`, the study's
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perhop.unknown import UnknownError
from perhop_studies import Paper, Study
from perhop_studies.bounds import Bounds
from perhop_studies.criteria import Criterion, read
from perhop_studies.papers import PAPERS

FILE = "maps.toml"
DIRECTORY = "maps"
"""Of points and pictures, beside a report or with a paper's files."""
SEEDS = 5
"""At each point, if nothing else is asked for."""


@dataclass(frozen=True)
class Axis:
    """A parameter of a map."""

    label: str
    keys: list[str] | dict[str, tuple[float, str]]
    """With a factor and a form each where these differ."""
    form: str
    values: list[Any]
    paper: Any
    """The paper's own value, or the study's where it prints none."""

    def settings(self, value: Any) -> dict[str, Any]:
        """What a value lays over the files; nothing at the paper's own."""
        return {} if value == self.paper else self.stated(value)

    def stated(self, value: Any) -> dict[str, Any]:
        """Its keys with a value."""
        if isinstance(self.keys, dict):
            return {key: _formed(factor * value, form) for key, (factor, form) in self.keys.items()}
        return dict.fromkeys(self.keys, _formed(value, self.form))


def _formed(value: Any, form: str) -> Any:
    return form.format(value) if form else value


@dataclass(frozen=True)
class Map:
    """A claim over two parameters."""

    id: str
    paper: Paper
    study: Study
    claim: Criterion
    title: str
    says: list[str]
    x: Axis
    y: Axis

    @property
    def own(self) -> tuple[int, int]:
        """Where the paper's point is."""
        return self.x.values.index(self.x.paper), self.y.values.index(self.y.paper)


def load(found: Paper) -> list[Map]:
    """A paper's maps; none without the file.

    Raises:
        ValueError: a study or claim that does not exist, or an axis without the paper's own value.
    """
    path = found.directory / FILE
    return [_map(found, entry, path) for entry in read(path).get("map", [])]


def _map(found: Paper, entry: Mapping[str, Any], path: Path) -> Map:
    where = f"{path}: {entry['id']}"
    x, y = (_axis(entry[name], f"{where}.{name}") for name in ("x", "y"))
    study = found.study(entry["study"])
    return Map(entry["id"], found, study, _claim(found, entry, where), entry["title"], entry["says"], x, y)


def _claim(found: Paper, entry: Mapping[str, Any], where: str) -> Criterion:
    """The study's, or one that the map states by bounds on quantities."""
    if "holds" in entry:
        bounds = Bounds.read(entry, {})
        return Criterion(entry["study"], entry["id"], "report", entry["title"], rule=entry["id"], bounds=bounds)
    for claim in found.criteria().of(entry["study"]):
        if claim.claim == entry["claim"]:
            return claim
    raise ValueError(f"{where}: there is no claim {entry['study']}/{entry['claim']}")


def _axis(entry: Mapping[str, Any], where: str) -> Axis:
    own = entry["frozen"] if "frozen" in entry else entry["paper"]
    if own not in entry["values"]:
        raise ValueError(f"{where}: the paper's own value {own!r} is not one of {entry['values']}")
    keys = [entry["set"]] if isinstance(entry["set"], str) else entry["set"]
    return Axis(entry["label"], keys, entry.get("form", ""), entry["values"], own)


def every() -> list[Map]:
    """The maps of all papers."""
    return [one for paper in PAPERS.values() for one in load(paper)]


def select(asked: Iterable[str]) -> list[Map]:
    """Maps by their ids, or those of a claim (`study/claim`), a study or a paper; all of them if none is asked for.

    Raises:
        UnknownError: a name that is none of these.
    """
    known, wanted = every(), list(asked)
    names = {one.id: {one.id, one.study.id, one.paper.name, f"{one.study.id}/{one.claim.claim}"} for one in known}
    for name in wanted:
        if not any(name in of for of in names.values()):
            raise UnknownError(f"no map of `{name}`: {', '.join(names)}; or their papers, studies, claims")
    return [one for one in known if not wanted or names[one.id] & {*wanted}]
