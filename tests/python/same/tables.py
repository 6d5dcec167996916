"""Every scenario file of `examples` and of the papers: one replication of every point, in full."""

from __future__ import annotations

from pathlib import Path

from perhop import Runs, Scenario, ScenarioError

from .record import ROOT, Table, of_table


def names() -> list[str]:
    """The TOML files in both, readable as scenarios or not."""
    files = [*ROOT.glob("examples/*.toml"), *ROOT.glob("python/perhop_studies/*/*.toml")]
    return sorted(str(file.relative_to(ROOT)) for file in files)


def runs(name: str) -> Runs | None:
    """One replication of every point; None for a file without links, which is a policy or a study's table."""
    try:
        scenario = Scenario.from_toml(Path(name))
    except ScenarioError:
        return None
    return scenario.run(1, jobs=1, progress=False)


def tables(name: str) -> dict[str, Table]:
    """The hashes of a scenario's tables; empty for a file that is not a scenario."""
    done = runs(name)
    return {} if done is None else {table: of_table(done.table(table)) for table in done.tables}
