"""What was changed against the file: swept keys, overrides, and what differs between runs."""

from __future__ import annotations

from perhop import in_force
from perhop.reporting.tables import Tabled
from perhop.results import Runs


def changes(runs: Runs) -> Tabled:
    """Swept keys with their values; for several runs, every key that differs."""
    if runs.keys == ["run"]:
        return _between(runs)
    if runs.keys:
        rows = [[key, ", ".join(dict.fromkeys(p.labels[key] for p in runs.points))] for key in runs.keys]
        return Tabled("", ["swept", "values"], rows, 2)
    return Tabled("", [], [], 0, "")


def _between(runs: Runs) -> Tabled:
    """Every key that is not the same in all runs."""
    every = [in_force.settings(point.effective) for point in runs.points]
    keys = [key for key in dict.fromkeys(key for of in every for key in of) if key != "scenario.name"]
    differing = [key for key in keys if len({of.get(key) for of in every}) > 1]
    rows = [[key, *(of.get(key, "-") for of in every)] for key in differing]
    note = "" if rows else "All values in force are the same in these runs."
    return Tabled("", ["differs", *(point.labels["run"] for point in runs.points)], rows, 1 + len(every), note)
