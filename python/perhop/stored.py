"""Run directories on disk, `<scenario>/<point>-<hash>/rep-003/{manifest.json, *.parquet}`; the core reads tables.

`reps-000-099` is a block: a directory of several replications.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perhop import _core
from perhop.columns import Columns, Origin, Point, Replication

MANIFEST = "manifest.json"
MOST_SHOWN = 3


@dataclass(frozen=True)
class Stored:
    """One replication, and the directory that it is in."""

    path: Path
    manifest: dict[str, Any]
    replication: int
    written: float

    @property
    def labels(self) -> dict[str, str]:
        """Swept keys and their values."""
        return dict(self.manifest["point"])

    @property
    def run(self) -> tuple[str, int]:
        """What identifies a replication among others."""
        return (self.manifest["point_hash"], self.replication)

    @property
    def batch(self) -> tuple[Any, ...]:
        """What all replications of one sweep share; manifests of version 0.1 state neither a name nor a base."""
        base = self.manifest.get("base_hash") or self.manifest["seed"]
        return (self.manifest.get("name"), base, *self.labels)


@dataclass(frozen=True)
class Kept:
    """A directory's results for one scenario, ordered by point and replication."""

    name: str
    seed: int
    points: list[Point]
    replications: list[Replication]
    settings: dict[str, Any]
    """`[scenario]` with every effective value, times in seconds."""
    notes: list[str]
    """What was skipped."""


def read(directory: Path) -> Kept:
    """The finished replications below a directory: the newest of several runs, as `notes` says.

    A directory that does not exist may be the name of a run: `runs/SCENARIO/NAME`.

    Raises:
        FileNotFoundError: when there are none, or no such directory or name.
        ValueError: when they belong to different scenarios, or results are damaged.
    """
    every = found(directory)
    names = sorted({s.manifest["scenario"] for s in every})
    if len(names) > 1:
        raise ValueError(f"{directory} holds runs of several scenarios ({', '.join(names)}): name one of them")
    kept = newest(every)
    order = ordered(list({s.manifest["point_hash"]: s for s in kept}.values()))
    points = [_point(s) for s in order]
    index = {point.hash: i for i, point in enumerate(points)}
    kept.sort(key=lambda s: (index[s.manifest["point_hash"]], s.replication))
    replications = [
        Replication(index[s.manifest["point_hash"]], s.replication, *results, reused=True, directory=s.path)
        for s, results in zip(kept, _loaded(kept), strict=True)
    ]
    return Kept(names[0], order[0].manifest["seed"], points, replications, settings(order[0]), chosen(every, kept))


def ordered(points: list[Stored]) -> list[Stored]:
    """As the sweep states them; in natural order if they are of several sweeps, or of version 0.1."""
    positions = {s.manifest.get("index") for s in points}
    if None in positions or len(positions) < len(points):
        return sorted(points, key=lambda s: _natural(s.labels.values()))
    return sorted(points, key=lambda s: int(s.manifest["index"]))


def _point(stored: Stored) -> Point:
    manifest = stored.manifest
    file = manifest.get("file")
    origin = Origin(file, list(manifest.get("overrides", ()))) if file else None
    return Point(stored.labels, stored.path.parent.name, manifest["point_hash"], manifest["effective"], origin)


def found(directory: Path) -> list[Stored]:
    """All finished replications below a directory, or of the run with this name in the directory above."""
    if directory.is_dir():
        stored = _below(directory)
    else:
        stored = [s for s in _below(directory.parent) if s.manifest.get("name") == directory.name]
        if not stored:
            raise FileNotFoundError(
                f"{directory} is not a directory, and no run there has this name: `perhop runs` lists those there are"
            )
    if not stored:
        raise FileNotFoundError(f"no finished replication below {directory}: `perhop run` writes runs/NAME")
    return stored


def _below(directory: Path) -> list[Stored]:
    paths = [directory, *directory.rglob("rep*-*")] if directory.is_dir() else []
    named = [path for path in paths if re.fullmatch(r"rep-\d+|reps-\d+-\d+", path.name) and path.is_dir()]
    return [stored for path in named for stored in _stored(path)]


def _stored(path: Path) -> list[Stored]:
    """The replications in a directory. The manifest of several has a list of what differs."""
    read = json.loads(_core.manifest(str(path)))
    written, several = (path / MANIFEST).stat().st_mtime, read.get("replications")
    return [Stored(path, read, it["replication"], written) for it in ([read] if several is None else several)]


def _loaded(kept: list[Stored]) -> list[tuple[str, Mapping[str, Columns]]]:
    """Hash and tables of each; a directory of several is read once."""
    paths = list(dict.fromkeys(s.path for s in kept))
    found = {
        (path, number): (result_hash, tables)
        for path, replications in zip(paths, _core.load([str(path) for path in paths]), strict=True)
        for number, result_hash, tables in replications
    }
    return [found[s.path, s.replication] for s in kept]


def damaged(path: Path, what: str) -> str:
    """The message for results that are not those that were written, as the core says it."""
    return (
        f"error[E023] damaged results in {path}: {what}\n"
        "   help: run it again: `perhop run` and `perhop sweep` make it again; or remove that directory"
    )


def newest(every: list[Stored]) -> list[Stored]:
    """Those of the newest run and swept keys, with the newest version of each point; each replication once.

    One that is in a directory of its own as well as in a block is taken from its own.
    """
    by_age = sorted(every, key=lambda s: s.written)
    batch = [s for s in by_age if s.batch == by_age[-1].batch]
    hashes = {s.manifest["point_hash"] for s in {tuple(s.labels.items()): s for s in batch}.values()}
    batch.sort(key=lambda s: s.path.name.startswith("rep-"))
    return list({s.run: s for s in batch if s.manifest["point_hash"] in hashes}.values())


def chosen(every: list[Stored], kept: list[Stored]) -> list[str]:
    """Which of several runs was taken."""
    taken = {s.path.parent for s in kept}
    left_out = sorted({s.path.parent for s in every} - taken)
    if not left_out:
        return []
    shown = ", ".join(path.name for path in left_out[:MOST_SHOWN])
    more = f" and {len(left_out) - MOST_SHOWN} more" if len(left_out) > MOST_SHOWN else ""
    first = min(taken)
    these = str(first) if len(taken) == 1 else f"{first} and {len(taken) - 1} more of its sweep"
    overrides = max(kept, key=lambda s: s.written).manifest.get("overrides")
    these += f" (with {', '.join(overrides)})" if overrides else ""
    return [f"several runs are here; the newest is taken: {these}; without {shown}{more}; `perhop runs` lists them"]


def settings(stored: Stored) -> dict[str, Any]:
    """`[scenario]` of the effective scenario in a manifest."""
    try:
        return _core.Scenario(stored.manifest["effective"], MANIFEST, [], []).settings
    except _core.ScenarioError as error:
        version = stored.manifest["perhop"]
        raise ValueError(
            f"{stored.path} was written by perhop {version}, this is {_core.__version__}:\n{error}"
        ) from error


def _natural(values: Iterable[str]) -> list[list[tuple[float, str]]]:
    """A sorting key by which 5 comes before 10."""
    parts = [re.split(r"(\d+(?:\.\d+)?)", value) for value in values]
    return [[(float(p), "") if p[:1].isdigit() else (-1.0, p) for p in split] for split in parts]
