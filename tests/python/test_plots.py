"""What a plot looks like, from the boxes of what it draws: nothing cut off, nothing on top of something else."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import combinations, pairwise
from pathlib import Path
from weakref import WeakSet

import numpy as np
import pytest
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from conftest import ROOT, SCENARIO, Command
from perhop import Runs, Scenario, plot, report, stats, units
from perhop.plots import axis, delays, extent, grid, passed, style
from perhop.plots.choice import Choice
from perhop.plots.lines import Of
from perhop.plots.names import LONGEST, shortened
from perhop.plots.sheet import NATURAL, Left, Look, PlotRequest, Sheet, Worth, telling
from perhop.stats import Interval

SHORT = {"scenario.duration": "4s", "scenario.warmup": "1s", "scenario.sample": "100ms"}
EXAMPLES = (
    "af-queue",
    "strict-priority",
    "f-sam",
    "timed-change",
    "web",
    "msvb",
    "dumbbell",
    "tutorial",
    "pps-tagger",
    "telnet",
)
QUEUE = "conditioner.contract"
SWEEPS: dict[str, dict[str, list[object]]] = {
    "numbers": {f"{QUEUE}.cir": ["500kbit/s", "1Mbit/s", "2Mbit/s", "3Mbit/s"]},
    "decades": {"queue.af.limit": ["60p", "200p", "2000p", "20000p"]},
    "two axes": {f"{QUEUE}.cir": ["500kbit/s", "1Mbit/s"], "traffic.far.flows": [5, 20]},
    "names": {"queue.af.averages": ["separate", "common", "coupled"]},
    "two of names": {"queue.af.averages": ["separate", "coupled"], "conditioner.contract.pir": ["3Mbit/s"]},
}
ENDS = ("_", "|")
"""Markers of an interval's ends, which may lie beyond the axis."""
SLACK = 1.5
"""Pixels by which boxes may differ from what is drawn: antialiasing."""


@pytest.fixture(scope="module", params=[*EXAMPLES, *SWEEPS])
def shown(request: pytest.FixtureRequest) -> Runs:
    """Ten examples, and sweeps of several kinds."""
    if request.param in EXAMPLES:
        length = {} if request.param == "timed-change" else SHORT
        return Scenario.from_toml(ROOT / "examples" / f"{request.param}.toml", length).run(2)
    scenario = Scenario.from_toml(ROOT / "examples" / "af-queue.toml", SHORT)
    return scenario.sweep(SWEEPS[request.param], replications=2)


def figures(runs: Runs) -> dict[str, Figure]:
    """Every plot that the run has the data for."""
    found = {}
    for kind in plot.PLOTS:
        with suppress(ValueError):
            found[kind] = plot.figure(kind, runs)
    return found


@pytest.fixture(scope="module")
def drawn(shown: Runs) -> dict[str, Figure]:
    """Its plots, drawn once for all tests."""
    return figures(shown)


LAID_OUT: WeakSet[Figure] = WeakSet()


def laid_out(figure: Figure) -> FigureCanvasAgg:
    """The canvas of a figure that does not change any more."""
    if figure not in LAID_OUT:
        FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
        LAID_OUT.add(figure)
    assert isinstance(figure.canvas, FigureCanvasAgg)
    return figure.canvas


def labels(figure: Figure) -> list[Text]:
    """Titles, labels of axes and of ticks."""
    names = [t for a in figure.axes for t in (a.title, *a.texts, a.xaxis.label, a.yaxis.label)]
    left = [a._left_title for a in figure.axes if hasattr(a, "_left_title")]
    ticks = [label for axes in figure.axes for side in (axes.xaxis, axes.yaxis) for label in ticked(side)]
    return [text for text in [*names, *left, *ticks, *heads(figure)] if text.get_text()]


def ticked(side: Axis) -> list[Text]:
    """The labels of the ticks that are drawn: matplotlib also makes some beyond the limits."""
    low, high = sorted(side.get_view_interval())
    slack = 1e-9 * (high - low)
    every = [tick for tick in side.get_major_ticks() if low - slack <= tick.get_loc() <= high + slack]
    return [tick.label1 for tick in every if tick.label1.get_visible() and tick.label1.get_text()]


def heads(figure: Figure) -> list[Text]:
    """The figure's own title: texts of it that are not of a panel or a legend."""
    return [t for t in figure.get_children() if isinstance(t, Text) and t.get_text()]


def check(kind: str, figure: Figure) -> None:
    """Raises an error for anything cut off or overlapping."""
    renderer = laid_out(figure).get_renderer()  # type: ignore[no-untyped-call]
    page = Bbox.from_bounds(-SLACK, -SLACK, figure.bbox.width + 2 * SLACK, figure.bbox.height + 2 * SLACK)
    for text in labels(figure):
        box = text.get_window_extent(renderer)
        assert page.x0 <= box.x0, f"{kind}: `{text.get_text()}` is cut off"
        assert page.y0 <= box.y0, f"{kind}: `{text.get_text()}` is cut off"
        assert box.x1 <= page.x1, f"{kind}: `{text.get_text()}` is cut off"
        assert box.y1 <= page.y1, f"{kind}: `{text.get_text()}` is cut off"
    for legend in figure.legends:
        box = legend.get_window_extent(renderer)
        assert page.contains(box.x0, box.y0), f"{kind}: the legend is cut off"
        assert page.contains(box.x1, box.y1), f"{kind}: the legend is cut off"
        for axes in figure.axes:
            assert not box.overlaps(axes.get_window_extent(renderer)), f"{kind}: the legend covers a panel"
        assert not any(box.overlaps(t.get_window_extent(renderer)) for t in heads(figure)), f"{kind}: legend on title"
    for axes in figure.axes:
        assert not axes.get_legend(), f"{kind}: a legend inside a panel"
        for ticks in (ticked(axes.xaxis), ticked(axes.yaxis)):
            boxes = [t.get_window_extent(renderer) for t in ticks]
            for one, other in pairwise(boxes):
                assert not one.overlaps(other), f"{kind}: labels of ticks overlap: {[t.get_text() for t in ticks]}"


def test_nothing_is_cut_off_and_the_legend_is_outside(drawn: dict[str, Figure]) -> None:
    assert {"delivered", "throughput", "delay"} <= drawn.keys()
    for kind, figure in drawn.items():
        check(kind, figure)


def test_what_is_drawn_is_within_the_panels(drawn: dict[str, Figure]) -> None:
    for kind, figure in drawn.items():
        laid_out(figure)
        for axes in figure.axes:
            low, high = sorted(axes.get_ylim())
            for line in axes.lines:
                if line.get_marker() in ENDS:
                    continue
                ys = np.asarray(line.get_ydata(orig=False), dtype=float)
                assert np.all((low <= ys) & (ys <= high) | np.isnan(ys)), f"{kind}: a line leaves its panel"


def test_names_in_the_legend_are_short_and_different(drawn: dict[str, Figure]) -> None:
    for kind, figure in drawn.items():
        for legend in figure.legends:
            texts = [text.get_text() for text in legend.get_texts()]
            assert len(set(texts)) == len(texts), f"{kind}: {texts}"
            assert all(len(text) <= LONGEST + 8 for text in texts), f"{kind}: {texts}"


def test_long_names_and_odd_signs_fit() -> None:
    name = "a very long name of a class that goes on and on, and has $dollars$ and _ and \u202e in it"
    text = (ROOT / "examples" / "af-queue.toml").read_text()
    text = text.replace("[traffic.near]", f'[traffic."{name} 1"]').replace("[traffic.far]", f'[traffic."{name} 2"]')
    runs = Scenario.from_toml(text, SHORT).run(1)
    for kind, figure in figures(runs).items():
        check(kind, figure)


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["token-bucket, cbs 5kB", "token-bucket, cbs 9kB"], ["5kB", "9kB"]),
        (["E1 -> C: near", "E1 -> C: far", "E1 -> C: near"], ["near", "far", "near"]),
        (["gold green", "silver green"], ["gold", "silver"]),
        (["near, 1Mbit/s", "near, 5Mbit/s"], ["1Mbit/s", "5Mbit/s"]),
        (["runs/a/one", "runs/a/two"], ["one", "two"]),
        (["1.5Mbit/s", "1.7Mbit/s"], ["1.5Mbit/s", "1.7Mbit/s"]),
        (["cbs 1/2", "cbs 1/3"], ["1/2", "1/3"]),
        (["cbs 5 kB", "cbs 9 kB"], ["5 kB", "9 kB"]),
        (["5 kB", "5 MB"], ["5 kB", "5 MB"]),
        (["2.5 Mbit/s, red", "10 Mbit/s, red"], ["2.5 Mbit/s", "10 Mbit/s"]),
        (["1:10", "1:20"], ["1:10", "1:20"]),
        (["only one"], ["only one"]),
        (["a", "a b"], ["a", "a b"]),
        ([], []),
    ],
)
def test_common_words_are_removed(names: list[str], short: list[str]) -> None:
    assert shortened(names) == short


def test_shortened_names_stay_different() -> None:
    names = [f"{'x' * 40}{i}{'y' * 40}" for i in range(30)]
    short = shortened(names)
    assert all(a != b for a, b in combinations(short, 2))
    assert max(map(len, short)) <= LONGEST + 6


def test_numbers_of_one_dimension_share_an_axis() -> None:
    found = axis.numeric_axis("conditioner.gold.cir", ["2Mbit/s", "500kbit/s", "1Mbit/s"])
    assert found is not None
    assert found.label == "cir, Mbit/s"
    assert found.numbers == {"2Mbit/s": 2.0, "500kbit/s": 0.5, "1Mbit/s": 1.0}
    bits = axis.numeric_axis("bottleneck", ["900kbps", "5Mbps", "10Mbps"])
    assert bits is not None
    assert (bits.label, bits.numbers) == ("bottleneck, Mbps", {"900kbps": 0.9, "5Mbps": 5.0, "10Mbps": 10.0})
    mixed = axis.numeric_axis("stop", ["90s", "1min", "0.5h"])
    assert mixed is not None
    assert mixed.label == "stop, h"
    assert list(mixed.numbers.values()) == pytest.approx([0.025, 1 / 60, 0.5])
    assert axis.numeric_axis("k", ["5 users", "10 users"]) is not None, "a unit of its own"
    assert axis.numeric_axis("k", ["5kB", "5ms"]) is None
    assert axis.numeric_axis("k", ["5", "pam"]) is None
    assert axis.numeric_axis("k", ["1kB", "1000B"]) is None, "two labels at one position"


def test_a_wide_range_is_logarithmic() -> None:
    found = axis.numeric_axis("queue.af.limit", ["10p", "100p", "1000p"])
    assert found is not None
    assert found.logarithmic
    narrow = axis.numeric_axis("queue.af.limit", ["10p", "20p", "30p"])
    assert narrow is not None
    assert not narrow.logarithmic


def test_a_logarithmic_axis_says_so() -> None:
    scenario = Scenario.from_toml(ROOT / "examples" / "af-queue.toml", SHORT)
    limits = {"decades": ["60p", "600p", "6000p"], "narrow": ["60p", "70p", "80p"]}
    said = {}
    for name, values in limits.items():
        runs = scenario.sweep({"queue.af.limit": values}, replications=1)
        choice = plot.figure("summary.dropped_packets", runs, "limit", ["class"])
        said[name] = {axes.get_xlabel() for figure in (plot.figure("delivered", runs), choice) for axes in figure.axes}
    assert said == {"decades": {"limit, packets (log scale)"}, "narrow": {"limit, packets"}}


def test_stated_labels_keep_their_units_in_the_legend() -> None:
    scenario = Scenario.from_toml(ROOT / "examples" / "af-queue.toml", SHORT)
    labels = ["1 Mbit/s", "2 Mbit/s"]
    axes = {f"{QUEUE}.cir": {"values": ["1Mbit/s", "2Mbit/s"], "labels": labels}, "traffic.far.flows": [5, 10, 20]}
    figure = plot.figure("traffic.goodput_bit_s", scenario.sweep(axes, replications=1), "flows", ["cir"])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == labels


def test_the_delivered_bars_are_the_means(tmp_path: Path) -> None:
    runs = Scenario.from_toml(ROOT / "examples" / "af-queue.toml", SHORT).run(2)
    (axes,) = plot.figure("delivered", runs).axes
    tops = {bars.get_label(): [bar.get_width() for bar in bars] for bars in axes.containers}
    means = runs.means("arrivals", "throughput_bit_s", by=["class", "colour"])
    for colour in ("green", "yellow", "red"):
        expected = [means[c, colour].mean / 1e6 for c in ("near", "far")]
        assert tops[colour] == pytest.approx(expected)


@pytest.fixture(scope="module")
def swept_cir() -> Runs:
    scenario = Scenario.from_toml(ROOT / "examples" / "af-queue.toml", SHORT)
    return scenario.sweep(SWEEPS["two axes"], replications=2)


CHOICES: dict[str, tuple[Choice, str, set[str]]] = {
    "the swept numbers by default": (
        Choice("arrivals.throughput_bit_s", by=["class", "colour", "traffic.far.flows"]),
        "cir, Mbit/s",
        {f"{c}, {k}, {n}" for c in ("near", "far") for k in ("green", "yellow", "red") for n in (5, 20)},
    ),
    "counts are summed over the rest": (
        Choice("summary.dropped_packets", "flows", ["class", "cir"]),
        "flows",
        {f"{c}, {r}" for c in ("near", "far") for r in ("500kbit/s", "1Mbit/s")},
    ),
    "names along x": (Choice("arrivals.delay_p99_ms", "colour", ["class"]), "delay p99, ms", {"near", "far"}),
    "flows are numbers": (Choice("flows.goodput_bit_s", "flow", ["traffic"]), "flow", {"near", "far"}),
}


@pytest.mark.parametrize("name", list(CHOICES))
def test_any_column_along_any_key(swept_cir: Runs, name: str) -> None:
    choice, along, lines = CHOICES[name]
    figure = plot.figure(choice.y, swept_cir, choice.x, choice.by)
    check(name, figure)
    assert {axes.get_xlabel() for axes in figure.axes} == {along}
    assert {text.get_text() for text in figure.legends[0].get_texts()} == lines


def test_many_lines_look_different() -> None:
    looks = [grid.look_of(i, "", "-") for i in range(grid.MOST_LINES)]
    assert len({(look["color"], look["marker"], look["linestyle"]) for look in looks}) == grid.MOST_LINES
    assert len({(look["color"], look["marker"]) for look in looks}) == grid.MOST_LINES


def test_panels_say_which_value_of_which_key(swept_cir: Runs) -> None:
    figure = plot.figure("summary.dropped_packets", swept_cir, "colour", ["class", "cir"])
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["flows 5", "flows 20"]


def test_a_chosen_plot_shows_the_means(swept_cir: Runs) -> None:
    figure = plot.figure("summary.dropped_packets", swept_cir, "cir", "flows")
    (axes,) = figure.axes
    expected = {
        flows: [
            stats.interval(swept_cir.totals("summary", "dropped_packets", {"flows": flows, "cir": cir})[()]).mean
            for cir in ("500kbit/s", "1Mbit/s")
        ]
        for flows in ("5", "20")
    }
    _, names = axes.get_legend_handles_labels()
    ys = [container[0].get_ydata() for container in axes.containers]
    drawn = {name: [float(y) for y in line] for line, name in zip(ys, names, strict=True)}
    assert drawn == {flows: pytest.approx(means) for flows, means in expected.items()}


WRONG: dict[str, tuple[Choice, str]] = {
    "table": (Choice("arrival.delay_p99_ms"), "TABLE one of summary, arrivals"),
    "column": (Choice("arrivals.delay_p98_ms"), "did you mean `delay_p9"),
    "x": (Choice("arrivals.delay_p99_ms", "size"), "x size: no such key; there are cir, flows, class, colour"),
    "by": (Choice("arrivals.delay_p99_ms", by=["size"]), "by size: no such key"),
    "both": (Choice("arrivals.delay_p99_ms", "class", ["class"]), "`class` already runs along x"),
    "too many": (
        Choice("flows.goodput_bit_s", "cir", ["flow", "traffic"]),
        "30 lines are too many to read: a picture has 16 at most: choose some of them, as in `runs.where({'flow'",
    ),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_a_wrong_choice_says_what_there_is(swept_cir: Runs, name: str) -> None:
    choice, said = WRONG[name]
    with pytest.raises(ValueError, match=re.escape(said)):
        plot.figure(choice.y, swept_cir, choice.x, choice.by)


def test_a_plot_with_a_name_has_its_own_axes(swept_cir: Runs) -> None:
    with pytest.raises(ValueError, match="x and by are for a TABLE"):
        plot.figure("delay", swept_cir, x="cir")
    with pytest.raises(ValueError, match="no plot `delays`"):
        plot.figure("delays", swept_cir)


def test_the_command_line_draws_any_column(tmp_path: Path, perhop: Command) -> None:
    Scenario.from_toml(SCENARIO).sweep({"dumbbell.flows": [2, 10]}, replications=1, out=tmp_path)
    listed = perhop("plot", "small", "--list").stdout.splitlines()
    assert "--y arrivals.delay_p99_ms" in listed
    done = perhop("plot", "small", "--y", "arrivals.delay_p99_ms", "--x", "flows", "--by", "class,colour")
    assert (done.returncode, done.stdout) == (0, "arrivals.delay_p99_ms.svg\n"), done.stderr
    assert (tmp_path / "arrivals.delay_p99_ms.svg").read_text().startswith("<?xml")
    assert perhop("plot", "small", "--x", "flows").returncode == 2
    assert perhop("plot", "small", "--kind", "delay", "--y", "traffic.jain").returncode == 2


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
    (head,) = heads(figure)
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


def test_the_most_telling_rows_are_shown_with_all_their_colours_in_order() -> None:
    names = [f"c{i}" for i in range(10)]
    worth: Worth = {
        (name, colour): float(i * (colour == "red")) for i, name in enumerate(names) for colour in ("green", "red")
    }
    rows, left = telling(worth, ["class", "colour"], 6, "those with the most")
    assert rows == [(name, colour) for name in ("c7", "c8", "c9") for colour in ("green", "red")]
    assert left == [Left("class", ["c7", "c8", "c9"], names[:7], "those with the most")]
    assert left[0].said == "3 of 10 classes, those with the most"


def test_of_one_value_that_has_too_many_rows_some_are_shown() -> None:
    worth: Worth = {("a", colour): float(i) for i, colour in enumerate("wxyz")}
    rows, left = telling(worth, ["class", "colour"], 2, "rule")
    assert rows == [("a", "y"), ("a", "z")]
    assert [of.key for of in left] == ["colour"]


def test_points_are_evenly_spaced_from_the_first_to_the_last() -> None:
    scenario = Scenario.from_toml(SCENARIO, {"scenario.duration": "1500ms"})
    runs = scenario.sweep({"dumbbell.flows": list(range(1, 14)), "queue.rio.limit": ["40p", "80p"]}, replications=1)
    sheet = Sheet(asked=PlotRequest("cdf"))
    plot.drawn(runs, sheet)
    (left,) = sheet.left
    assert (left.key, left.kept) == ("dumbbell.flows", ["1", "5", "9", "13"])
    assert sheet.notes[0].said == "4 of 13 values of flows, evenly spaced"


DELAY, RATE = units.COLUMNS["arrivals", "delay_p99_ms"], units.COLUMNS["traffic", "goodput_bit_s"]


def means(*values: float) -> dict[str, list[Interval]]:
    return {"far": [Interval(value, value, value, 3) for value in values]}


def test_times_far_apart_have_a_logarithmic_axis() -> None:
    found = extent.of_means(DELAY, means(5.0, 100.0), NATURAL)
    assert found.logarithmic
    assert 4.0 <= found.low < 5.0
    assert 100.0 < found.high <= 125.0
    assert not extent.of_means(DELAY, means(5.1, 100.0), NATURAL).logarithmic
    assert not extent.of_means(DELAY, means(0.0, 100.0), NATURAL).logarithmic
    assert not extent.of_means(RATE, means(5.0, 1000.0), NATURAL).logarithmic
    assert extent.of_means(RATE, means(5.0, 6.0), Look(log_y=True)).logarithmic


def test_means_and_not_their_intervals_make_an_axis() -> None:
    found = extent.of_means(DELAY, {"a": [Interval(10.0, -990.0, 1010.0, 2)], "b": means(20.0)["far"]}, NATURAL)
    assert -5.0 < found.low <= 0.0
    assert 20.0 < found.high < 40.0


def test_a_class_that_waits_a_second_leaves_the_others_legible() -> None:
    scenario = Scenario.from_toml(customers(), {f'links."c{CUSTOMERS - 1} - R".delay': "1s"})
    runs = scenario.run(1)
    for kind in ("delay", "box", "cdf"):
        for axes in plot.figure(kind, runs).axes:
            assert (axes.get_xscale(), "(log scale)" in axes.get_xlabel()) == ("log", True), kind


def test_panels_of_a_quantity_share_their_axis(swept_cir: Runs) -> None:
    axes = plot.figure("throughput", swept_cir).axes
    assert len(axes) == 4
    assert axes[0].get_ylim() == axes[2].get_ylim() != axes[1].get_ylim() == axes[3].get_ylim()


def test_a_logarithmic_axis_has_no_zero(swept_cir: Runs) -> None:
    with pytest.raises(ValueError, match=r"^log-y: dropped of .* is 0 somewhere, and a logarithmic axis has no zero"):
        plot.figure("summary.dropped_packets", swept_cir, "cir", ["class", "flows", "colour"], Look(log_y=True))
    with pytest.raises(ValueError, match="log-y: parts that are stacked"):
        plot.figure("delivered", swept_cir, look=Look(log_y=True))
    figure = plot.figure("throughput", swept_cir, look=Look(log_y=True))
    assert {(axes.get_yscale(), "(log scale)" in axes.get_ylabel().replace("\n", " ")) for axes in figure.axes} == {
        ("log", True)
    }


SIZES = {
    "no width": ({"width": 0.0}, "width 0.0: a picture's width is 2.5 to 30 inches"),
    "no number": ({"width": float("nan")}, "width nan: a picture's width is 2.5 to 30 inches"),
    "too wide": ({"width": 31.0}, "width 31.0: a picture's width is 2.5 to 30 inches"),
    "too low": ({"height": 1.0}, "height 1.0: a picture's height is 1.5 to 60 inches"),
}


@pytest.mark.parametrize("name", list(SIZES))
def test_a_size_has_bounds(name: str) -> None:
    size, said = SIZES[name]
    with pytest.raises(ValueError, match=re.escape(said)):
        Look(**size)  # type: ignore[arg-type]


def test_a_size_is_kept_and_one_for_too_many_panels_is_refused(swept_cir: Runs) -> None:
    figure = plot.figure("delivered", swept_cir, look=Look(width=6.5, height=4.0))
    assert (figure.get_figwidth(), figure.get_figheight()) == (6.5, 4.0)
    with pytest.raises(ValueError, match=r"height 1\.5: 9 rows of panels need 6\.0 inches"):
        plot.figure("delay", swept_cir, look=Look(width=3.5, height=1.5))


@pytest.mark.parametrize("name", ["tutorial", "af-queue", "f-sam", "fq-codel"])
def test_a_column_of_a_paper_is_wide_enough(name: str) -> None:
    runs = Scenario.from_toml(ROOT / "examples" / f"{name}.toml", SHORT).run(2)
    for kind in plot.PLOTS:
        with suppress(ValueError):
            figure = plot.figure(kind, runs, look=Look(title="", width=3.5))
            check(kind, figure)
            assert heads(figure) == []
            assert all(axes.bbox.width > 40 for axes in figure.axes), f"{kind}: a panel that shows nothing"


def test_a_title_stands_in_place_of_the_words(swept_cir: Runs) -> None:
    (head,) = heads(plot.figure("delivered", swept_cir, look=Look(title="The uplink")))
    assert head.get_text() == "The uplink"


def test_titles_have_words_and_no_names_of_columns(swept_cir: Runs) -> None:
    (head,) = heads(plot.figure("arrivals.delay_p99_ms", swept_cir, f"{QUEUE}.cir", ["class", "colour", "flows"]))
    said = head.get_text().replace("\n", " ")
    assert said == "af-queue delay p99 along cir, by class and colour and flows: mean and 95 % interval"


def test_an_illegible_choice_names_a_command_for_a_legible_one(swept_cir: Runs) -> None:
    asked = PlotRequest("flows.goodput_bit_s", "cir", ["flow", "traffic"], ["runs/af-queue"])
    with pytest.raises(ValueError, match="30 lines are too many to read") as said:
        plot.drawn(swept_cir, Sheet(asked=asked))
    command = "perhop plot runs/af-queue --y flows.goodput_bit_s --x cir --by flow,traffic --where flow="
    assert command in str(said.value)
    where = re.search(r"--where (\S+?)`", str(said.value))
    assert where is not None
    plot.drawn(swept_cir.where([where[1]]), Sheet(asked=asked))


def test_a_recommended_command_keeps_what_was_chosen_before() -> None:
    asked = PlotRequest("delay", directories=["runs/a"], where=["class=a,b,c", "cir=5Mbit/s"])
    command = "perhop plot runs/a --kind delay --where cir=5Mbit/s --where class=c"
    assert asked.again({"class": ["c"]}) == command


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


def test_the_default_plot_is_delivered(tmp_path: Path, perhop: Command) -> None:
    Scenario.from_toml(SCENARIO).run(1, out=tmp_path)
    done = perhop("plot", "small", "--width", "3.5", "--title", "Small", "-o", "x.svg")
    assert (done.returncode, done.stdout) == (0, "x.svg\n"), done.stderr
    svg = (tmp_path / "x.svg").read_text()
    assert 'width="252pt"' in svg
    assert ">Small</text>" in svg
    assert ">delivered, Mbit/s</text>" in svg
    done = perhop("plot", "small", "--width", "0")
    assert (done.returncode, done.stderr) == (2, "error: width 0.0: a picture's width is 2.5 to 30 inches\n")
    assert perhop("plot", "small", "--height", "inf").returncode == 2
