"""What a map found, point by point, and which points to look at next."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from perhop import files
from perhop_studies.maps import DIRECTORY, Map

At = tuple[int, int]
"""Index of x, index of y."""


@dataclass(frozen=True)
class Point:
    """A claim's verdict at one point."""

    verdict: str
    margin: float | None
    """Of its narrowest condition: the distance of the mean from the bound, in half-widths of the 95 % interval."""
    value: float | None
    """What that condition measured, the mean."""
    seeds: int


@dataclass
class Grid:
    """The points of a map that were run."""

    columns: int
    rows: int
    made_with: str
    """Of the map's definition, perhop's version and the seeds: what a kept grid must have to be taken up again."""
    date: str = ""
    points: dict[At, Point] = field(default_factory=dict)

    def wanted(self, own: At) -> list[At]:
        """What to run now: every other point, the last ones and the paper's; then those beside which verdicts change.

        Nothing when the boundary is known to a cell.
        """
        xs, ys = ({*range(0, n, 2), n - 1} for n in (self.columns, self.rows))
        coarse = ({(x, y) for x in xs for y in ys} | {own}) - self.points.keys()
        return sorted(coarse) or [at for at in self._missing if len({self.verdict(to) for to in self._around(at)}) > 1]

    @property
    def _missing(self) -> list[At]:
        return [(x, y) for x in range(self.columns) for y in range(self.rows) if (x, y) not in self.points]

    def verdict(self, at: At) -> str:
        """Of a point that was run; of another, of the nearest that was."""
        if at in self.points:
            return self.points[at].verdict
        nearest = min(self.points, key=lambda to: (max(abs(to[0] - at[0]), abs(to[1] - at[1])), to))
        return self.points[nearest].verdict

    def _around(self, at: At) -> list[At]:
        """The points that were run next to one that was not: within two steps, where the coarse ones are."""
        near = [(at[0] + dx, at[1] + dy) for dx in range(-2, 3) for dy in range(-2, 3)]
        return [to for to in near if to in self.points]


def kept_at(found: Map) -> Path:
    """Where the last run of a map travels with its paper's files."""
    return found.paper.directory / "records" / DIRECTORY / f"{found.id}.jsonl"


def newest(found: Map, out: Path) -> Path:
    """The points that were run for a report, or those that travel with the paper's files."""
    here = out / DIRECTORY / f"{found.id}.jsonl"
    return here if here.is_file() else kept_at(found)


def write(path: Path, grid: Grid) -> None:
    """As JSON, a point a line."""
    head = {"columns": grid.columns, "rows": grid.rows, "made_with": grid.made_with, "date": grid.date}
    points = [{"x": x, "y": y, **asdict(point)} for (x, y), point in sorted(grid.points.items())]
    files.write(path, "".join(json.dumps(line, allow_nan=False) + "\n" for line in (head, *points)))


def read(path: Path) -> Grid | None:
    """A kept grid; None if there is none."""
    if not path.is_file():
        return None
    head, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    points = {(line.pop("x"), line.pop("y")): Point(**line) for line in lines}
    return Grid(**head, points=points)
