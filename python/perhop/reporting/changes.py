"""What was changed against the file: swept keys, overrides, and what differs between runs."""

from __future__ import annotations

from pathlib import Path

from perhop import _core, files, in_force
from perhop.columns import Origin
from perhop.reporting.tables import Tabled
from perhop.results import Results

NOTHING = "\N{EN DASH}"
"""A key that is not in force."""


def changes(runs: Results) -> list[Tabled]:
    """Swept keys with their values, or what differs between several runs; and what is not as the file says."""
    if not runs.points:
        return []
    swept = [_between(runs)] if "run" in runs.keys else [_swept(runs)] if runs.keys else []
    return swept if "run" in runs.keys else [*swept, *_against_file(runs)]


def _swept(runs: Results) -> Tabled:
    rows = [[key, ", ".join(dict.fromkeys(p.labels[key] for p in runs.points))] for key in runs.keys]
    return _named(["swept", "values"], rows)


def _between(runs: Results) -> Tabled:
    """Every key that is not the same in all."""
    every = [in_force.settings(point.effective) for point in runs.points]
    rows = [[key, *(of.get(key, NOTHING) for of in every)] for key in _differing(every)]
    note = "" if rows else "Nothing differs: all values in force are the same."
    return _named(["differs", *(", ".join(point.labels.values()) for point in runs.points)], rows, note)


def _differing(every: list[dict[str, str]]) -> list[str]:
    keys = dict.fromkeys(key for of in every for key in of if key != "scenario.name")
    return [key for key in keys if len({of.get(key) for of in every}) > 1]


def _named(headings: list[str], rows: list[list[str]], note: str = "") -> Tabled:
    """All of its columns are names."""
    return Tabled("", headings, rows, len(headings), note)


def _against_file(runs: Results) -> list[Tabled]:
    """What is in force in all points and not what the file says now; if that is gone, the overrides."""
    origin = runs.points[0].origin
    if origin is None:
        return []
    stated = _stated(origin)
    if stated is None:
        rows = [[*override.partition("=")[::2]] for override in origin.overrides]
        return [_named(["set", "value"], rows)] if rows else []
    every = [in_force.settings(point.effective) for point in runs.points]
    swept = set(_differing(every))
    keys = [key for key in _differing([stated, every[0]]) if key not in swept]
    rows = [[key, stated.get(key, NOTHING), every[0].get(key, NOTHING)] for key in keys]
    return [_named(["changed", f"in {origin.file}", "in this run"], rows)] if rows else []


def _stated(origin: Origin) -> dict[str, str] | None:
    """Every value in force in the file as it is now, without overrides; `None` if it cannot be read."""
    try:
        text = _core.text(origin.file, files.regular(Path(origin.file)))
        return in_force.settings(_core.Scenario(text, origin.file, [], []).effective())
    except (OSError, ValueError):
        return None
