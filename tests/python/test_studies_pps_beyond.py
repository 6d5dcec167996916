"""Beyond PPS: rows and figures on made-up runs, and what the mechanisms do on the core's own."""

from __future__ import annotations

import math
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from perhop_studies import Study, criteria, measures, records, report
from perhop_studies import runs as simulation
from perhop_studies.papers import paper
from perhop_studies.pps import beyond
from perhop_studies.pps.shares import CHAIN, FIG4
from perhop_studies.pps.terms import Shares, ratio
from perhop_studies.runs import Budget, RunSet
from perhop_studies.samples import Sample, Samples
from planted import by_set, samples_of

SEEDS = 3
PAPER = paper("pps")
NAMES = {name for study in beyond.STUDIES for name in study.sets}
SETS = [s for s in PAPER.runs() if s.name in NAMES]
LINK = {"utilisation": 0.9, "marks": 0.2, "drops": 0.1, "forced": 0.01, "queue": 20.0}
TAGS = {
    "tagged": 1000.0,
    "saturated": 100.0,
    "raised": 10.0,
    "segments": 1000.0,
    "retransmitted": 50.0,
    "timeouts": 7.0,
}


def level(of: RunSet) -> float:
    """A number that no other place has."""
    return 1.0 + 0.01 * SETS.index(of)


@cache
def made() -> list[Sample]:
    """All flows of a run set at its own level, Mbit/s; datagrams at three times that, f1 settled at twice."""
    flows = [*FIG4, "tcp1", "tcp2", "datagrams"]
    found = []
    for of in SETS:
        rates = {f"{f}.{q}": 1e6 * level(of) for f in flows for q in ("throughput", "late", "goodput")}
        rates |= {"datagrams.throughput": 3e6 * level(of), "f1.late": 2e6 * level(of)}
        values = {**rates, **TAGS, **{f"P - Q.{name}": value for name, value in LINK.items()}}
        found += [Sample(of.name, of.at, seed, values) for seed in range(SEEDS)]
    return found


def runs_of(study: Study) -> Samples:
    return samples_of(study, by_set(made()))


def rows(study: Study, claim: str) -> list[dict[str, Any]]:
    [criterion] = [c for c in PAPER.criteria().of(study.id) if c.rule == claim]
    found = study.judge(criterion, runs_of(study))
    assert (found.verdict, found.replications) == ("reported", SEEDS)
    assert found.table
    return [dict(row) for row in found.table]


def at(name: str, **where: Any) -> Any:
    """The level there, and that of datagrams."""
    [of] = [s for s in SETS if s.name == name and s.at == where]
    return pytest.approx(level(of)), pytest.approx(3 * level(of))


def test_each_rate_stands_in_its_row_and_column() -> None:
    datagrams, tcp = rows(beyond.udp, "datagrams"), rows(beyond.udp, "tcp")
    assert [row["sends"] for row in datagrams] == [200, 400, 600, 800, 1000, 1500, 2000, 3000, 4000]
    assert datagrams[2]["K = 8"] == at("beyond-udp", case="k8", sends=600)[1]
    assert datagrams[8]["all 255, exchanged"] == at("beyond-udp-input", case="exchanged", sends=4000)[1]
    assert tcp[1]["capped"] == at("beyond-udp", case="cap", sends=400)[0]
    assert "capped, no TCP" not in tcp[0]


def test_each_currency_has_its_cap() -> None:
    found = {row["tickets"]: row for row in rows(beyond.udp, "currency")}
    assert list(found) == [25, 40, 50, 60, 75, 100, 150, 200]
    assert found[150]["sends 2"] == at("beyond-udp-currency", tickets=150, sends=2000)[1]
    each = [at("beyond-udp-currency", tickets=150, sends=sends)[0].expected for sends in (1000, 2000, 4000)]
    assert found[150]["each TCP"] == pytest.approx(sum(each) / 3)


def test_who_does_not_tag_stands_beside_who_does() -> None:
    """Rows by K and rate, columns by host and by what is done about it."""
    found = {claim: rows(beyond.untagged, claim) for claim in ("datagrams", "tcp", "datagrams-behind", "tcp-behind")}
    for table in found.values():
        assert [(row["k"], row["sends"]) for row in table] == [(2, 1000), (2, 2000), (32, 1000), (32, 2000)]
    assert found["datagrams"][3]["untagged: red"] == at("beyond-untagged", host="red", k=32, sends=2000)[1]
    assert found["tcp"][0]["least"] == at("beyond-untagged", host="least", k=2, sends=1000)[0]
    behind = at("beyond-untagged-input", host="pass", k=2, sends=2000, input="capped")
    assert (
        found["tcp-behind"][1]["capped: untagged: pass"],
        found["datagrams-behind"][1]["capped: untagged: pass"],
    ) == behind


def test_drops_are_the_runs_of_fig_4() -> None:
    found = rows(beyond.ecn, "marks")
    assert [(row["scheme"], row["B"], row["signal"]) for row in found[:3]] == [
        ("sender", 1000, "drops"),
        ("sender", 1000, "ecn"),
        ("sender", 500, "drops"),
    ]
    [drops] = [s for s in SETS if s.name == "pps-fig4" and s.at == {"size": 500, "scheme": "receiver"}]
    assert found[6]["goodput, Mbit/s"] == pytest.approx(30 * level(drops))
    wanted = {"sent again, %": 5.0, "time-outs": 7.0, "marked, %": 20.0, "of it forced, %": 1.0, "queue, packets": 20.0}
    assert {name: found[0][name] for name in wanted} == pytest.approx(wanted)


def test_equal_byte_rates_are_unequal_packet_rates() -> None:
    """All flows equal in bytes: Jain's index over packets/s is that of 1/size."""
    by_bytes = rows(beyond.by_bytes, "units")[2]
    inverse = [1 / (payload + 40) for payload in beyond.SEGMENTS]
    assert by_bytes["jain of bytes/s"] == pytest.approx(1.0)
    assert by_bytes["jain of packets/s"] == pytest.approx(measures.jain(inverse))
    assert by_bytes["512 B, kbit/s"] == pytest.approx(1000 * level(next(s for s in SETS if s.at == {"by": "bytes"})))


def test_tags_are_told_by_exchange_and_kind() -> None:
    for claim, rates in (("chain", CHAIN), ("decades", beyond.DECADES)):
        found = rows(beyond.log, claim)
        assert [row["tags"] for row in found] == [look.label for look in beyond.TAGS.values()] * 2
        assert found[0]["saturated, %"] == pytest.approx(10.0)
        y = [1 / e for e in rates.values()]
        assert found[0]["jain(y)"] == pytest.approx(measures.jain(y))
        assert found[0]["jain(y), 20-200 s"] == pytest.approx(measures.jain([2 * y[0], *y[1:]]))
        assert found[5]["most y"] / found[5]["least y"] == pytest.approx(2 * y[0] / y[-1])


def test_expected_rates_divide_the_link_by_the_files_tickets() -> None:
    stated = tomllib.loads((PAPER.directory / "beyond-log.toml").read_text())
    ports = stated["conditioner"]["source"]["at"].values()
    tickets = [float(port["tickets"].removesuffix("t/s")) for port in ports]
    assert stated["links"]["R3 - R4"]["rate"] == "10Mbit/s"
    assert list(beyond.DECADES.values()) == pytest.approx([10 * t / sum(tickets) for t in tickets])


@pytest.mark.parametrize("study", beyond.STUDIES, ids=lambda s: s.id)
def test_each_study_has_its_figure(study: Study) -> None:
    [drawn] = PAPER.pictures(study.id, runs_of(study), [])
    assert drawn.name == study.id
    assert drawn.png.startswith(b"\x89PNG")
    assert drawn.svg.count("<path") > 20


@pytest.mark.parametrize("study", beyond.STUDIES, ids=lambda s: s.id)
def test_nothing_is_judged_and_the_page_shows_the_files(study: Study) -> None:
    kinds = {c.kind for c in PAPER.criteria().of(study.id)}
    assert kinds == {"report"}
    assert records.overall([records.Record(study.id, "c", "report", "", None, (), 1, "reported", "")]) == "reported"
    shown = report._scenarios(PAPER, study)
    assert {name for name, _ in shown} == {s.scenario.name for s in SETS if s.name in study.sets}


def test_a_hard_record_beyond_the_paper_is_refused(tmp_path: Path) -> None:
    entry = '[[criterion]]\nstudy = "a"\nid = "{}"\nkind = "{}"\ntext = "c"\n'
    path = tmp_path / "criteria.toml"
    path.write_text(entry.format("b", "hard") + "[table]\n")
    path.with_name("beyond.toml").write_text(entry.format("d", "report"))
    assert [(c.claim, c.kind) for c in criteria.load(path).of("a")] == [("b", "hard"), ("d", "report")]
    path.with_name("beyond.toml").write_text(entry.format("d", "soft"))
    with pytest.raises(ValueError, match="a/d is 'soft'"):
        criteria.load(path)


@cache
def measured(name: str, *where: tuple[str, Any]) -> Samples:
    """One replication of one run set, simulated."""
    chosen = [s for s in SETS if s.name == name and dict(where).items() <= s.at.items()]
    budget = Budget(seeds=1)
    return Samples(simulation.simulate(simulation.prepare(chosen, budget), budget, lambda *_: None))


def datagrams(name: str, case: str, sends: int = 4000) -> float:
    [x] = beyond.got(measured(name, ("case", case), ("sends", sends)), "datagrams")
    return x


def test_a_capped_source_gets_its_tickets_whatever_it_sends() -> None:
    """One ticket a packet is 0.4 Mbit/s.

    It gets more in the first windows, while its rate, r (1 - exp(-t/W)) of r sent, is too low: alone it has at
    most W ln(r/T) + W seconds of its T tickets/s more, 5 s (ln 10 + 1) of 200 s at r = 500 packets/s; the draws of
    10000 packets scatter by 1 %. With TCP the queue drops no more than 20 %, RED's p below max.
    """
    start = 5 * (math.log(10) + 1) / 200
    assert 0.4 * 0.97 <= datagrams("beyond-udp", "alone") <= 0.4 * (1 + start)
    for name, case in (("beyond-udp", "cap"), ("beyond-udp-input", "capped")):
        assert 0.4 * 0.8 <= datagrams(name, case) <= 0.4 * (1 + start)
        assert 0.4 * 0.8 <= datagrams(name, case, 1000) <= 0.4 * (1 + start)


def test_without_a_cap_it_takes_the_link_and_a_lie_gains_nothing_behind_an_exchange() -> None:
    """1.2 Mbit/s and three equal shares: more than two of them is a third source's too."""
    for case in ("red", "k2", "lies"):
        assert datagrams("beyond-udp", case) > 0.8
    assert datagrams("beyond-udp", "k32") < 0.8
    honest, lying = datagrams("beyond-udp", "k2", 1000), datagrams("beyond-udp-input", "exchanged", 1000)
    assert lying == pytest.approx(honest, rel=0.1)
    assert datagrams("beyond-udp", "lies", 1000) == pytest.approx(1.0, rel=0.02)


def untagged(host: str, name: str = "beyond-untagged", **where: Any) -> float:
    [x] = beyond.got(measured(name, ("host", host), ("k", 2), ("sends", 2000), *where.items()), "datagrams")
    return x


def test_who_does_not_tag_gains_where_it_may() -> None:
    """RED's p is the same for a packet of every source: less than the p of one with fewer tickets than expected."""
    assert untagged("red") > untagged("honest")
    assert untagged("least") < untagged("honest")
    assert untagged("drop") == 0.0


def test_a_cap_holds_who_does_not_tag_only_where_it_is_said_so() -> None:
    """One ticket a packet is 0.4 Mbit/s; what passes untagged is not held to it."""
    start = 5 * (math.log(5) + 1) / 200
    of = {host: untagged(host, "beyond-untagged-input", input="capped") for host in ("pass", "least", "drop", "lying")}
    assert of["pass"] > 0.8
    for host in ("least", "lying"):
        assert 0.4 * 0.8 <= of[host] <= 0.4 * (1 + start)
    assert of["drop"] == 0.0


def test_marks_take_the_place_of_drops() -> None:
    at = (("scheme", "sender"), ("size", 500))
    [drops], [marks] = measured("pps-fig4", *at).all, measured("beyond-ecn", *at).all
    assert drops.values["P - Q.marks"] == 0.0
    assert marks.values["P - Q.marks"] > marks.values["P - Q.drops"] >= marks.values["P - Q.forced"] > 0
    assert marks.values["retransmitted"] < 0.2 * drops.values["retransmitted"]
    assert marks.values["timeouts"] < 0.2 * drops.values["timeouts"]
    assert drops.values["retransmitted"] == pytest.approx(
        drops.values["segments"] * drops.values["P - Q.drops"], rel=0.15
    )


def test_equal_tickets_are_equal_packets_or_equal_bytes() -> None:
    """With equal packet rates the index over bytes is that of the sizes, 0.771; a flow's rate differs by some 5 %."""
    sizes = measures.jain([payload + 40 for payload in beyond.SEGMENTS])
    found = {unit: beyond.jain_by(measured("beyond-bytes", ("by", unit)), unit) for unit in ("packets", "bytes")}
    assert found["packets"][0][0] > 0.98
    assert found["packets"][1][0] == pytest.approx(sizes, abs=0.03)
    assert found["bytes"][1][0] > 0.98


def test_logarithmic_tags_stand_an_exchange_rate_of_100() -> None:
    """8.9 tickets a packet are 890 between R1 and R2: more than 255, less than 10^6."""
    found = {tags: measured("beyond-log", ("exchange", 100), ("tags", tags)) for tags in ("linear", "log-nearest")}
    saturated = {tags: ratio(f.values("saturated"), f.values("tagged"))[0] for tags, f in found.items()}
    assert saturated["linear"] > 0.3
    assert saturated["log-nearest"] < 0.001
    rates = {tags: Shares.of(f, beyond.DECADES, "late").rows[0] for tags, f in found.items()}
    assert max(rates["linear"]) < 2 * min(rates["linear"])
    assert rates["log-nearest"][4] > 3 * rates["log-nearest"][3] > 9 * rates["log-nearest"][2]
