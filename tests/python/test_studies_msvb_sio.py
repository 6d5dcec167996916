"""MSVB and SIO: claims on made-up runs, what is laid over the files, and what is read off the core's tables."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

import perhop
from perhop.hands import Work, span
from perhop_studies import runs as simulation
from perhop_studies.criteria import Criterion
from perhop_studies.msvb_sio import figures, lemma
from perhop_studies.msvb_sio.method import STEPS, derived, measured
from perhop_studies.msvb_sio.terms import CIRS, CLASSES, FLOWS, LINK, WEIGHTS
from perhop_studies.papers import paper
from perhop_studies.runs import Budget, RunSet
from perhop_studies.samples import Sample
from perhop_studies.verdict import Finding
from planted import by_set, samples_of

SEEDS = 10
PAPER = paper("msvb-sio")
CRITERIA = PAPER.criteria()
STUDIES = ("msvb-fig2", "sio-table1", "msvb-fig3", "msvb-fig4", "svb-lemma31")
SETS = [s for s in PAPER.runs() if s.name in STUDIES]
PRINTED = {(c.column, c.row): c.published for c in CRITERIA.cells}
NOT_RUN = ("svb-lemma31/table", "svb-lemma31/fluid")
"""Claims on the core's formula: no run can turn them round."""

SLOPE = {"red": 0.14}
"""Of the queue by flows, packets a flow: RED's follows the load, the others' do not."""
TILT = {"red": 1.2, "svb": 1.2, "rio": 0.3, "fred": 0.4, "sio": 0.2, "msvb": 0.0}
"""How unequal classes are: from the first to the last, by their mean."""


def shares(of: RunSet) -> list[float]:
    """Parts of the link by class."""
    scheme, tilt = of.at["scheme"], TILT.get(of.at["scheme"], 0.0)
    if of.name == "msvb-fig4" and scheme in ("red", "svb"):
        return [0.01] * 5 + [0.95 * i / 15 for i in range(1, 6)]
    if of.name == "msvb-fig4":
        return [0.1 - 0.1 * tilt / 4] * 5 + [0.1 + 0.1 * tilt / 4] * 5
    return [0.1 * (1 + tilt * (4.5 - i) / 9) for i in range(10)]


def load(of: RunSet) -> dict[str, float]:
    """Fig. 2."""
    scheme = of.at["scheme"]
    slope = SLOPE.get(scheme, 0.0)
    found = {"drops": 0.18 if scheme == "red" else 0.0005, "utilisation": 0.997, "below": 0.99}
    for k, flows in enumerate(FLOWS, 1):
        found |= {f"queue@{k}": 40.0 + slope * flows + 0.01 * (k % 2), f"deviation@{k}": 10.0}
    return found


def cells(of: RunSet) -> dict[str, float]:
    """Table 1 as printed; RIO's OUT at the smaller profiles is that of 25 Mbit/s."""
    scheme = "RIO" if of.at["scheme"] == "rio" else "SIO"
    column = f"{scheme} {CIRS[of.at['cir']]}"
    return {
        "in.rate": PRINTED[column, "In-Tp"] / 100 * LINK,
        "in.drops": PRINTED[column, "In-Dp"] / 100,
        "out.drops": PRINTED[column, "Out-Dp"] / 100,
        "queue": PRINTED[column, "Avg queue"],
    }


def expected(of: RunSet) -> dict[str, float]:
    if of.name == "msvb-fig2":
        return load(of)
    if of.name == "sio-table1":
        return cells(of)
    if of.name == "svb-lemma31":
        return {"deviation": 26.8 if of.at["v0"] < 300 else 9.6, "utilisation": 1.0}
    return {f"{name}.throughput": LINK * part for name, part in zip(CLASSES, shares(of), strict=True)}


@cache
def as_published() -> list[Sample]:
    def noisy(values: Mapping[str, float], seed: int) -> dict[str, float]:
        found = {key: x * (1 + 1e-4 * ((7 * seed + i) % 5 - 2)) for i, (key, x) in enumerate(values.items())}
        return {**found, **derived(found)}

    return [Sample(of.name, of.at, seed, noisy(expected(of), seed)) for of in SETS for seed in range(SEEDS)]


def turned(sample: Sample) -> Sample:
    """Schemes change places, and every share, loss and queue is far from what is printed."""
    other = {"red": "msvb", "svb": "msvb", "msvb": "red", "rio": "sio", "sio": "red", "fred": "svb"}
    values = dict(sample.values)
    if sample.runs in ("msvb-fig3", "msvb-fig4"):
        at = {**sample.at, "scheme": other[sample.at["scheme"]]}
        values = next(s.values for s in as_published() if (s.runs, s.at) == (sample.runs, at))
    elif sample.runs == "msvb-fig2":
        [of] = [s for s in SETS if s.name == "msvb-fig2" and s.at["scheme"] == other[sample.at["scheme"]]]
        values = {**load(of), **{f"deviation@{k}": 30.0 for k in range(1, STEPS + 1)}, "below": 0.5}
    elif sample.runs == "sio-table1":
        rio = sample.at["scheme"] == "rio"
        values = {"in.rate": 0.0, "in.drops": 0.3 if rio else 0.4, "out.drops": 0.1, "queue": 60.0 if rio else 90.0}
    else:
        values = {"deviation": 20.0, "utilisation": 0.9}
    return Sample(sample.runs, sample.at, sample.replication, {**values, **derived(values)})


def judged(criterion: Criterion, samples: list[Sample]) -> Finding:
    study = PAPER.study(criterion.study)
    return study.judge(criterion, samples_of(study, by_set(samples)))


MINE = [c for c in CRITERIA.claims if c.study in STUDIES]
JUDGED = [pytest.param(c, id=f"{c.study}-{c.claim}") for c in MINE if c.kind != "report"]
TURNED = [
    pytest.param(c, id=f"{c.study}-{c.claim}")
    for c in MINE
    if c.kind != "report" and f"{c.study}/{c.claim}" not in NOT_RUN
]


@pytest.mark.parametrize("criterion", JUDGED)
def test_a_world_as_published_is_reproduced(criterion: Criterion) -> None:
    found = judged(criterion, as_published())
    assert found.verdict == "reproduced", [str(part) for part in found.parts if not part.holds]


@pytest.mark.parametrize("criterion", TURNED)
def test_a_world_turned_round_is_not(criterion: Criterion) -> None:
    assert judged(criterion, [turned(s) for s in as_published()]).verdict == "not reproduced"


def test_every_report_gives_rows_and_no_verdict() -> None:
    reports = [c for c in MINE if c.kind == "report"]
    assert len(reports) == 3
    for criterion in reports:
        found = judged(criterion, as_published())
        assert found.table
        assert (found.verdict, found.replications) == ("reported", SEEDS)


def test_every_printed_cell_has_its_own_number() -> None:
    table = samples_of(PAPER.study("sio-table1"), by_set(as_published()))
    assert len(CRITERIA.cells) == 32
    for cell in CRITERIA.cells:
        assert PAPER.cell(table, cell).mean == pytest.approx(cell.published, rel=5e-4), cell.criterion.claim


@pytest.mark.parametrize(("flows", "rtt"), [(50, 0.12), (100, 0.2)])
def test_a_wrong_check_value_is_seen(flows: int, rtt: float) -> None:
    found = lemma.critical(flows, rtt)
    unit = 10.0 ** (math.floor(math.log10(found)) - 2)
    assert lemma._printed(flows, rtt, round(found / unit) * unit).holds
    assert not lemma._printed(flows, rtt, (round(found / unit) + 1) * unit).holds
    assert math.isnan(lemma.critical(123, 0.12))


def test_jain_is_of_what_each_has_by_its_part() -> None:
    """Nine classes with their parts and one with twice its own: 11^2 / (10 x 13)."""
    rates = {f"{name}.throughput": weight for name, weight in WEIGHTS.items()}
    assert derived(rates)["jain.weighted"] == pytest.approx(1.0)
    found = derived({**rates, "class4.throughput": 8.0})
    assert found["jain.weighted"] == pytest.approx(121 / 130)
    assert found["jain"] == pytest.approx(29**2 / (10 * 121))
    assert found["tcp"] == 15.0


def of(name: str, **at: Any) -> RunSet:
    return next(s for s in SETS if s.name == name and at.items() <= s.at.items())


def test_a_queues_setting_goes_where_the_queue_is_its_own() -> None:
    settings = {"@svb.v0?": "9p", "@msvb.classes.alpha?": 2.0, "tcp.host.window": 9}
    sets = [of("msvb-fig4", scheme=s) for s in ("svb", "msvb", "red")]
    jobs = simulation.prepare(sets, Budget(seeds=1), settings)
    svb, msvb, red = (tomllib.loads(job.points[0].effective) for job in jobs)
    assert all(laid["tcp"]["host"]["window"] == 9 for laid in (svb, msvb, red))
    assert svb["queue"]["bottleneck"]["v0"] == "9p"
    assert msvb["queue"]["bottleneck"]["v0"] != "9p"
    assert [one["alpha"] for one in msvb["queue"]["bottleneck"]["classes"]] == [2.0] * 10
    plain = simulation.prepare([sets[2]], Budget(seeds=1), {"tcp.host.window": 9})
    assert jobs[2].points == plain[0].points


def test_the_small_queues_of_wrr_stay_as_they_are() -> None:
    [chosen] = [s for s in PAPER.runs() if s.name == "msvb-fig5" and s.at["scheme"] == "wrr"]
    red = PAPER.readings()["red"]
    for value in red.values:
        [job] = simulation.prepare([chosen], Budget(seeds=1), red.settings(value, "msvb-fig5"))
        assert job.points == simulation.prepare([chosen], Budget(seeds=1))[0].points


def test_quantities_are_the_tables_columns() -> None:
    """Against the core's own tables: nothing is read from the wrong row."""
    [job] = simulation.prepare([of("sio-table1", scheme="P1", cir=1000, rates=15)], Budget(seeds=1))
    tables = Work(job.scenario).asking(replications=span(range(1))).run(None)[0]["tables"]
    found = measured(tables)
    flows = zip(tables["flows"]["class"], tables["flows"]["throughput_bit_s"], strict=True)
    assert found["class2.throughput"] == pytest.approx(sum(x for name, x in flows if name == "class2"))
    rows = {"green": [0, 0, 0.0], "red": [0, 0, 0.0]}
    columns = ("hop", "colour", "arrived_packets", "dropped_packets", "delivered_bytes")
    for hop, colour, *counts in zip(*(tables["summary"][c] for c in columns), strict=True):
        if hop == "CORE -> Edge2":
            rows[colour] = [a + b for a, b in zip(rows[colour], counts, strict=True)]
    assert found["in.drops"] == rows["green"][1] / rows["green"][0]
    assert found["out.drops"] == rows["red"][1] / rows["red"][0]
    assert found["in.rate"] == pytest.approx(8 * rows["green"][2] / 90, rel=1e-6)
    series = tables["series"]
    assert set(series["hop"]) == {"CORE -> Edge2"}
    late = (series["quantity"] == "queue_packets") & (series["t_s"] >= 10)
    assert found["queue"] == pytest.approx(series["value"][late].mean())
    assert found["deviation"] == pytest.approx(series["value"][late].std())


def test_steps_are_those_of_the_load() -> None:
    stated = tomllib.loads((PAPER.directory / "msvb-fig2.toml").read_text())["traffic"]
    spans = [
        (float(t.get("start", "0s")[:-1]), float(t.get("stop", "600s")[:-1]), 10 * t["flows"]) for t in stated.values()
    ]
    found = tuple(sum(n for start, stop, n in spans if start <= 50 * k < stop) for k in range(STEPS))
    assert found == FLOWS


def test_offered_rates_are_those_of_the_runs() -> None:
    """i - 5, 2(i - 5) - 1 and 2(i - 5) Mbit/s of class i, by their sum."""
    for rates, sent in {15: (1, 2, 3, 4, 5), 25: (1, 3, 5, 7, 9), 30: (2, 4, 6, 8, 10)}.items():
        [job] = simulation.prepare([of("msvb-fig4", scheme="red", rates=rates)], Budget(seeds=1))
        stated = tomllib.loads(job.scenario.effective())["traffic"]
        assert [stated[f"udp{i}"]["rate"] for i in range(6, 11)] == [f"{x}Mbit/s" for x in sent]


def test_every_study_of_a_figure_is_drawn() -> None:
    assert {study.id for study in PAPER.studies} - {"sio-out"} == set(figures.PICTURES)


def test_a_picture_is_drawn_of_made_up_runs() -> None:
    samples = samples_of(PAPER.study("sio-table1"), by_set(as_published()))
    [found] = PAPER.pictures("sio-table1", samples, CRITERIA.table("sio-table1"))
    assert found.name == "sio-table1"
    assert found.svg.startswith("<svg")


FIGURES = ("fig2", "fig3", "fig4", "fig5")


def tuned(aqm: str, figure: str) -> perhop.tuning.Tuned:
    queue = {"queue.bottleneck": {"aqm": "svb", "limit": "100p"}} if aqm == "svb" else {}
    return perhop.tune(aqm, PAPER.directory / f"msvb-{figure}.toml", queue="bottleneck", overrides=queue)


def class_by_class(figure: str) -> tuple[float, list[float]]:
    """V0 and alphas by each class's loop alone: 1.2 times the largest critical threshold, half of the largest alpha."""
    loops = [one for one in tuned("msvb", figure).loops if one["name"] != "all together"]
    v0 = math.ceil(1.2 * max(one["critical_threshold_packets"] for one in loops))
    largest = [(v0 / one["critical_threshold_packets"] - 1) * (1 - one["equilibrium_p"][0]) for one in loops]
    part = 0.5 * min(one["share"] * alpha for one, alpha in zip(loops, largest, strict=True))
    return v0, [part / one["share"] for one in loops]


def two_digits(alpha: float) -> float:
    scale = 10.0 ** (1 - math.floor(math.log10(alpha)))
    return math.floor(alpha * scale) / scale


def laid(answer: str, figure: str) -> tuple[str, str, list[float]]:
    """V0, floor and alphas of MSVB as an answer lays them."""
    keys = PAPER.readings()["lemma"].values[answer][f"msvb-{figure}"]
    classes = keys.get("@msvb.classes?")
    alphas = [one["alpha"] for one in classes] if classes else [keys["@msvb.classes.alpha?"]]
    return keys["@msvb.v0?"], keys["@msvb.floor?"], alphas


@pytest.mark.parametrize("figure", FIGURES)
def test_what_the_lemma_chooses_is_what_tune_computes(figure: str) -> None:
    found = tuned("msvb", figure).recommended
    v0, floor, alphas = laid("and all together", figure)
    assert (v0, floor) == (f"{found['v0_packets']:g}p", f"{found['floor_packets']:g}p")
    assert set(alphas) == set(found["alpha"])


@pytest.mark.parametrize("figure", FIGURES)
def test_and_class_by_class_what_each_loop_asks_for(figure: str) -> None:
    wanted, parts = class_by_class(figure)
    v0, floor, alphas = laid("class by class", figure)
    assert (v0, floor) == (f"{wanted:g}p", f"{wanted - 40 if wanted > 100 else 0:g}p")
    assert set(alphas) == {two_digits(one) for one in parts}


@pytest.mark.parametrize("figure", FIGURES[:3])
def test_svb_has_one_loop_and_the_same_in_both(figure: str) -> None:
    found = tuned("svb", figure).recommended
    for answer in ("class by class", "and all together"):
        keys = PAPER.readings()["lemma"].values[answer][f"msvb-{figure}"]
        assert keys["@svb.alpha?"] == found["alpha"][0]
        assert (keys["@svb.v0?"], keys["@svb.floor?"]) == (f"{found['v0_packets']:g}p", f"{found['floor_packets']:g}p")
