"""The study `today`: its pairs, what follows from contracts, what is measured, and whether its answers hold."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest

from perhop import _core
from perhop.hands import Work, span
from perhop_studies import measures, reproduce
from perhop_studies import runs as simulation
from perhop_studies.criteria import Criterion
from perhop_studies.papers import ASKED, PAPERS, paper
from perhop_studies.runs import Budget, RunSet
from perhop_studies.samples import Samples
from perhop_studies.today import figures
from perhop_studies.today.answers import ANSWERS, SCENARIOS
from perhop_studies.today.contracts import ENTITLED, laid
from perhop_studies.today.method import measured

TODAY = paper("today")
SETS = TODAY.runs()
ANSWERED = TODAY.criteria().of(ANSWERS.id)
QUICK = Budget(seeds=reproduce.QUICK)


def one(runs: str, **at: str) -> RunSet:
    (found,) = [s for s in SETS if s.name == runs and s.at == at]
    return found


def tables(chosen: RunSet, *more: str) -> Mapping[str, Any]:
    scenario = _core.Scenario(chosen.scenario.read_text(), str(chosen.scenario), [*chosen.overrides({}), *more], [])
    (run,) = Work(scenario).asking(replications=span(range(1)), output={"jobs": 1}).run(None)
    tables: Mapping[str, Any] = run["tables"]
    return tables


def test_it_runs_by_its_name_and_is_no_part_of_all() -> None:
    assert [study.id for _, study in reproduce.select(["today"])] == [study.id for study in TODAY.studies]
    assert {found.name for found, _ in reproduce.select(["all"])} == {*PAPERS}
    assert [study.id for _, study in reproduce.select(["today-rtt"])] == ["today-rtt"]
    assert {*ASKED} == {"today"}


def test_it_has_no_readings() -> None:
    arguments = {"what": ["today"], "quick": True, "seeds": None, "seed": 1, "jobs": 1, "out": "x", "strict": False}
    arguments |= {"setting": "frozen", "set": [], "mutants": False, "causes": False}
    with pytest.raises(LookupError, match="`today` is no paper and has no readings: give a paper"):
        reproduce.reproduce({**arguments, "list": False, "readings": True})


def test_every_pair_is_run_or_left_out_for_a_reason() -> None:
    stated = tomllib.loads((TODAY.directory / "runs.toml").read_text())
    axes = stated["axes"]
    omitted = simulation.left_out(TODAY.directory)
    assert all(" " in entry.why for entry in omitted)
    run = {(s.name, *s.at.values()) for s in SETS}
    for name, marker, queue, stack in product(SCENARIOS, axes["marker"], axes["queue"], axes["stack"]):
        at = {"marker": marker, "queue": queue, "stack": stack}
        reasons = [entry.why for entry in omitted if entry.takes(RunSet(name, TODAY.directory, at, TODAY.method))]
        assert ((name, marker, queue, stack) in run) != bool(reasons), (at, reasons)


def test_the_figures_name_everything_that_is_run() -> None:
    grid = {axis: {s.at[axis] for s in SETS} for axis in ("queue", "marker", "stack")}
    assert grid["queue"] == {*figures.QUEUES}
    assert grid["marker"] == {*figures.MARKERS}
    assert grid["stack"] <= {*figures.STACKS}


@pytest.mark.parametrize("queue", ["drop-tail", "fq-codel", "dualpi2", "drr"])
def test_a_marker_before_a_queue_without_colours_changes_nothing(queue: str) -> None:
    """The reason that such pairs are left out: what passes the link is the same to the byte."""
    plain = one("today-rtt", marker="none", queue=queue, stack="linux")
    marked = 'conditioner.contract={kind="trtcm",cbs="60kB",pbs="90kB",at={"near -> E"={cir="3Mbit/s",pir="4Mbit/s"}}}'
    a, b = (
        tables(plain, "scenario.duration=15s", *more)
        for more in ((), (marked, 'conditioner.contract.match.dscp="CS1"'))
    )
    assert len(set(b["summary"]["colour"])) > len(set(a["summary"]["colour"]))
    for column in ("delivered_bytes", "delivered_packets", "dropped_packets"):
        assert a["links"][column].tolist() == b["links"][column].tolist()
    assert a["flows"]["goodput_bit_s"].tolist() == b["flows"]["goodput_bit_s"].tolist()


def test_a_marker_gets_each_ports_rate() -> None:
    found = laid(TODAY.directory / "today-contract.toml", {"conditioner.contract": {"kind": "trtcm"}})
    ports = found["conditioner.contract"]["at"]
    assert ports["gold -> E"] == {"cir": "4Mbit/s", "pir": "6Mbit/s"}
    assert ports["bronze -> E"] == {"cir": "1Mbit/s", "pir": "1.5Mbit/s"}
    found = laid(TODAY.directory / "today-contract.toml", {"conditioner.contract": {"kind": "pam"}})
    assert found["conditioner.contract"]["at"]["gold -> E"] == {"cir": "4Mbit/s"}


def test_quic_takes_the_place_of_tcp() -> None:
    found = laid(TODAY.directory / "today-contract.toml", {"quic": {"congestion": "cubic", "ecn": False}})
    assert "quic" not in found
    assert found['traffic."gold-files{1..2}"'] == {
        **{"model": "quic", "from": "gold", "to": "D", "dscp": "CS3", "class": "gold"},
        **{"congestion": "cubic", "ecn": False},
    }
    assert found['traffic."silver-web{1..2}"']["gap"] == "500ms"
    assert not any("video" in key or "call" in key for key in found)
    found = laid(TODAY.directory / "today-short.toml", {"quic": {"congestion": "bbr"}})
    assert found['traffic."shop{1..2}"']["size"] == "30kB"


def test_tickets_and_classes_are_in_proportion_to_contracts() -> None:
    path = TODAY.directory / "today-blaster.toml"
    tickets = laid(path, {"conditioner.label": {"kind": "pps-tagger"}})["conditioner.label"]["at"]
    assert tickets["desks -> G"] == {"tickets": "2500t/s"}
    assert tickets["blaster -> G"] == {"tickets": "500t/s"}
    classes = laid(path, {"queue.link": {"scheduler": "drr"}})["queue.link"]["classes"]
    assert [(c["for"], c["quantum"]) for c in classes] == [("CS1", "4500B"), ("CS2", "4500B"), ("CS5", "1500B")]
    shares = laid(path, {"queue.link": {"aqm": "msvb"}})["queue.link"]["classes"]
    assert shares[0]["share"] == shares[1]["share"] == pytest.approx(3 / 6.2, abs=1e-4)
    assert sum(c["share"] for c in shares) <= 1


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_classes_are_entitled_to_is_what_the_file_sells(name: str) -> None:
    """Contracts at the bottleneck's side of the edge add up to what the classes are entitled to."""
    file = tomllib.loads((TODAY.directory / f"{name}.toml").read_text())
    classes = {one.get("class", key) for key, one in file["traffic"].items()} & {*ENTITLED}
    sold = {**file["conditioner"]["contract"]["at"]}
    if edge := file["conditioner"].get("edge"):
        sold |= {port: stated for port, stated in edge["at"].items() if port.endswith("-> E")}
    rates = [float(stated["cir"].removesuffix("Mbit/s")) for stated in sold.values()]
    assert sum(rates) == pytest.approx(sum(ENTITLED[c] for c in classes))


def test_shares_and_waits_are_read_off_the_tables() -> None:
    hop = "E -> D"
    found = measured(
        {
            "arrivals": {
                "class": ["near", "far", "call"],
                "delivered_bytes": [3_000_000, 750_000, 50_000],
                "throughput_bit_s": [6e6, 1.5e6, 1e5],
                "delay_p99_ms": [50.0, 60.0, 30.16],
            },
            "traffic": {"class": ["near", "far", "call"]},
            "summary": {
                "class": ["near", "far", "call", "call"],
                "hop": [hop, hop, hop, "phone -> E"],
                "delivered_bytes": [3_000_000, 750_000, 50_000, 50_000],
                "delivered_packets": [2000, 500, 250, 250],
                "arrived_packets": [2000, 600, 260, 260],
                "wait_mean_ms": [10.0, 20.0, None, 0.0],
            },
            "links": {
                "hop": [hop, "phone -> E"],
                "utilisation": [0.97, 0.01],
                "delay_ms": [5.0, 5.0],
                "rate_bit_s": [10e6, 1e9],
            },
            "flows": {"traffic": ["near", "call"], "sent_packets": [2100, 260], "dropped_packets": [100, 13]},
            "transfers": {"last_byte_ms": []},
        }
    )
    assert found["share.near"] == pytest.approx(2.0)
    assert found["share.far"] == pytest.approx(0.5)
    assert found["fairness"] == pytest.approx(measures.jain([2.0, 0.5]))
    assert found["contract"] == pytest.approx(0.5)
    assert found["used"] == 0.97
    assert found["call"] == pytest.approx(30.16 - 10.0 - 0.16 - 0.0016)
    assert found["call.lost"] == pytest.approx(0.05)
    assert "fetch" not in found


class Wanted(Samples):
    """Notes which cells an answer reads."""

    def __init__(self) -> None:
        super().__init__([])
        self.places: list[dict[str, Any]] = []
        self.name = ""

    def of(self, runs: str) -> Samples:
        self.name = runs
        return self

    def grid(self) -> dict[str, list[Any]]:
        return {}

    def values(self, quantity: str, **where: Any) -> list[float]:
        self.places.append({"runs": self.name, **where})
        return [1.0, 1.0]


def cells(answer: Criterion) -> list[dict[str, Any]]:
    wanted = Wanted()
    ANSWERS.judge(answer, wanted)
    return wanted.places


@pytest.fixture(scope="module")
def samples() -> Samples:
    """What the answers are read from, at the quick tier's three seeds."""
    places = [place for answer in ANSWERED for place in cells(answer)]
    chosen = [s for s in SETS if {"runs": s.name, **s.at} in places]
    return Samples(simulation.simulate(simulation.prepare(chosen, QUICK), QUICK, lambda *_: None))


@pytest.mark.slow
@pytest.mark.parametrize("answer", ANSWERED, ids=[c.claim for c in ANSWERED])
def test_what_the_page_says_holds(answer: Criterion, samples: Samples) -> None:
    found = ANSWERS.judge(answer, samples)
    assert [str(part) for part in found.parts if part.holds is False] == []
    answer.why.format(*[part.interval.mean for part in found.parts])


def test_every_answer_is_a_report() -> None:
    assert {c.kind for c in TODAY.criteria().claims} == {"report"}
    assert len([c for c in ANSWERED if c.claim.startswith("surprise")]) == 3
