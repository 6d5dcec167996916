"""Plots over time, of packets and of distributions, beside counts by hand."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from conftest import ROOT
from perhop import Runs, Scenario, plot
from perhop.plots import delays, passed, style
from perhop.plots.lines import Of

SHORT = {"scenario.duration": "4s", "scenario.warmup": "1s"}


@pytest.fixture(scope="module")
def sampled() -> Runs:
    """The tutorial's example, over time."""
    return Scenario.from_toml(ROOT / "examples" / "tutorial.toml", SHORT | {"scenario.sample": "100ms"}).run(1)


def test_the_warm_up_is_shaded_and_the_port_named(sampled: Runs) -> None:
    for kind in ("over-time", "delay-over-time", "queue", "bucket"):
        figure = plot.figure(kind, sampled)
        for axes in figure.axes:
            (shade,) = axes.patches
            assert shade.get_extents().transformed(axes.transData.inverted()).intervalx == pytest.approx([0.0, 1.0])
        assert "warm-up, not counted" in [text.get_text() for text in figure.legends[0].get_texts()]
    assert "R -> D" in [axes.get_title(loc="left") for axes in plot.figure("queue", sampled).axes]
    assert [axes.get_title(loc="left") for axes in plot.figure("bucket", sampled).axes] == ["E -> R"]


def test_lines_from_packets_are_those_of_a_slow_count(tmp_path: Path) -> None:
    """Each step of each line, packet by packet, at every port."""
    short = {"scenario.duration": "4s", "scenario.warmup": "1s"}
    scenario = Scenario.from_toml(ROOT / "examples" / "tutorial.toml", short)
    scenario.run(2, out=tmp_path, events=True, progress=False)
    runs = Runs.open(next(tmp_path.iterdir()))
    assert not len(runs.table("series")["t_s"])
    events = runs.events("replication = 0")
    width = round(passed.backlogs(runs, 0)[Of("R -> D", "", "queue_packets")].t_s[0] * 1e9)
    rates, backlogs = passed.rates(runs, 0), passed.backlogs(runs, 0)
    sent = (events["fate"] != "dropped") & ~np.isnan(events["out_ns"].astype(float))
    leaves = np.where(np.isnan(events["out_ns"].astype(float)), events["dropped_ns"], events["out_ns"]).astype(float)
    for hop in dict.fromkeys(events["hop"]):
        at = events["hop"] == hop
        for (name, colour), line in rates[hop].items():
            of = at & sent & (events["class"] == name) & (events["colour"] == colour)
            for step, value in enumerate(line.value):
                within = of & (events["out_ns"] // width == step)
                last = of & (events["out_ns"] // width >= step) if step == len(line.value) - 1 else within
                assert value == pytest.approx(8e9 / width * events["size_bytes"][last].sum())
        line = backlogs[Of(hop, "", "queue_packets")]
        for t, value in list(zip(line.t_s, line.value, strict=True))[:-1]:
            end = round(t * 1e9)
            assert value == (at & (events["in_ns"] < end)).sum() - (at & (leaves < end)).sum()
    for kind in ("over-time", "delay-over-time", "queue"):
        assert plot.figure(kind, runs).axes
    with pytest.raises(ValueError, match="--trace series"):
        plot.figure("bucket", runs)


def test_round_trips_and_waits_over_time_by_hand(sampled: Runs) -> None:
    trips, waits = plot.figure("delay-over-time", sampled).axes
    table = sampled.table("flow_series")
    home = (table["traffic"] == "home") & (table["t_s"] == table["t_s"][-1])
    last = {str(line.get_label()): float(np.asarray(line.get_ydata())[-1]) for line in trips.lines}
    assert set(last) == {"business", "home"}, "a datagram has no round trip"
    assert last["home"] == pytest.approx(float(np.nanmean(table["srtt_ms"][home])))
    series = sampled.table("series")
    at = (series["hop"] == "R -> D") & (series["quantity"] == "queue_bytes")
    (line,) = [line for line in waits.lines if line.get_label() == "R -> D"]
    assert np.asarray(line.get_ydata()) == pytest.approx(series["value"][at] * 8 / 50e6 * 1e3)


def test_a_distribution_goes_through_what_is_recorded(sampled: Runs) -> None:
    (axes,) = plot.figure("cdf", sampled).axes
    lines = {str(line.get_label()): line for line in axes.lines}
    recorded = ["delay_p50_ms", "delay_p99_ms", "delay_p999_ms", "delay_max_ms"]
    of = {"class": "home", "colour": "unmarked"}
    expected = [float(sampled.values("arrivals", name, of)[()][0]) for name in recorded]
    packets = float(sampled.totals("arrivals", "delivered_packets", of)[()][0])
    line = lines["home"]
    assert np.asarray(line.get_xdata()) == pytest.approx(expected)
    assert np.asarray(line.get_ydata()) == pytest.approx([0.5, 0.01, 0.001, 1 / packets])
    assert axes.get_ylabel() == "longer delay, % of packets"


def test_a_distribution_has_a_step_at_every_recorded_delay() -> None:
    """The histograms of two replications are held against their counts and quantiles."""
    asked = {"scenario.delay-histogram": True}
    runs = Scenario.from_toml(ROOT / "examples" / "tutorial.toml", SHORT | asked).run(2)
    table, (axes,) = runs.table("delays"), plot.figure("cdf", runs).axes
    for line in axes.lines:
        row, colour = [*str(line.get_label()).rsplit(" ", 1), "unmarked"][:2]
        of = {"class": row, "colour": colour}
        rows = (table["class"] == row) & (table["colour"] == colour)
        delivered = runs.totals("arrivals", "delivered_packets", of)[()]
        assert table["packets"][rows].sum() == delivered.sum()
        delays, shares = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert (np.diff(delays) > 0).all()
        assert (np.diff(shares) < 0).all()
        assert shares[-1] == pytest.approx(0.0, abs=1e-12)
        for replication in (0, 1):
            one = rows & (table["replication"] == replication)
            above = np.cumsum(table["packets"][one]) >= 0.99 * table["packets"][one].sum()
            recorded = runs.values("arrivals", "delay_p99_ms", of)[()]
            assert table["delay_ms"][one][above][0] == recorded[replication]
        assert axes.get_ylim()[0] > 0


def test_a_box_is_from_the_median_to_99_per_cent(sampled: Runs) -> None:
    (axes,) = plot.figure("box", sampled).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    bar = axes.containers[names.index("home")][0]
    found = sampled.means("arrivals", "delay_p50_ms", {"class": "home", "colour": "unmarked"})[()]
    assert bar.get_x() == pytest.approx(found.mean)
    found = sampled.means("arrivals", "delay_p99_ms", {"class": "home", "colour": "unmarked"})[()]
    assert bar.get_x() + bar.get_width() == pytest.approx(found.mean)
    assert delays.EXCEEDED["delay_p99_ms"] == 0.01


def test_fonts_are_truetype_in_pdf_and_text_is_text_in_svg(tmp_path: Path, sampled: Runs) -> None:
    figure = plot.figure("delivered", sampled)
    for ending in ("pdf", "svg"):
        style.save(figure, tmp_path / f"x.{ending}")
    pdf = (tmp_path / "x.pdf").read_bytes()
    assert b"/CIDFontType2" in pdf
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    svg = (tmp_path / "x.svg").read_text()
    assert re.search(r"<text [^>]*>business</text>", svg)
    assert "DejaVu Sans" in svg
    assert ", sans-serif" in svg
