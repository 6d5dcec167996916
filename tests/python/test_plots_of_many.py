"""Plots and reports of many rows: what is left out is said, and how to see it."""

from __future__ import annotations

import pytest

from layout import check, headings
from perhop import Runs, Scenario, plot, report
from perhop.plots import grid
from perhop.plots.sheet import PlotRequest, Sheet

CUSTOMERS = 40


def customers() -> str:
    """An uplink with this many customers, each a class with a contract."""
    links = "".join(f'"c{i:02} - R" = {{ rate = "100Mbit/s", delay = "1ms" }}\n' for i in range(CUSTOMERS))
    head = f"""
[scenario]
name = "customers"
duration = "3s"
warmup = "1s"
sample = "200ms"
replications = 2
[links]
{links}"R - D" = {{ rate = "20Mbit/s", delay = "5ms" }}
"R -> D" = {{ queue = "shared" }}
[queue.shared]
limit = "60p"
"""
    each = """
[conditioner.k{0:02}]
at = "c{0:02} -> R"
match = {{ traffic = "customer{0:02}" }}
kind = "token-bucket"
cir = "200kbit/s"
cbs = "5kB"
[traffic.customer{0:02}]
model = "poisson"
rate = "{1}kbit/s"
size = "1000B"
from = "c{0:02}"
to = "D"
class = "customer{0:02}"
"""
    return head + "".join(each.format(i, 300 + 20 * i) for i in range(CUSTOMERS))


@pytest.fixture(scope="module", params=["one run", "a sweep"])
def many(request: pytest.FixtureRequest) -> Runs:
    """Many customers in one run, and in a sweep of three numbers."""
    scenario = Scenario.from_toml(customers())
    if request.param == "one run":
        return scenario.run()
    return scenario.sweep({"queue.shared.limit": ["20p", "60p", "200p"]}, replications=1)


@pytest.mark.parametrize("kind", [kind for kind in plot.PLOTS if kind != "fairness"])
def test_no_plot_by_name_is_refused_for_its_many_rows(many: Runs, kind: str) -> None:
    sheet = Sheet(asked=PlotRequest(kind, directories=["runs/customers"]))
    figure = plot.drawn(many, sheet)
    check(kind, figure)
    assert len(figure.axes) <= 18
    (head,) = headings(figure)
    for left in sheet.left:
        assert left.said in " ".join(head.get_text().split("\n"))
    for note in sheet.notes:
        assert note.command.startswith(f"perhop plot runs/customers --kind {kind} --where ")
    lines = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    assert len(lines) <= 2 * grid.CHOSEN_LINES


HERE = PlotRequest(directories=["runs/customers"])


def test_a_report_of_many_rows_has_its_pictures(many: Runs) -> None:
    page = report.page(many, HERE)
    assert page.first is not None
    assert {picture.kind for picture in page.pictures} == set(report.DETAILS)
    told = [picture for picture in page.pictures if picture.notes]
    assert told
    assert "others: <code>perhop plot runs/customers --kind " in report.render(page)


def test_a_class_that_waits_a_second_leaves_the_others_legible() -> None:
    scenario = Scenario.from_toml(customers(), {f'links."c{CUSTOMERS - 1} - R".delay': "1s"})
    runs = scenario.run(1)
    for kind in ("delay", "box", "cdf"):
        for axes in plot.figure(kind, runs).axes:
            assert (axes.get_xscale(), "(log scale)" in axes.get_xlabel()) == ("log", True), kind
