"""The frozen criteria: word for word the specification's lines, each with exactly one claim."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from perhop_studies import Paper, Study, criteria
from perhop_studies import runs as simulation
from perhop_studies.criteria import Criteria
from perhop_studies.papers import PAPERS, paper
from perhop_studies.verdict import Finding

HERE = Path(__file__).parent
PAPER = paper("pam-fsam")
CRITERIA = PAPER.criteria()
LABEL = re.compile(r"(hard|soft|report):?\s+")
EVERY = [pytest.param(found, study, id=study.id) for found in map(paper, PAPERS) for study in found.studies]


def specified(of: str) -> dict[str, list[str]]:
    """Lines of a paper's specification by study; one that starts with a blank continues the last group."""
    found: dict[str, list[str]] = {}
    group = ""
    for line in (HERE / "studies" / f"{of}-criteria.txt").read_text().splitlines():
        if line.startswith("== "):
            mine, group = found.setdefault(line[3:], []), ""
            continue
        before = line[: LABEL.search(line).start()]  # type: ignore[union-attr]
        group = group if before.isspace() else before.strip()
        mine.append(f"{group} {line[len(before) :]}".strip())
    return found


def halves(line: str) -> list[tuple[str, str]]:
    """(kind, text) of a line; one with a hard and a soft half gives two, each with the name of their group."""
    marks = list(LABEL.finditer(line))
    group = line[: marks[0].start()]
    ends = [*(m.start() for m in marks[1:]), len(line)]
    texts = (line[m.end() : end].strip().removesuffix(";").strip() for m, end in zip(marks, ends, strict=True))
    return [(m[1], group + text) for m, text in zip(marks, texts, strict=True)]


def rules(stated: Criteria, study: str) -> list[tuple[str, str]]:
    """(kind, text) of the study's frozen records, each line over a grid once, in the file's order."""
    return list(dict.fromkeys((c.kind, c.text) for c in stated.of(study) if not c.added))


@pytest.mark.parametrize(("found", "study"), EVERY)
def test_criteria_are_the_specification_word_for_word(found: Paper, study: Study) -> None:
    lines = specified(found.name).get(study.id, [])
    assert rules(found.criteria(), study.id) == [half for line in lines for half in halves(line)]


@pytest.mark.parametrize(("found", "study"), EVERY)
def test_each_criterion_has_one_claim_and_each_claim_a_criterion(found: Paper, study: Study) -> None:
    """Or the bounds beside its text say it all; a claim may be a referee's."""
    stated = found.criteria().of(study.id)
    assert set(study.claims) <= {c.rule for c in (*stated, *found.referee().judged(stated))}
    assert all(c.rule in study.claims or c.bounds.holds or c.bounds.table for c in stated)
    assert all(claim.__doc__ or claim.__name__ == "claim" for claim in study.claims.values())


@pytest.mark.parametrize("name", PAPERS)
def test_every_experiment_is_there(name: str) -> None:
    """Those of the specification first, in its order; what was added has its own criteria."""
    found, listed = paper(name), list(specified(name))
    ids = [s.id for s in found.studies]
    assert [one for one in ids if one in listed] == listed
    criteria = found.criteria()
    assert all(c.kind != "hard" or c.added for one in ids if one not in listed for c in criteria.of(one))


def test_the_nine_experiments_are_there() -> None:
    assert [s.id for s in PAPER.studies][:9] == [f"pf-fig{n}" for n in range(2, 10)] + ["pf-udp"]


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


def test_a_table_over_a_grid_has_a_cell_at_each_point(tmp_path: Path) -> None:
    axes = '[axes]\nscheme = "-{}"\nsize = "-{}"\n'
    table = '[table.t]\nunit = "Mb/s"\nsize = [1000, 500]\ncolumns = ["x", "y"]\n"flow 1" = [1, 2]\n'
    path = tmp_path / "criteria.toml"
    path.write_text("criterion = []\n" + axes + table)
    cells = criteria.load(path).table("t")
    assert [(c.criterion.claim, c.heading, c.published) for c in cells] == [
        ("cell-flow-1-x-1000", "x, 1000", 1),
        ("cell-flow-1-y-1000", "y, 1000", 2),
        ("cell-flow-1-x-500", "x, 500", 1),
        ("cell-flow-1-y-500", "y, 500", 2),
    ]


def test_figures_5_8_and_9_are_the_files_whose_runs_they_share() -> None:
    def scenario(name: str) -> dict[str, Any]:
        stated: dict[str, Any] = tomllib.loads((PAPER.directory / f"{name}.toml").read_text())
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


@pytest.mark.parametrize("name", PAPERS)
def test_the_frozen_readings_are_what_the_files_say(name: str) -> None:
    """Laying the frozen readings over the paper's files changes nothing."""
    found, none = paper(name), simulation.Budget(seeds=1)
    for run_set in (one for one in found.runs() if not one.name.startswith("beyond")):
        answers = (found.answer(one, one.frozen, run_set) for one in found.readings().values())
        laid_over = {key: value for answer in answers for key, value in answer.items()}
        if not any(
            traffic["model"] == "ftp" for traffic in tomllib.loads(run_set.scenario.read_text())["traffic"].values()
        ):
            laid_over = {key: value for key, value in laid_over.items() if not key.startswith("tcp.")}
        settings = {**laid_over, **run_set.settings}
        [plain] = simulation.prepare([run_set], none)
        [laid] = simulation.prepare([run_set], none, settings)
        assert [p["hash"] for p in laid.scenario.points] == [p["hash"] for p in plain.scenario.points], run_set.name
