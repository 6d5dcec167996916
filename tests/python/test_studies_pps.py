"""PPS: claims on made-up runs, and what is read off the core's tables."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from perhop import _core
from perhop.hands import Work, span
from perhop_studies import measures
from perhop_studies import runs as simulation
from perhop_studies.criteria import Criterion
from perhop_studies.papers import paper
from perhop_studies.pps import beside, beyond, domains, rtt, shares, worked
from perhop_studies.pps.method import METHOD, answer, measured
from perhop_studies.runs import Budget, RunSet
from perhop_studies.samples import Sample, Samples
from perhop_studies.verdict import Finding
from planted import by_set, samples_of

SEEDS = 10
PAPER = paper("pps")
CRITERIA = PAPER.criteria()
SETS = [s for s in PAPER.runs() if not s.name.startswith("beyond")]
OURS = {study.id for study in beyond.STUDIES}
CELLS = {(c.study, c.at["size"], c.column, c.row): c.published for c in CRITERIA.cells}
LINKS = ("S5 - S6", "P - Q", "P3 - P4")

Rates = Mapping[str, float]
LOCAL = (worked.FIG9[0], {"A": 0.409, "B": 0.341, "C": 0.25})
WEIGHTED = (worked.FIG9[0], {"A": 0.375, "B": 0.3125, "C": 0.3125})
"""A's share alone changes: with PPS and with CSFQ."""


def expected(of: RunSet) -> Rates:
    """What the paper measured or expects, Mbit/s."""
    name, at = of.name, of.at
    setup = at.get("setup", name)
    if setup in shares.SETUPS:
        return shares.SETUPS[setup]
    by_name: dict[str, Any] = {
        "pps-ex1": lambda: worked.EX1[at["case"]],
        "pps-ex1-limited": lambda: worked.EX1["limited"],
        "pps-fig7": lambda: {**shares.FIG7, **dict.fromkeys(shares.LIMITED, 0.03)},
        "pps-bits-sender": lambda: shares.CHAIN,
        "pps-bits-receiver": lambda: shares.CHAIN,
        "pps-tab1": lambda: domains.EXPECTED[name],
        "pps-tab2": lambda: domains.EXPECTED[name],
        "pps-tab3": lambda: round_trips(at),
        "pps-fig11": lambda: {**rtt.FIG11, rtt.FAR[at["case"]]: {"X": 0.018, "Y": 0.15}[at["case"]]},
        "pps-tab4": lambda: beside.PROPORTIONAL,
        "pps-tab4-diffserv": lambda: beside.PUBLISHED.get(at["profile"], beside.PROPORTIONAL),
        "pps-fig12": lambda: shares.FIG4,
        "pps-fig8": lambda: worked.FIG8[1],
        "pps-fig9": lambda: worked.FIG9[1],
        "pps-flows": lambda: shares.LEVELS,
        "pps-rich": lambda: {**shares.FIG7, **dict.fromkeys(shares.LIMITED, 0.03)},
        "pps-local": lambda: worked.FIG9[0],
        "pps-local-csfq": lambda: worked.FIG9[0],
    }
    found: Rates = by_name[name]()
    return found


def round_trips(at: Mapping[str, Any]) -> Rates:
    column = f"{at['case']} {'Reno' if at['scheme'] == 'reno' else at['scheme']}"
    return {f"f{i}": CELLS["pps-tab3", at["size"], column, f"flow {i}"] for i in range(1, 11)}


def bent(of: RunSet, rates: Rates) -> Rates:
    """As far from proportion as the set's own claim requires: few bits, small exponents, CSFQ with TCP."""
    at = of.at
    width = {4: 0.3, 6: 0.1}.get(at.get("bits", 0), 0.0)
    amount = max(width, 0.4 if at.get("n") == 1 else 0.0, 0.4 if at.get("transport") == "tcp" else 0.0)
    return {flow: rate * (1 + amount * (-1) ** i) for i, (flow, rate) in enumerate(rates.items())}


def values(of: RunSet, seed: int, rates: Rates) -> dict[str, float]:
    noise = 1 + 0.001 * ((seed * 7) % 5 - 2)
    found: dict[str, float] = {}
    for i, (flow, rate) in enumerate(rates.items()):
        wobble = noise * (1 + 0.001 * ((seed + i) % 3 - 1))
        found |= {f"{flow}.throughput": 1e6 * rate * wobble, f"{flow}.late": 1e6 * rate * wobble}
        found[f"{flow}.squares"] = (1e6 * rate * wobble) ** 2
    skewed = {8: 2.0, 32: 4.0}.get(of.at.get("k", 2), 1.0)
    for link in LINKS:
        steep = of.at.get("n") == 6
        found |= {
            f"{link}.utilisation": 0.99,
            f"{link}.drops": 0.03 + 0.01 * steep,
            f"{link}.queue_deviation": 5.0 + steep,
        }
        found |= {f"{link}.expectation": skewed * noise, f"{link}.queue": 5 + 20 * noise / skewed**3}
    cut = 0.0 if of.at.get("chain") == "exchange-real" else 100.0
    harsh = 1.0 if of.at.get("transport") == "tcp" else 0.1
    lost = {"segments": 1000.0, "retransmitted": 100.0 * harsh * noise, "timeouts": 10.0 * harsh * noise}
    if of.at.get("case") == "b":
        near = 0.04 if of.at["scheme"] == "reno" else 0.06
        lost |= {f"{flow}.lost": near * noise for flow in rtt.NEAR_HALF}
        lost |= dict.fromkeys((f"{flow}.lost" for flow in rtt.FAR_HALF), 0.03)
    issued = {f"{node}{i}.source_tickets": 1000.0 * i * noise for node in "SD" for i in range(1, len(shares.FIG4) + 1)}
    return found | {"saturated": cut, "tagged": 1000.0} | lost | issued | seconds(of, noise)


def seconds(of: RunSet, noise: float) -> dict[str, float]:
    changes = {"pps-fig8": worked.FIG8, "pps-fig9": worked.FIG9, "pps-local": LOCAL, "pps-local-csfq": WEIGHTED}
    if of.name not in changes:
        return {}
    before, after = changes[of.name]
    levels = {t: before if t <= worked.CHANGE + 4 else after for t in range(1, worked.END + 1)}
    return {f"{flow}@{t}": 1e6 * noise * rates.get(flow, 0.0) for t, rates in levels.items() for flow in after}


@cache
def as_published() -> list[Sample]:
    made = []
    for of in SETS:
        for seed in range(SEEDS):
            rates = {"B": 0.0, **expected(of)} if of.at.get("case") == "silent" else bent(of, expected(of))
            made.append(Sample(of.name, of.at, seed, values(of, seed, rates)))
    return made


def turned(sample: Sample) -> Sample:
    """All flows equal, links idle, nothing changes at 100 s, more bits worse, tags cut where they cannot be."""
    rates = {key: value for key, value in sample.values.items() if key.endswith((".throughput", ".late"))}
    width = sample.at.get("bits", 8)
    spread = {4: 1.0, 6: 1.1, 8: 1.2, 10: 1.4, 13: 1.6, 17: 1.8, "real": 2.0}[width]
    alike = {key: 1e5 * (spread if i % 4 < 2 else 1.0) for i, key in enumerate(rates)}
    small = {key: 1e5 * (1.0 if i % 4 < 2 else 3.0) for i, key in enumerate(rates)}
    unequal = (sample.at.get("case") == "b" and sample.at["scheme"] != "reno") or "profile" in sample.at
    opposite = sample.at.get("scheme") == "receiver"
    swapped = {
        **sample.values,
        **(small if unequal or opposite else alike),
        **{key: 0.9 for key in sample.values if key.endswith(".utilisation")},
        **{key: 2e5 for key in sample.values if "@" in key},
        **{f"C@{t}": 3e5 for t in range(1, 101) if sample.runs == "pps-local"},
        **{key: 1e13 for key in sample.values if key.endswith(".squares") and "real" in sample.at.values()},
        **{f"{link}.expectation": 0.25 for link in LINKS},
        **{f"{link}.queue": 25.0 + 100 * (sample.runs == "pps-rich") for link in LINKS},
        **{f"{link}.drops": 0.5 for link in LINKS},
        **{f"{link}.queue_deviation": 5.0 for link in LINKS},
        **{key: 0.1 - value for key, value in sample.values.items() if key.endswith(".lost")},
        **{key: value**2 for key, value in sample.values.items() if key.endswith(".source_tickets")},
        **{key: 110.0 - sample.values[key] for key in ("retransmitted", "timeouts")},
        "saturated": 100.0 - sample.values["saturated"],
    }
    return Sample(sample.runs, sample.at, sample.replication, swapped)


def judged(criterion: Criterion, samples: list[Sample]) -> Finding:
    study = PAPER.study(criterion.study)
    return study.judge(criterion, samples_of(study, by_set(samples)))


JUDGED = [pytest.param(c, id=f"{c.study}-{c.claim}") for c in CRITERIA.claims if c.kind != "report"]


@pytest.mark.parametrize("criterion", JUDGED)
def test_a_world_as_published_is_reproduced(criterion: Criterion) -> None:
    found = judged(criterion, as_published())
    assert found.verdict == "reproduced", [str(part) for part in found.parts if not part.holds]


@pytest.mark.parametrize("criterion", JUDGED)
def test_a_world_turned_round_is_not(criterion: Criterion) -> None:
    assert judged(criterion, [turned(s) for s in as_published()]).verdict == "not reproduced"


def test_every_report_gives_rows_and_no_verdict() -> None:
    for criterion in CRITERIA.claims:
        if criterion.kind == "report" and criterion.study not in OURS:
            found = judged(criterion, as_published())
            assert found.table
            assert found.verdict == "reported"
            assert found.replications == SEEDS


def test_every_printed_cell_is_measured_where_it_says() -> None:
    """In a world whose cells are the printed ones each record gives its own number."""
    published = by_set(as_published())
    for cell in CRITERIA.cells:
        if cell.study in ("pps-tab3", "pps-tab4") and (cell.row.startswith("flow") or cell.study == "pps-tab4"):
            found = PAPER.cell(samples_of(PAPER.study(cell.study), published), cell)
            assert found.mean == pytest.approx(cell.published, rel=0.005), cell.criterion.claim


def test_convergence_is_the_first_time_that_holds() -> None:
    """Ten bins are averaged: 8 of 10 at the new level are within 20 %, and a dip of 3 s later is too deep."""
    steady = [0.0] * 100 + [0.5] * 100
    assert worked.settles(steady, 0.5) == 8
    assert worked.settles([0.0] * 105 + [0.5] * 95, 0.5) == 13
    dipped = [0.0 if 110 <= t < 113 else 0.5 for t in range(200)]
    assert worked.settles(dipped, 0.5) == 21
    assert worked.settles([0.2] * 200, 0.5) == math.inf
    assert worked.settles([0.0] * 175 + [0.5] * 25, 0.5) == math.inf


def of(name: str, **at: Any) -> RunSet:
    return next(s for s in SETS if s.name == name and at.items() <= s.at.items())


def in_force(of: RunSet, settings: dict[str, Any]) -> dict[str, Any]:
    """Every value at the only point of a run set, a reading laid over it."""
    [job] = simulation.prepare([of], Budget(seeds=1), settings)
    [place] = job.points
    return tomllib.loads(place.effective)


def test_an_algorithms_setting_goes_to_each_section_that_has_it() -> None:
    laid = {"@*.bits?": 4, "@tred.n?": 1.0, "@red.wq?": 0.1, "tcp.host.window": 9}
    chosen = of("pps-fig6", scheme="receiver")
    before, after = in_force(chosen, {}), in_force(chosen, laid)
    assert {name: one["bits"] for name, one in after["conditioner"].items()} == {"link": 4, "sink": 4, "source": 4}
    assert after["queue"]["link"] == before["queue"]["link"] | {"n": 1.0}
    assert after["tcp"]["host"] == before["tcp"]["host"] | {"window": 9}
    assert {key: before[key] for key in ("links", "traffic")} == {key: after[key] for key in ("links", "traffic")}


def test_a_key_of_the_file_goes_before_an_algorithms() -> None:
    found = in_force(of("pps-fig6", scheme="receiver"), {"conditioner.sink.bits": 8, "@*.bits?": 4})
    assert {name: one["bits"] for name, one in found["conditioner"].items()} == {"link": 4, "sink": 8, "source": 4}


def test_quantities_are_the_tables_columns() -> None:
    """Against the core's own tables: nothing is read from the wrong row."""
    [job] = simulation.prepare([of("pps-ex1", scheme="receiver", case="all", size=500)], Budget(seeds=1))
    tables = Work(job.scenario).asking(replications=span(range(1))).run(None)[0]["tables"]
    found = measured(tables)
    flows = dict(zip(tables["flows"]["traffic"], tables["flows"]["throughput_bit_s"], strict=True))
    assert [found[f"{flow}.throughput"] for flow in "ABC"] == [flows[flow] for flow in "ABC"]
    late = dict.fromkeys((20.0, 200.0), 0)
    for t, flow, size in zip(*(tables["flow_series"][c] for c in ("t_s", "traffic", "delivered_bytes")), strict=True):
        if flow == "B" and t in late:
            late[t] = int(size)
    assert found["B.late"] == pytest.approx(8 * (late[200.0] - late[20.0]) / 180)
    hops = list(tables["links"]["hop"])
    assert found["S5 - S6.utilisation"] == tables["links"]["utilisation"][hops.index("S6 -> S5")]
    assert 5 < found["S5 - S6.queue"] < 55
    assert 0.5 < found["S5 - S6.expectation"] < 2
    assert found["tagged"] > sum(tables["flows"]["sent_packets"])
    assert found["saturated"] == sum(
        v
        for q, v in zip(tables["tallies"]["quantity"], tables["tallies"]["value"], strict=True)
        if q == "saturated_tags"
    )


def test_a_scenario_sampled_each_second_gives_its_seconds() -> None:
    [job] = simulation.prepare([of("pps-fig8", scheme="sender", size=1000)], Budget(seeds=1))
    tables = Work(job.scenario).asking(replications=span(range(1))).run(None)[0]["tables"]
    found = measured(tables)
    total = sum(found[f"C@{t}"] for t in range(1, 201))
    assert total / 200 == pytest.approx(found["C.throughput"], rel=1e-3)
    assert all(found[f"A@{t}"] == 0 for t in range(1, 101))


def contracts(path: str) -> list[tuple[str, str]]:
    """Links without their direction, and the tickets issued to them."""
    stated = tomllib.loads((PAPER.directory / path).read_text())
    return sorted(
        (" - ".join(sorted(port.split(" -> "))), given["tickets"])
        for section in stated["conditioner"].values()
        if isinstance(section["at"], dict)
        for port, given in section["at"].items()
    )


MIRRORED = ["ex1", "fig4", "fig6", "fig7", "fig8", "fig9", "tab1", "tab2", "tab3", "fig11", "tab4"]


@pytest.mark.parametrize("name", MIRRORED)
def test_the_receiver_based_files_are_mirror_images(name: str) -> None:
    sender, receiver = (f"pps-{name}-{scheme}.toml" for scheme in ("sender", "receiver"))
    to_a_host = [("S5 - S6", "1200t/s")] if name in ("ex1", "fig8", "fig9") else []
    assert contracts(sender) == sorted(contracts(receiver) + to_a_host)
    one, other = (tomllib.loads((PAPER.directory / path).read_text()) for path in (sender, receiver))
    assert one["queue"] == other["queue"]
    assert one["tcp"] == other["tcp"]
    ways = [{(t["from"], t["to"]) for t in found["traffic"].values()} for found in (one, other)]
    assert ways[0] == {(to, source) for source, to in ways[1]}
    both = [{k: v for k, v in found["links"].items() if "->" not in k} for found in (one, other)]
    assert both[0] == both[1]


def test_labels_need_no_words_of_this_paper() -> None:
    assert METHOD.labels({"queue.link.n": "3"}) == {"queue.link.n": "3"}


def test_the_largest_code_is_what_the_paper_says() -> None:
    """8 bits, [0, 255]: a packet before the first ACK carries 255 tickets."""
    text = (PAPER.directory / "pps-fig4-sender.toml").read_text()
    scenario = _core.Scenario(text, "pps-fig4-sender.toml", ["scenario.duration=20s", "conditioner.source.bits=4"], [])
    tables = Work(scenario).asking(replications=span(range(1))).run(None)[0]["tables"]
    rows = zip(tables["tallies"]["quantity"], tables["tallies"]["value"], strict=True)
    assert sum(value for quantity, value in rows if quantity == "saturated_tags") > 100


def test_a_first_tag_is_laid_only_over_tags_that_can_hold_it() -> None:
    """Reading b16: 255 tickets at first, with tags of 4 and 6 bits the most that they hold."""
    first = "@pps-tagger.first-tag?"
    widths = {bits: METHOD.laid(Path(), {first: 8, "@*.bits?": bits}) for bits in (4, 6, 8, 17)}
    assert {bits: first in found for bits, found in widths.items()} == {4: False, 6: False, 8: True, 17: True}
    assert METHOD.laid(Path(), {first: 8, "@*.tags?": "real"})[first] == 8
    assert METHOD.laid(Path(), {"@*.bits?": 4}) == {"@*.bits?": 4}


def test_a_least_tag_is_laid_only_over_tags_with_codes() -> None:
    """Reading b26: real tags have no code for no tickets."""
    least = "@*.least-tag?"
    assert METHOD.laid(Path(), {least: "zero", "@*.tags?": "real"}) == {"@*.tags?": "real"}
    assert METHOD.laid(Path(), {least: "zero"}) == {least: "zero"}


def test_an_answer_is_laid_by_run_set_and_by_file() -> None:
    """Reading b25: contracts of a sender-based file are not those of its mirror image."""
    contracts = PAPER.readings()["b25"]
    laid = [answer(contracts, "half of them", of("pps-fig6", scheme=scheme)) for scheme in ("sender", "receiver")]
    assert [sorted(keys) for keys in laid] == [
        ['conditioner.link.at."P1 -> P3".tickets', 'conditioner.link.at."P2 -> P3".tickets'],
        ['conditioner.link.at."P3 -> P1".tickets', 'conditioner.link.at."P3 -> P2".tickets'],
    ]


def test_jain_over_levels_is_that_over_all_flows() -> None:
    """Two flows of each level, one with twice what the other has: from sums and sums of squares."""
    rates = {"A": (0.4, 0.8), "B": (0.4, 0.4), "C": (0.1, 0.3)}
    sums = {f"{level}.throughput": sum(both) for level, both in rates.items()}
    squares = {f"{level}.squares": sum(x * x for x in both) for level, both in rates.items()}
    runs = Samples([Sample("pps-flows", {"flows": 2, "bits": 8, "size": 500}, 0, {**sums, **squares})])
    ys = [x / shares.LEVELS[level] for level, both in rates.items() for x in both]
    assert shares.jain_of_levels(runs, 2, 8, 500) == [pytest.approx(measures.jain(ys))]
