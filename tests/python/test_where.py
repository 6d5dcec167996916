"""`where`: rows of results by swept keys and by columns that name rows, in Python and on the command line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from conftest import ROOT, SCENARIO, SWEPT, Command
from perhop import Runs, Scenario, report
from perhop.answer import answers

SHORT = {"scenario.duration": "4s", "scenario.warmup": "1s", "scenario.replications": 2}


@pytest.fixture(scope="module")
def af(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Three classes in three colours, at two points."""
    place = tmp_path_factory.mktemp("af")
    scenario = Scenario.from_toml(ROOT / "examples/af-bottleneck.toml", SHORT, ["conditioner.gold.cir=3Mbit/s,8Mbit/s"])
    return scenario.run(out=place, events=True, progress=False)


def test_rows_and_points_that_do_not_fit_are_left_out(af: Runs) -> None:
    some = af.where({"class": ["video", "web"]}, cir="8Mbit/s")
    assert [point.title for point in some.points] == ["cir 8Mbit/s"]
    for name in ("summary", "arrivals", "classes", "flows", "traffic"):
        before, after = af.table(name), some.table(name)
        fits = (before["point"] == 1) & np.isin(before["class"].astype(str), ["video", "web"])
        assert 0 < after.rows == fits.sum() < before.rows, name
        assert list(after["class"]) == list(before["class"][fits])
    assert some.table("links").rows == af.table("links").rows / 2, "a table without the column stays whole"
    assert (some.narrowed, af.narrowed) == ("class video or web, cir 8Mbit/s", "")


@pytest.mark.parametrize(
    "conditions",
    [
        {"class": ["bulk", "web"], "conditioner.gold.cir": "3Mbit/s"},
        {"cir": "3Mbit/s", "class": np.array(["bulk", "web"])},
        ["class=bulk,web", "cir=3Mbit/s"],
        ["class=bulk", "conditioner.gold.cir=3Mbit/s", "class=web"],
    ],
)
def test_conditions_are_stated_in_any_form(af: Runs, conditions: Mapping[str, object] | list[str]) -> None:
    found = af.where(conditions).means("arrivals", "throughput_bit_s", {"colour": "green"}, by=["class"])
    assert list(found) == [("bulk",), ("web",)]
    whole = af.means("arrivals", "throughput_bit_s", {"cir": "3Mbit/s", "colour": "green"}, by=["class"])
    assert all(whole[group] == mean for group, mean in found.items())


def test_a_port_has_three_names(af: Runs) -> None:
    tables = [af.where({name: "C -> E2"}).table("summary") for name in ("hop", "port", "link")]
    assert {tuple(table["hop"]) for table in tables} == {("C -> E2",) * tables[0].rows}


def test_conditions_one_after_the_other_all_hold(af: Runs) -> None:
    twice = af.where(colour=["green", "red"]).where({"class": "web"})
    once = af.where({"class": "web", "colour": ["green", "red"]})
    assert twice.table("summary").rows == once.table("summary").rows
    with pytest.raises(ValueError, match="no row is left by where colour=yellow"):
        af.where({"class": "web"}).where(colour="green").where(colour="yellow")


def test_packets_at_ports_are_chosen_too(af: Runs) -> None:
    some = af.where({"class": "bulk", "flow": 0, "cir": "3Mbit/s"})
    events, whole = some.events(columns=["class", "flow", "point"]), af.events(columns=["class", "flow", "point"])
    fits = (whole["class"] == "bulk") & (whole["flow"] == 0) & (whole["point"] == 0)
    assert 0 < events.rows == fits.sum() < whole.rows
    assert some.sql("select distinct class from events")["class"].tolist() == ["bulk"]


@pytest.mark.parametrize(
    ("conditions", "said"),
    [
        ({"clas": "web"}, r"E006.*have no `clas`\n   help: did you mean `class`\?"),
        ({"class": "wep"}, r"E006.*no class is `wep`\n   help: did you mean `web`\?"),
        ({"cir": "5Mbit/s"}, r"E006.*no conditioner.gold.cir is `5Mbit/s`\n   help: .*`8Mbit/s`"),
        ({"class": "web", "traffic": "bulk"}, r"E028.*no row is left by where class=web where traffic=bulk"),
        ({"class": []}, r"class = \[\]: name at least one value"),
        (["class"], r"E010.*`where class` is not KEY=VALUE"),
    ],
)
def test_what_is_not_there_is_named(af: Runs, conditions: Mapping[str, object] | list[str], said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        af.where(conditions)
    assert "--" not in str(caught.value)


def test_the_answer_is_of_whole_classes(af: Runs) -> None:
    """Of a colour alone no share of a class can be told: its row of all colours counts."""
    whole, green = ({a.name: a for a in answers(runs) if a.point == 0} for runs in (af, af.where(colour="green")))
    assert {name: (a.offered, a.delivered, a.lost) for name, a in whole.items()} == {
        name: (a.offered, a.delivered, a.lost) for name, a in green.items()
    }
    assert {*green["web"].colours} == {*green["web"].losses} == {"green"}
    assert "all" not in set(af.where(colour="green").table("classes")["colour"])


def test_the_page_says_which_rows_it_shows(af: Runs) -> None:
    page = report.html(af.where({"class": "video"}))
    assert "Only rows of class video are shown" in page
    assert ">web<" not in page
    assert "Only rows of" not in report.html(af)


def test_a_notebook_shows_what_is_left(af: Runs) -> None:
    shown = af.where({"class": "web", "colour": "red"})._repr_html_()
    assert shown.count(">red<") == 2
    assert "green" not in shown


@pytest.mark.parametrize("verb", [["plot", "-o", "p.svg"], ["report"], ["compare", "--by", "marker"]])
def test_verbs_take_it(tmp_path: Path, perhop: Command, verb: list[str]) -> None:
    Scenario.from_toml(SCENARIO + SWEPT).run(2, out=tmp_path, progress=False)
    done = perhop(verb[0], "small", *verb[1:], "--where", "flows=2", "--where", "colour=green,red")
    assert (done.returncode, done.stderr) == (0, "")
    done = perhop(verb[0], "small", *verb[1:], "--where", "flows=3")
    assert done.returncode == 2
    assert "error[E006] `where flows=3`: no dumbbell.flows is `3`" in done.stderr
    if verb[0] == "compare":
        rows = json.loads(perhop(verb[0], "small", *verb[1:], "--where", "flows=2", "--json").stdout)
        assert {row["point"] for row in rows} == {"flows 2"}
