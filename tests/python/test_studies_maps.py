"""Maps: planted claims whose boundaries are known, what is run of a grid, and what the maps of the papers name."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perhop_studies import Study, tally
from perhop_studies import runs as simulation
from perhop_studies.bounds import Bounds
from perhop_studies.criteria import Criterion
from perhop_studies.maps import Axis, Map, every, select
from perhop_studies.maps import run as running
from perhop_studies.maps.drawing import alternative, draw
from perhop_studies.maps.grid import Grid, Point, kept_at, read, write
from perhop_studies.papers import paper
from perhop_studies.quantities import Tables, sums
from perhop_studies.runs import Budget, Method, RunSet
from perhop_studies.settings import FROZEN
from perhop_studies.verdict import NOT_REPRODUCED, REPRODUCED, UNDECIDED, Finding, at_least
from planted import LINE

BUDGET = Budget(seeds=5, jobs=2)
LOSSY = """
[scenario]
name = "lossy"
duration = "{duration}"
warmup = "10s"
[links]
"A - B" = {{ rate = "1Gbit/s", delay = "10ms", queue = "long" }}
"A -> B" = {{ loss = 0.002 }}
[queue.long]
limit = "100000p"
[tcp.host]
window = 100000
[traffic.p]
model = "ftp"
tcp = "host"
from = "A"
to = "B"
"""


def measured(tables: Tables) -> dict[str, float]:
    rows = tables["summary"]
    waits = [(w, n) for w, n in zip(rows["wait_mean_ms"], rows["delivered_packets"], strict=True) if n]
    bytes_by = sums(rows, "arrived_bytes", by="colour")
    wait = sum(w * n for w, n in waits) / sum(n for _, n in waits)
    goodput = sum(g or 0.0 for g in tables["traffic"]["goodput_bit_s"]) / 1e6
    return {"wait": wait, "goodput": goodput, "green": bytes_by["green"] / sum(bytes_by.values())}


class Line:
    """Stands for a paper: one link and one source, of a Poisson stream through a meter if nothing else is said."""

    def __init__(self, directory: Path, duration: str, text: str = LINE) -> None:
        (directory / "line.toml").write_text(text.format(duration=duration, warmup="1s", name="meter", cir="5Mbit/s"))
        self.sets = [RunSet("line", directory / "line.toml", {"at": "A"}, Method(measured))]

    def runs(self) -> list[RunSet]:
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


def test_tcps_square_root_law_is_mapped_to_a_cell(tmp_path: Path) -> None:
    """Segment / round trip x sqrt(3 / (2 p)), each segment acknowledged (Mathis et al., 1997): above 10 Mbit/s."""
    x = Axis("loss", ['links."A -> B".loss'], "", [0.0009, 0.0014, 0.002, 0.003, 0.0045, 0.0067], 0.002)
    y = Axis("round trip", ['links."A - B".delay'], "{}ms", [6, 8, 10, 13, 17, 22], 10)
    grid = running.run(
        planted(Line(tmp_path, "70s", LOSSY), "goodput > 10", x, y), BUDGET, tmp_path, "", lambda _: None
    )
    truth = {
        (i, j): 8000 / (2e-3 * delay) * math.sqrt(1.5 / p) > 10e6
        for i, p in enumerate(x.values)
        for j, delay in enumerate(y.values)
    }
    assert {True, False} == set(truth.values())
    assert_known_to_a_cell(grid, truth)


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


def test_a_map_that_was_broken_off_at_its_boundary_is_refined(tmp_path: Path) -> None:
    """All coarse points are there, those beside which the verdict changes are not."""
    found = planted(Line(tmp_path, "5s"), "green >= 0.5", rate([5, 20, 30, 40, 50]), rate([5]))
    whole = running.run(found, BUDGET, tmp_path, "", lambda _: None)
    coarse = {(x, 0) for x in (0, 2, 4)}
    assert coarse < whole.points.keys()
    write(tmp_path / "planted.jsonl", replace(whole, points={at: whole.points[at] for at in coarse}))
    again = running.run(found, BUDGET, tmp_path, "", lambda _: None)
    assert again.points == whole.points


def test_where_nothing_was_measured_a_point_is_open_and_its_json_strict(tmp_path: Path) -> None:
    nothing, fails = at_least("x", [math.nan] * 10, 1), at_least("y", [0.0] * 10, 1)
    assert nothing.holds is False
    point = running._point(Finding([nothing]))
    assert point == Point(UNDECIDED, None, None, 10)
    assert running._point(Finding([nothing, fails])).verdict == NOT_REPRODUCED
    write(tmp_path / "x.jsonl", Grid(1, 1, "", points={(0, 0): point}))
    for line in (tmp_path / "x.jsonl").read_text().splitlines():
        json.loads(line, parse_constant=pytest.fail)
    kept = read(tmp_path / "x.jsonl")
    assert kept is not None
    assert kept.points == {(0, 0): point}


@pytest.mark.parametrize("found", every(), ids=lambda one: one.id)
def test_a_kept_map_is_strict_json_known_to_a_cell_and_undecided_where_nothing_was_measured(found: Map) -> None:
    for line in kept_at(found).read_text(encoding="utf-8").splitlines():
        json.loads(line, parse_constant=pytest.fail)
    grid = read(kept_at(found))
    assert grid is not None
    assert grid.wanted(found.own) == []
    assert {point.verdict for point in grid.points.values() if point.value is None} <= {UNDECIDED}


def test_keys_of_an_axis_have_a_factor_and_a_form_each() -> None:
    axis = Axis("booked", {"a.cir": (0.6, "{:.4g}Mbit/s"), "b.cir": (0.2, "{:.4g}Mbit/s"), "n": (1, "")}, "", [1, 2], 1)
    assert axis.settings(2) == {"a.cir": "1.2Mbit/s", "b.cir": "0.4Mbit/s", "n": 2}
    assert axis.settings(1) == {}, "the paper's own"


def test_other_seeds_begin_a_map_again(tmp_path: Path) -> None:
    found = planted(Line(tmp_path, "5s"), "green >= 0.5", rate([5, 8]), rate([5]))
    seeds = [running.run(found, Budget(seeds=n), tmp_path, "", lambda _: None).points[0, 0].seeds for n in (3, 4)]
    assert seeds == [3, 4]


def test_a_boundary_is_followed_from_the_coarse_points() -> None:
    grid = Grid(9, 9, "")
    while wanted := grid.wanted((3, 3)):
        for x, y in wanted:
            grid.points[x, y] = Point(REPRODUCED if x + y > 8 else NOT_REPRODUCED, 0.0, 0.0, 5)
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


@pytest.mark.parametrize("found", every(), ids=lambda one: one.id)
def test_at_the_papers_point_a_map_runs_what_its_study_runs(found: Map) -> None:
    """The same files, seeds and verdict function: so the same verdict."""
    runner = running.Runner.of(found, BUDGET)
    sets = [one for one in found.paper.runs() if one.name in found.study.sets]
    of_study = {place.key: place.hash for job in simulation.prepare(sets, BUDGET) for place in job.points}
    assert {place.key: place.hash for job in runner.jobs for place in job.points}.items() <= of_study.items()
    assert all(axis.settings(axis.values[i]) == {} for axis, i in zip((found.x, found.y), found.own, strict=True))


@pytest.mark.parametrize("found", [one for one in every() if one.claim.kind == "hard"], ids=lambda one: one.id)
def test_a_kept_maps_verdict_at_the_papers_point_is_the_studys(found: Map) -> None:
    """With ten seeds, where the map's five were enough."""
    kept, last = read(kept_at(found)), tally.read(found.paper)[FROZEN, 1]
    assert kept is not None
    verdict = kept.points[found.own].verdict
    holds = f"{found.study.id}/{found.claim.claim}" not in last.failed
    assert verdict in (UNDECIDED, REPRODUCED if holds else NOT_REPRODUCED)


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


@pytest.mark.parametrize("one", every(), ids=lambda one: one.id)
def test_the_label_at_the_side_of_a_map_fits(one: Map) -> None:
    """A longer one runs out of the picture of a map with five rows."""
    assert len(one.y.label) <= 52
