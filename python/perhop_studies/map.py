"""`perhop map`: where a claim of a paper is true, over two parameters."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from perhop import files
from perhop.cluster.client import reached
from perhop.progress import say
from perhop.sql import connect, text
from perhop_studies.maps import Map, every, select
from perhop_studies.maps.drawing import draw
from perhop_studies.maps.grid import Grid
from perhop_studies.maps.run import run as points
from perhop_studies.runs import Budget
from perhop_studies.verdict import VERDICTS

PARQUET = "maps.parquet"


def map(arguments: Mapping[str, Any]) -> int:  # noqa: A001
    """Carries out `perhop map`.

    Raises:
        ValueError: `--seeds` below 2.
        UnknownError: no map has this name.
    """
    if arguments["list"]:
        lines = [f"{it.id:16} {it.study.id:12} {it.title}\n{'':29} {it.x.label}; {it.y.label}" for it in every()]
        print(json.dumps([_facts(it) for it in every()]) if arguments["json"] else "\n".join(lines))
        return 0
    if arguments["seeds"] < 2:
        raise ValueError(f"--seeds is {arguments['seeds']}: an interval needs at least 2")
    chosen, out = select(arguments["what"]), Path(arguments["out"])
    with reached(arguments.get("cluster")) as cluster:
        seeds, seed, jobs = (arguments[key] for key in ("seeds", "seed", "jobs"))
        run(chosen, Budget(seeds=seeds, seed=seed, jobs=jobs, cluster=cluster), out)
    return 0


def _facts(it: Map) -> dict[str, str]:
    return {"map": it.id, "study": it.study.id, "title": it.title, "x": it.x.label, "y": it.y.label}


def run(chosen: Iterable[Map], budget: Budget, out: Path) -> None:
    """Runs maps, one after another, and draws them; what each found is printed."""
    found = []
    for one in chosen:
        began = time.monotonic()
        grid = points(one, budget, out, datetime.now(UTC).strftime("%Y-%m-%d"), say)
        picture = draw(one, grid)
        files.write(out / f"{one.id}.svg", picture.svg)
        files.write(out / f"{one.id}.png", picture.png)
        found.append((one, grid))
        say("")
        print(_said(one, grid, time.monotonic() - began))
    with files.whole(out / PARQUET) as temporary:
        _parquet(found, temporary)
    print(f"\npictures and points in {out}")


def _said(found: Map, grid: Grid, seconds: float) -> str:
    verdicts = [point.verdict for point in grid.points.values()]
    counted = ", ".join(f"{n} {word}" for word in VERDICTS if (n := verdicts.count(word)))
    return (
        f"{found.id}: {found.title}\n  {counted}, of {len(verdicts)} points run in a grid of "
        f"{grid.columns} x {grid.rows}; at the paper's point: {grid.verdict(found.own)} ({seconds:.0f} s)"
    )


def _parquet(found: Iterable[tuple[Map, Grid]], path: Path) -> None:
    """Every point that was run: one row each."""
    rows = [
        (one.id, str(one.x.values[x]), str(one.y.values[y]), p.verdict, p.margin, p.value, p.seeds)
        for one, grid in found
        for (x, y), p in sorted(grid.points.items())
    ]
    with connect() as connection:
        connection.execute(
            "CREATE TABLE points (map TEXT, x TEXT, y TEXT, verdict TEXT, margin DOUBLE, value DOUBLE, seeds INTEGER)"
        )
        connection.executemany("INSERT INTO points VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        connection.execute(f"COPY points TO {text(str(path))} (FORMAT parquet)")
