"""What a plot looks like, from the boxes of what it draws: nothing cut off, nothing on top of something else."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from conftest import ROOT, SCENARIO, Command
from layout import check, headings, laid_out
from perhop import Runs, Scenario, plot, stats, units
from perhop.plots import axis, extent, grid
from perhop.plots.choice import Choice
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
            assert headings(figure) == []
            assert all(axes.bbox.width > 40 for axes in figure.axes), f"{kind}: a panel that shows nothing"


def test_a_title_stands_in_place_of_the_words(swept_cir: Runs) -> None:
    (head,) = headings(plot.figure("delivered", swept_cir, look=Look(title="The uplink")))
    assert head.get_text() == "The uplink"


def test_titles_have_words_and_no_names_of_columns(swept_cir: Runs) -> None:
    (head,) = headings(plot.figure("arrivals.delay_p99_ms", swept_cir, f"{QUEUE}.cir", ["class", "colour", "flows"]))
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
