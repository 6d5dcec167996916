"""The RTT-RTO paper: round trips of its files, what is laid over them, what is read off tables, claims that turn."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

import pytest

from perhop_studies import runs as simulation
from perhop_studies.criteria import Criterion
from perhop_studies.papers import paper
from perhop_studies.rtt_rto import method, tables, users
from perhop_studies.rtt_rto.terms import LABELS, RTTS
from perhop_studies.runs import Budget, RunSet
from perhop_studies.samples import Sample
from perhop_studies.verdict import Finding
from planted import by_set, samples_of

PAPER = paper("rtt-rto")
CRITERIA = PAPER.criteria()
SETS = PAPER.runs()
SEEDS = 10

WAYS = {
    "F1": ("n1 - E1", "E{0..3} - C1", "C1 - C2", "C2 - C3", "C3 - E{7..8}", "n{0..9} - E{i}"),
    "F3": ("n{0..9} - E{i}", "E{0..3} - C1", "C1 - C2", "C2 - E4", "n{0..9} - E{i}"),
    "F4": ("n{0..9} - E{i}", "E{0..3} - C1", "C1 - C2", "C2 - C3", "C3 - E9", "n{0..9} - E{i}"),
    "F5": ("n{0..9} - E{i}", "E5 - C2", "C2 - C3", "C3 - E6", "n{0..9} - E{i}"),
}
"""Links of a flow in three domains."""
TRIPS = {"F1": 100.0, "F3": 8.0, "F4": 40.0, "F5": 16.0}


def stated(name: str) -> dict[str, Any]:
    return tomllib.loads((PAPER.directory / f"{name}.toml").read_text())


def ms(text: str) -> float:
    return float(text.removesuffix("ms"))


def of(name: str, **at: Any) -> RunSet:
    return next(s for s in SETS if s.name == name and all(s.at.get(k) == v for k, v in at.items()))


@pytest.mark.parametrize("name", ["rtt-fig6", "rtt-table1", "rtt-table2"])
@pytest.mark.parametrize("flow", TRIPS)
def test_round_trips_over_three_domains(name: str, flow: str) -> None:
    links = stated(name)["links"]
    way = [link.replace("n1 - E1", "n{0..9} - E{i}") for link in WAYS[flow]]
    assert 2 * sum(ms(links[link]["delay"]) for link in way) == pytest.approx(TRIPS[flow])


@pytest.mark.parametrize("rtt", RTTS)
def test_round_trips_of_two_aggregates(rtt: int) -> None:
    links = stated("rtt-fig4")["links"]
    near = of("rtt-fig4", rtt=rtt).settings.get(method.NEAR[1], links["n2 - E2"]["delay"])
    shared = ("E{1..2} - C1", "C1 - C2", "C2 - E{3..4}")
    others = [ms(links[link]["delay"]) for link in shared]
    assert 2 * (sum(others) + ms(links["E4 - n4"]["delay"]) + ms(near)) == pytest.approx(rtt)
    assert 2 * (sum(others) + ms(links["n1 - E1"]["delay"]) + ms(links["E3 - n3"]["delay"])) == pytest.approx(20)


def test_a_key_goes_to_the_kinds_that_have_it() -> None:
    law = {"@*.law?": "root", "conditioner.edge.cir": "1Mbit/s"}
    sets = [of("rtt-fig4", marker=marker, n=200, rtt=100) for marker in ("rtt-rto", "basic")]
    rto, basic = (job.points[0].effective for job in simulation.prepare(sets, Budget(seeds=1), law))
    edges = [tomllib.loads(text)["conditioner"]["edge"] for text in (rto, basic)]
    assert edges[0]["law"] == "root"
    assert "law" not in edges[1]
    assert all(edge["cir"] == "1000000bit/s" or edge["cir"] == "1Mbit/s" for edge in edges)


def test_long_delays_move_beyond_the_core() -> None:
    found = of("rtt-fig4", rtt=200).overrides({"long": "beyond"})
    assert {'links."E4 - n4".delay="98.75ms"', 'links."E3 - n3".delay="8.75ms"', 'links."n2 - E2".delay="0.25ms"'} <= {
        *found
    }
    assert 'links."E4 - n4".delay="48.75ms"' in of("rtt-lived").overrides({"long": "beyond"})
    assert not any("long" in text for text in of("rtt-fig6").overrides({"long": "beyond"}))


@cache
def short(marker: str) -> dict[str, float]:
    """A run of 30 s."""
    chosen = of("rtt-fig4", marker=marker, n=200, rtt=100)
    settings = {"scenario.duration": "30s", "scenario.sample": "1s"}
    jobs = simulation.prepare([chosen], Budget(seeds=1, jobs=1), settings)
    [sample] = simulation.simulate(jobs, Budget(seeds=1, jobs=1), lambda *_: None)
    return sample.values


@pytest.mark.parametrize("marker", LABELS)
def test_shares_and_totals_add_up(marker: str) -> None:
    found = short(marker)
    assert found["total"] == pytest.approx(found["F1"] + found["F2"])
    assert found["total"] <= 10.0 * 1.001
    assert 0 < found["drop ratio"] < 1
    for flow in ("F1", "F2"):
        assert sum(found[f"{flow}.DP{i}"] for i in range(3)) == pytest.approx(1)
        assert 1 <= found[f"{flow}.cwnd"] <= 64


@pytest.mark.parametrize("marker", ["basic", "rtt-rto", "rtt-sw"])
def test_draws_are_what_left_the_edge(marker: str) -> None:
    """Without debt a packet has the colour it drew."""
    found = short(marker)
    for flow in ("F1", "F2"):
        drawn = found[f"{flow}.DP1"] + found[f"{flow}.DP2"]
        assert found[f"{flow}.DP2"] / drawn == pytest.approx(found[f"{flow}.out"])
        assert drawn <= found[f"{flow}.above"]


def test_delays_are_weighted_by_packets() -> None:
    sessions = {
        "traffic": ["F1", "F2", "F3"],
        "delivered_packets": [30, 10, 40],
        "delay_mean_ms": [1000.0, 5000.0, 500.0],
        "duration_s": [20.0, 40.0, None],
    }
    found = users.telnet({"sessions": sessions})
    assert found["F1,F2,F4"] == pytest.approx(2.0)
    assert found["F3,F5"] == pytest.approx(0.5)
    assert found["overall"] == pytest.approx((30 + 50 + 20) / 80)
    assert found["per session"] == pytest.approx(30.0)


@pytest.mark.parametrize(("still", "mean"), [(0, 98 / 2), (1, 98 / 2), (3, 97 / 2)])
def test_the_slowest_of_all_objects_are_left_out(still: int, mean: float) -> None:
    """Of 0, 1 .. n - 1 s; those in progress count as slowest."""
    ended = [1000.0 * i for i in range(100 - still)]
    transfers = {"traffic": ["web1"] * len(ended), "first_byte_ms": ended, "last_byte_ms": ended}
    found = users.web({"transfers": transfers, "traffic": {"transfers_open": [still]}})
    assert found["all packets"] == pytest.approx(mean - (0.5 if still == 3 else 0.0))
    assert found["objects"] == 100
    assert found["open"] == still / 100


RATES = {
    "standard": (5.6, 3.6),
    "standard-sw": (6.4, 3.45),
    "basic": (2.3, 7.52),
    "rtt-rto": (5.0, 4.95),
    "rtt-sw": (5.2, 4.6),
}
"""F1 and F2 as the paper has or tells them, Mb/s."""
DOMAINS = {
    "standard": (1.2, 1.2, 9.0, 1.3),
    "basic": (3.0, 3.0, 1.0, 2.0),
    "rtt-rto": (2.2, 2.2, 2.4, 2.1),
    "rtt-sw": (1.0, 1.0, 4.0, 1.5),
}
PRINTED = {(cell.study, tables.ROWS[cell.row], cell.column): cell.published for cell in CRITERIA.cells}


def expected(chosen: RunSet) -> dict[str, float]:
    """A run as the paper has it."""
    at = chosen.at
    if chosen.name.startswith("rtt-table"):
        return users_of(chosen)
    if chosen.name in ("rtt-fig6", "rtt-67x"):
        return {f"F{i}": x for i, x in enumerate((*DOMAINS[at["marker"]], 1.0), 1)}
    if chosen.name == "rtt-lived":
        return {"total": 9.5 + 0.2 * (at["marker"] == "standard-sw"), tables.ALL: 5.0 - (at["marker"] == "standard-sw")}
    f1, f2 = RATES[at["marker"]] if at.get("n", 200) == 200 else pair_of_few(at)
    if chosen.name == "rtt-under":
        f1, f2 = 6.0, 3.8
    longer = at.get("rtt", 100) / 1000
    found = {"F1": f1 + longer, "F2": f2 - longer, "total": f1 + f2, "drop ratio": 0.4 - longer}
    for flow, q in (("F1", 0.3), ("F2", 0.1)):
        found |= {f"{flow}.q": q, f"{flow}.out": q + 0.01, f"{flow}.above": 0.9, f"{flow}.DP0": 0.5, f"{flow}.DP2": 0.1}
        many = (9.0 if at["marker"] == "basic" else 3.0) + (flow == "F1")
        found |= {f"{flow}.timeouts": many if at.get("n", 200) == 200 else 0.5 * many}
        found |= {f"{flow}.cwnd": 1.5 if at["marker"] == "basic" else 3.0}
    return found


def pair_of_few(at: dict[str, Any]) -> tuple[float, float]:
    return {"standard": (6.0, 3.9), "standard-sw": (6.0, 3.9), "basic": (4.5, 5.4)}.get(at["marker"], (5.2, 4.7))


def users_of(chosen: RunSet) -> dict[str, float]:
    marker = chosen.at["marker"]
    if chosen.name == "rtt-table1":
        return {
            c: PRINTED["rtt-table1", marker, c] for c in (tables.LONG, tables.SHORT, tables.OVERALL, tables.SESSION)
        }
    if chosen.name == "rtt-table2-fast":
        return {tables.FIRST: 0.15, tables.ALL: 0.21}
    found = {c: PRINTED["rtt-table2", marker, c] for c in (tables.FIRST, tables.ALL)}
    return {**found, tables.FIRST: 0.6} if (chosen.at["sessions"], marker) == (100, "rtt-rto") else found


CONTRADICTED = ("rto-long-flows", "rto-short-flows")
"""Sentences of section VI-D that Table I contradicts."""


def as_told(chosen: RunSet) -> dict[str, float]:
    """A run as these sentences have it."""
    found = expected(chosen)
    mine = chosen.name == "rtt-table1" and chosen.at["marker"] == "rtt-rto"
    return {**found, tables.LONG: 5.0, tables.SHORT: 2.5} if mine else found


def turned(chosen: RunSet) -> dict[str, float]:
    """Far from it: conditioners change places, and more."""
    other = {
        "standard": "rtt-sw",
        "basic": "rtt-rto",
        "rtt-rto": "basic",
        "rtt-sw": "standard",
        "standard-sw": "standard",
    }
    marker = chosen.at["marker"]
    if chosen.name == "rtt-table2-fast":
        return {tables.FIRST: 0.1 + len(marker), tables.ALL: 0.2 + len(marker)}
    if chosen.name == "rtt-lived":
        other |= {"standard": "standard-sw"}
    if chosen.name == "rtt-fig6":
        other |= {"rtt-sw": "basic"}
    at = {**chosen.at, "marker": other[marker]}
    found = dict(expected(RunSet(chosen.name, chosen.scenario, at, chosen.method)))
    if "F1.q" in found:
        longer = at.get("rtt", 100) / 1000
        found |= {
            "F1.out": 0.9,
            "F2.out": 0.9,
            "drop ratio": 0.2 + longer,
            "total": 9.0 if marker == "standard-sw" else 9.9,
        }
        if marker == "standard-sw":
            found |= {"F1": found["F2"], "F2": found["F1"] + 3 * longer}
        if marker == "rtt-sw":
            found |= {"F1.timeouts": 30.0, "F1.cwnd": 1.0}
        if marker == "basic":
            found["F1.timeouts"] = 1.0
        if at.get("n") == 10:
            found |= {"F1.timeouts": 50.0, "F2.timeouts": 50.0}
    if chosen.name == "rtt-under":
        found["F1"] *= 1.2 if marker == "basic" else 1.0
    return found


def samples(make: Any) -> list[Sample]:
    def noisy(values: dict[str, float], seed: int) -> dict[str, float]:
        return {key: x * (1 + 1e-4 * ((7 * seed + i) % 5 - 2)) for i, (key, x) in enumerate(values.items())}

    return [Sample(s.name, s.at, seed, noisy(make(s), seed)) for s in SETS for seed in range(SEEDS)]


@cache
def world(make: Any) -> dict[str, Any]:
    return by_set(samples(make))


def judged(criterion: Criterion, make: Any) -> Finding:
    study = PAPER.study(criterion.study)
    return study.judge(criterion, samples_of(study, world(make)))


JUDGED = [pytest.param(c, id=f"{c.study}-{c.claim}") for c in CRITERIA.claims if c.kind != "report"]


@pytest.mark.parametrize("criterion", JUDGED)
def test_a_run_as_published_reproduces(criterion: Criterion) -> None:
    found = judged(criterion, as_told if criterion.rule in CONTRADICTED else expected)
    assert found.verdict == "reproduced", found


@pytest.mark.parametrize("criterion", JUDGED)
def test_another_run_does_not(criterion: Criterion) -> None:
    found = judged(criterion, expected if criterion.rule in CONTRADICTED else turned)
    assert found.verdict == "not reproduced", found
