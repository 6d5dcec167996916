"""Maps: planted claims whose boundaries are known, what is run of a grid, and what the maps of the papers name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perhop.studies import Study, paper
from perhop.studies import runs as simulation
from perhop.studies.bounds import Bounds
from perhop.studies.criteria import Criterion
from perhop.studies.maps import Axis, Map, every, select
from perhop.studies.maps import run as running
from perhop.studies.maps.drawing import alternative, draw
from perhop.studies.maps.grid import Grid, Point, read
from perhop.studies.quantities import Tables, sums
from perhop.studies.runs import Budget, Method, RunSet
from perhop.studies.verdict import NOT_REPRODUCED, REPRODUCED

BUDGET = Budget(seeds=5, jobs=2)
LINE = """
[scenario]
name = "line"
duration = "{duration}"
warmup = "1s"
[links]
"A - B" = {{ rate = "10Mbit/s", delay = "1ms" }}
"A -> B" = {{ queue = "long" }}
[queue.long]
limit = "100000p"
[conditioner.meter]
at = "A -> B"
kind = "token-bucket"
cir = "5Mbit/s"
cbs = "3kB"
[traffic.p]
model = "poisson"
rate = "5Mbit/s"
size = "1000B"
from = "A"
to = "B"
"""


def measured(tables: Tables) -> dict[str, float]:
    rows = tables["summary"]
    waits = [(w, n) for w, n in zip(rows["wait_mean_ms"], rows["delivered_packets"], strict=True) if n]
    bytes_by = sums(rows, "arrived_bytes", by="colour")
    wait = sum(w * n for w, n in waits) / sum(n for _, n in waits)
    return {"wait": wait, "green": bytes_by["green"] / sum(bytes_by.values())}


class Line:
    """Stands for a paper: one link, one Poisson source, one meter."""

    def __init__(self, directory: Path, duration: str) -> None:
        (directory / "line.toml").write_text(LINE.format(duration=duration))
        self.sets = [RunSet("line", directory / "line.toml", {"at": "A"}, Method(measured))]

    def asked(self, _: str) -> list[None]:
        return [None]

    def runs(self, _: object) -> list[RunSet]:
        return self.sets


def planted(line: Line, hold: str, x: Axis, y: Axis) -> Map:
    bounds = Bounds.read({"holds": [hold], "of": {"at": "A"}}, {})
    claim = Criterion("line", "planted", "report", "", rule="planted", bounds=bounds)
    of: Any = line
    return Map("planted", of, Study("line", "line", "line"), claim, "It is so", [], x, y)


def rate(values: list[float]) -> Axis:
    return Axis("rate", ["traffic.p.rate"], "{}Mbit/s", values, 5)


def assert_known_to_a_cell(grid: Grid, truth: dict[tuple[int, int], bool]) -> None:
    """A verdict may be wrong or open only beside the boundary."""
    for (x, y), holds in truth.items():
        around = [truth.get((x + dx, y + dy), holds) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
        if len(set(around)) == 1:
            assert grid.verdict((x, y)) == (REPRODUCED if holds else NOT_REPRODUCED), (x, y)


def test_the_wait_of_an_m_d_1_queue_is_mapped_to_a_cell(tmp_path: Path) -> None:
    """W = S rho / (2 (1 - rho)), S the time of a packet on the line: above 1 ms."""
    sizes = [250, 500, 750, 1000, 1250, 1500]
    x = rate([3, 4, 5, 6, 7, 8, 9])
    y = Axis("size", ["traffic.p.size"], "{}B", sizes, 1000)
    grid = running.run(planted(Line(tmp_path, "60s"), "wait > 1", x, y), BUDGET, tmp_path, "", lambda _: None)
    truth = {}
    for i, offered in enumerate(x.values):
        for j, size in enumerate(sizes):
            rho, service = offered / 10, size * 8 / 10e6 * 1e3
            truth[i, j] = service * rho / (2 * (1 - rho)) > 1
    assert {True, False} == set(truth.values())
    assert_known_to_a_cell(grid, truth)


def test_token_supply_is_mapped_to_a_cell(tmp_path: Path) -> None:
    """Green is at most CIR / rate of what comes: at least half of it needs CIR of half the rate."""
    cirs = [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4]
    x, y = rate([1, 2, 3, 4, 5, 6, 7, 8]), Axis("cir", ["conditioner.meter.cir"], "{}Mbit/s", [*cirs, 5], 5)
    grid = running.run(planted(Line(tmp_path, "20s"), "green >= 0.5", x, y), BUDGET, tmp_path, "", lambda _: None)
    truth = {(i, j): cir >= r / 2 for i, r in enumerate(x.values) for j, cir in enumerate(y.values)}
    assert_known_to_a_cell(grid, truth)
    assert len(grid.points) < len(truth), "the boundary is refined, not the rest"


def test_a_map_that_was_broken_off_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = planted(Line(tmp_path, "5s"), "green >= 0.5", rate([2, 5]), rate([5, 8]))
    seen: list[tuple[int, int]] = []
    at = running.Runner.at

    def counted(self: running.Runner, where: tuple[int, int]) -> Point:
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(where)
        return at(self, where)

    monkeypatch.setattr(running.Runner, "at", counted)
    with pytest.raises(KeyboardInterrupt):
        running.run(found, replace(BUDGET, jobs=1), tmp_path, "", lambda _: None)
    kept = read(tmp_path / "planted.jsonl")
    assert kept is not None
    assert set(kept.points) == set(seen)
    monkeypatch.setattr(running.Runner, "at", at)
    again = running.run(found, replace(BUDGET, jobs=1), tmp_path, "", lambda _: None)
    assert len(again.points) == 4
    assert {where: again.points[where] for where in seen} == kept.points


def test_other_seeds_begin_a_map_again(tmp_path: Path) -> None:
    found = planted(Line(tmp_path, "5s"), "green >= 0.5", rate([5, 8]), rate([5]))
    seeds = [running.run(found, Budget(seeds=n), tmp_path, "", lambda _: None).points[0, 0].seeds for n in (3, 4)]
    assert seeds == [3, 4]


def test_a_boundary_is_followed_from_the_coarse_points() -> None:
    grid = Grid(9, 9, "")
    wanted = grid.coarse((3, 3))
    while wanted:
        for x, y in wanted:
            grid.points[x, y] = Point(REPRODUCED if x + y > 8 else NOT_REPRODUCED, 0.0, 0.0, 5)
        wanted = grid.next()
    assert all(
        grid.verdict((x, y)) == (REPRODUCED if x + y > 8 else NOT_REPRODUCED) for x in range(9) for y in range(9)
    )
    assert len(grid.points) < 70


@pytest.mark.parametrize("found", every(), ids=lambda one: one.id)
def test_each_map_asks_for_runs_and_its_keys_are_in_their_files(found: Map) -> None:
    """A key that a file lacks, or a value out of its range, is an error; the paper's own value changes nothing."""
    runner = running.Runner.of(found, Budget(seeds=1))
    assert runner.jobs
    for axis in (found.x, found.y):
        for value in axis.values:
            if value == axis.paper == 0.0:
                continue  # not to be had is not stated: no overhead
            laid = simulation.assignments(axis.stated(value))
            changed = [runner._laid(job, laid).scenario.points[0]["hash"] for job in runner.jobs]
            plain = [job.scenario.points[0]["hash"] for job in runner.jobs]
            assert (changed == plain) == (value == axis.paper), f"{axis.label} = {value}"


def test_maps_are_chosen_by_name_claim_study_or_paper() -> None:
    assert [one.id for one in select(["fsam-gain"])] == ["fsam-gain"]
    assert {one.paper.name for one in select(["redp"])} == {"redp"}
    assert {one.study.id for one in select(["pf-fig7"])} == {"pf-fig7"}
    with pytest.raises(LookupError, match="no map of `x`: fsam-gain, "):
        select(["x"])


def test_a_map_is_drawn_and_told() -> None:
    [found] = select(["fsam-gain"])
    grid = Grid(len(found.x.values), len(found.y.values), "", points={found.own: Point(REPRODUCED, 2.0, 0.1, 5)})
    assert "TCP flows 10: 0.5 holds" in alternative(found, grid)
    assert draw(found, grid).png.startswith(b"\x89PNG")
    assert paper("pam-fsam").directory.is_dir()
