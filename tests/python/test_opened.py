"""One reader of directories: what `perhop runs` lists and what `Runs.open` takes are the same."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from conftest import Command
from perhop import Runs, Scenario
from test_on_disk import SHORT, same


def listed(perhop: Command, directory: str) -> list[dict[str, Any]]:
    """The runs there, the newest last."""
    return [json.loads(line) for line in perhop("runs", directory, "--json").stdout.splitlines()]


def agree(run: dict[str, Any], read: Runs) -> None:
    assert (run["scenario"], run["seeds"][0]) == (read.name, read.seed)
    assert [list(point["labels"].items()) for point in run["points"]] == [[*p.labels.items()] for p in read.points]
    assert [Path(point["dir"]).name for point in run["points"]] == [point.name for point in read.points]
    counted = [sum(r.point == i for r in read) for i in range(len(read.points))]
    assert [point["replications"] for point in run["points"]] == counted
    assert {(p.origin.file, *p.origin.overrides) for p in read.points if p.origin} == {(run["file"], *run["overrides"])}


def test_the_newest_run_that_is_listed_is_the_one_that_is_opened(tmp_path: Path, perhop: Command) -> None:
    """Several runs, names, seeds, sweeps, blocks and single directories, at every depth, and behind a link."""
    out = tmp_path / "runs"
    base, swept = Scenario.from_toml(SHORT), Scenario.from_toml(SHORT, vary=["dumbbell.flows=10,9,2"])
    calls: list[Callable[[], Runs]] = [
        lambda: base.run(3, out=out),
        lambda: base.run(1, out=out, seed=7),
        lambda: base.run(2, out=out, name="a"),
        lambda: swept.run(1, out=out),
        lambda: Scenario.from_toml(SHORT, {"dumbbell.rtt": "80ms"}, vary=["dumbbell.flows=10,9,2"]).run(2, out=out),
        lambda: swept.run(4, out=out),
    ]
    for again in calls:
        made = again()
        *_, last = listed(perhop, "runs")
        for place in (out, out / "small"):
            read = Runs.open(place)
            agree(last, read)
            same(replace(made, notes=read.notes), read)
    assert len(listed(perhop, "runs")) == 5
    (tmp_path / "elsewhere/deep").mkdir(parents=True)
    shutil.move(out, tmp_path / "elsewhere/deep/runs")
    out.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere/circle").symlink_to(out)
    *_, last = listed(perhop, "runs")
    agree(last, Runs.open(out))
    for run in listed(perhop, "runs"):
        if run["name"] or len(run["points"]) == 1:
            agree(run, Runs.open(tmp_path / run["points"][0]["dir"]))
