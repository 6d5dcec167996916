"""The frozen criteria: word for word the specification's lines, each with exactly one claim."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from perhop.studies import Study, criteria, paper
from perhop.studies import readings as open_readings
from perhop.studies import runs as simulation
from perhop.studies.verdict import Finding

HERE = Path(__file__).parent
DATA = simulation.data("pam-fsam")
PAPER = paper("pam-fsam")
CRITERIA = criteria.load(DATA / "criteria.toml")
LABEL = re.compile(r"(hard|soft|report):?\s+")


def specified() -> dict[str, list[str]]:
    """Lines of the specification by study."""
    found: dict[str, list[str]] = {}
    for line in (HERE / "studies" / "pam-fsam-criteria.txt").read_text().splitlines():
        if line.startswith("== "):
            mine = found.setdefault(line[3:], [])
        else:
            mine.append(line)
    return found


def halves(line: str) -> list[tuple[str, str]]:
    """(kind, text) of a line; one with a hard and a soft half gives two."""
    marks = list(LABEL.finditer(line))
    ends = [*(m.start() for m in marks[1:]), len(line)]
    return [(m[1], line[m.end() : end].strip().removesuffix(";").strip()) for m, end in zip(marks, ends, strict=True)]


def rules(study: str) -> list[tuple[str, str]]:
    """(kind, text) of the study's records, each line over a grid once, in the file's order."""
    return list(dict.fromkeys((c.kind, c.text) for c in CRITERIA.of(study)))


@pytest.mark.parametrize("study", [s.id for s in PAPER.studies])
def test_criteria_are_the_specification_word_for_word(study: str) -> None:
    assert rules(study) == [half for line in specified()[study] for half in halves(line)]


def test_the_nine_experiments_are_there() -> None:
    assert [s.id for s in PAPER.studies] == list(specified()) == [f"pf-fig{n}" for n in range(2, 10)] + ["pf-udp"]


def test_each_criterion_has_one_claim_and_each_claim_a_criterion() -> None:
    for study in PAPER.studies:
        assert set(study.claims) == {c.rule for c in CRITERIA.of(study.id)}, study.id
        assert all(claim.__doc__ or claim.__name__ == "claim" for claim in study.claims.values())


def test_a_second_claim_for_a_criterion_is_refused() -> None:
    study = Study("x", title="x", runs="x")
    study.claim("a")(lambda _: Finding([]))
    with pytest.raises(ValueError, match="x/a has a claim already"):
        study.claim("a")(lambda _: Finding([]))


def test_lines_for_each_n_are_claims_of_their_own() -> None:
    by_rule = {
        (c.study, c.rule): [d.claim for d in CRITERIA.claims if (d.study, d.rule) == (c.study, c.rule)]
        for c in CRITERIA.claims
    }
    assert by_rule["pf-fig7", "tcp-order"] == [f"tcp-order-n{n:02}" for n in (5, 10, 15, 20, 25, 30)]
    assert by_rule["pf-fig6", "fsam-fastest"] == [f"fsam-fastest-n{n}" for n in (10, 15, 20, 25, 30)]
    assert len(by_rule["pf-udp", "jain-fsam-highest"]) == 10
    assert by_rule["pf-udp", "jain-fsam-highest"][0] == "jain-fsam-highest-r1-n05"
    assert len(by_rule["pf-fig4", "fsam-gain"]) == 1


def test_the_printed_tables_are_the_papers() -> None:
    text = (
        "TokenBucket 67 1261 76 1267 2423 7215 PAM 236 935 378 1456 2011 7607 F-SAM 740 882 748 835 1042 8254 "
        "TokenBucket 13 748 805 2869 387 1593 PAM 245 695 695 2883 387 1593 F-SAM 497 620 413 2952 456 1571"
    )
    assert [c.published for c in CRITERIA.cells] == [int(word) for word in text.split() if word.isdigit()]


def test_a_record_stated_twice_or_of_no_kind_is_an_error(tmp_path: Path) -> None:
    entry = '[[criterion]]\nstudy = "a"\nid = "b"\nkind = "{}"\ntext = "c"\n[table]\n'
    path = tmp_path / "criteria.toml"
    path.write_text(entry.format("firm"))
    with pytest.raises(ValueError, match="hard, soft, report"):
        criteria.load(path)
    path.write_text(entry.format("hard").replace("[table]\n", "") + entry.format("soft"))
    with pytest.raises(ValueError, match="a/b"):
        criteria.load(path)


def test_figures_5_8_and_9_are_the_files_whose_runs_they_share() -> None:
    def scenario(name: str) -> dict[str, Any]:
        stated: dict[str, Any] = tomllib.loads((DATA / f"{name}.toml").read_text())
        del stated["scenario"]["name"]
        return stated

    assert scenario("pf-fig8") == scenario("pf-fig9") == scenario("pf-fig7")
    both = scenario("pf-fig6")
    assert both["sweep"].pop("traffic.mice.loop") == ["open", "closed"]
    assert scenario("pf-fig5") == both
    growing = scenario("pf-udp")
    assert growing["sweep"].pop("traffic.rogue.rate") == [f"{n}Mbit/s" for n in range(1, 6)]
    growing["sweep"]["traffic.bulk.flows"] = [5, 10, 15, 20, 25, 30]
    assert growing == scenario("pf-fig7")


def test_the_frozen_readings_are_what_the_files_say() -> None:
    """Laying the frozen readings over the files changes nothing."""
    readings = open_readings.load(DATA / "readings.toml")
    for run_set in simulation.load(DATA):
        group = "tokens" if run_set.name in ("pf-fig2", "pf-fig3") else "load"
        settings = readings.settings(readings.frozen(), group)
        if run_set.name == "pf-fig3":
            settings = {key: value for key, value in settings.items() if not key.startswith("tcp.")}
        [plain] = simulation.prepare([run_set], simulation.Budget(seeds=1))
        [laid] = simulation.prepare([run_set], simulation.Budget(seeds=1), settings)
        assert [p["hash"] for p in laid.scenario.points] == [p["hash"] for p in plain.scenario.points], run_set.name


def test_another_reading_changes_the_points_it_concerns() -> None:
    readings = open_readings.load(DATA / "readings.toml")
    [run_set] = [s for s in simulation.load(DATA) if s.name == "pf-fig4"]
    for reading in readings.by_id.values():
        for value in reading.others:
            settings = reading.settings(value, "load")
            if reading.id != "a10":
                [plain] = simulation.prepare([run_set], simulation.Budget(seeds=1))
                [laid] = simulation.prepare([run_set], simulation.Budget(seeds=1), settings)
                assert [p["hash"] for p in laid.scenario.points] != [p["hash"] for p in plain.scenario.points], value
