"""`plot`, `report` and `compare` on any run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from conftest import SCENARIO, SWEPT, Command
from perhop import Runs, Scenario, paired, plot, stats
from perhop.__main__ import main
from perhop.plots import axis
from perhop.stats import Interval

SERIES = {"scenario.sample": "100ms"}


@pytest.fixture(scope="module")
def sampled() -> Runs:
    return Scenario.from_toml(SCENARIO, SERIES).run(2)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the run `small`."""
    folder = tmp_path_factory.mktemp("kept")
    Scenario.from_toml(SCENARIO, SERIES).run(2, out=folder)
    return folder


@pytest.mark.parametrize("kind", list(plot.PLOTS))
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_every_plot_in_every_format(
    kept: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], kind: str, ending: str
) -> None:
    monkeypatch.chdir(kept)
    code = main(["perhop", "plot", "small", "--kind", kind, "-o", f"{kind}.{ending}"])
    assert (code, *capfd.readouterr()) == (0, f"{kind}.{ending}\n", "")
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    assert (kept / f"{kind}.{ending}").read_bytes().startswith(start)


@pytest.mark.parametrize("kind", ["throughput", "fairness", "delay", "colours", "drops"])
def test_every_plot_of_a_sweep(swept: Runs, kind: str) -> None:
    figure = plot.figure(kind, swept)
    lines = {text.get_text() for text in figure.legends[0].get_texts()}
    assert lines == {"token-bucket", "pam"}
    assert all(axes.get_xlabel() == "flows" for axes in figure.axes)


def test_a_plot_shows_the_means(runs: Runs) -> None:
    axes = plot.figure("throughput", runs).axes[0]
    drawn = [float(x) for container in axes.containers for x in container[0].get_xdata()]
    expected = runs.means("traffic", "goodput_bit_s", by=["traffic"])
    assert drawn == pytest.approx([estimate.mean / 1e6 for estimate in expected.values()])


def test_colours_add_up_to_all_packets(runs: Runs) -> None:
    axes = plot.figure("colours", runs).axes[0]
    tops = np.sum([[bar.get_width() for bar in bars] for bars in axes.containers], axis=0)
    np.testing.assert_allclose(tops, 100.0)


def test_queues_and_buckets_over_time(sampled: Runs) -> None:
    queue, bucket = plot.figure("queue", sampled).axes[0], plot.figure("bucket", sampled).axes[0]
    assert [str(line.get_label()) for line in bucket.lines] == ["marker: bucket"]
    assert bucket.get_title(loc="left") == "E1 -> E2"
    assert bucket.get_ylabel() == "tokens, kB"
    assert max(line.get_ydata().max() for line in bucket.lines) <= 20  # type: ignore[union-attr]
    assert any("queue" in str(line.get_label()) for line in queue.lines)
    assert float(queue.lines[0].get_xdata()[-1]) == 6.0  # type: ignore[index, arg-type]


def test_plots_are_listed(perhop: Command) -> None:
    done = perhop("plot", "--list")
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(plot.PLOTS)


@pytest.mark.parametrize(
    ("text", "number"), [("5Mbit/s", (5.0, "Mbit/s")), ("1e3", (1000.0, "")), ("-2.5 ms", (-2.5, "ms")), ("pam", None)]
)
def test_numbers_of_an_axis(text: str, number: tuple[float, str] | None) -> None:
    read = axis.read(text)
    assert (read and (read[0] / read[3], read[2])) == number


def test_differences_by_hand(runs: Runs) -> None:
    other = Scenario.from_toml(SCENARIO, {"dumbbell.flows": 8}).run()
    found = {d.row: d for d in paired.differences(runs, other, ["traffic.goodput_mean_bit_s"])}
    a, b = (r.values("traffic", "goodput_mean_bit_s")[()] for r in (runs, other))
    (difference,) = found.values()
    assert difference.difference == stats.interval(y - x for x, y in zip(a, b, strict=True))
    assert difference.differs
    assert difference.difference.below(0.0)


def test_a_run_does_not_differ_from_itself(runs: Runs) -> None:
    found = paired.differences(runs, runs)
    assert found
    assert {d.difference.mean for d in found if d.difference} == {0.0}
    assert set(paired.marks(found)) == {""}


def test_holm_takes_stars_away() -> None:
    def row(p: float) -> paired.Difference:
        return paired.Difference("m", "", "r", None, None, Interval(1.0, 0.5, 1.5, 3), p)

    assert paired.marks([row(0.04)]) == ["**"]
    assert paired.marks([row(0.04), row(0.04)]) == ["*", "*"]


UNPAIRED: dict[str, tuple[list[object], str]] = {
    "seed": (["--seed", 2], "seed 1 against seed 2"),
    "replications": (["--replications", 2], "different replications"),
    "duration": (["--duration", "7s"], "duration 6s against duration 7s"),
    "accounting": (["-s", "scenario.accounting=l2"], "accounting l3 against accounting l2"),
}


@pytest.mark.parametrize("name", list(UNPAIRED))
def test_what_is_not_a_pair_is_refused(perhop: Command, scenario_file: Path, name: str) -> None:
    arguments, said = UNPAIRED[name]
    assert perhop("run", scenario_file, "--out", "a").returncode == 0
    assert perhop("run", scenario_file, "--out", "b", *arguments).returncode == 0
    done = perhop("compare", "a", "b")
    assert done.returncode == 2
    assert said in done.stderr


def test_compare_as_a_table_and_as_json(perhop: Command, scenario_file: Path) -> None:
    assert perhop("run", scenario_file, "--out", "a").returncode == 0
    assert perhop("run", scenario_file, "--out", "b", "-s", "dumbbell.flows=8").returncode == 0
    table = perhop("compare", "a", "b")
    assert table.returncode == 0, table.stderr
    assert "goodput per flow, kbit/s" in table.stdout
    assert "seed 1, 3 pairs" in table.stdout
    records = json.loads(perhop("compare", "a", "b", "--json", "--metric", "traffic.jain").stdout)
    assert [r["metric"] for r in records] == ["traffic.jain"]
    assert records[0]["difference"]["n"] == 3


def test_a_sweep_against_another(tmp_path: Path, perhop: Command) -> None:
    for name, flows in (("a", "2"), ("b", "3")):
        text = SCENARIO + SWEPT.replace("[2, 10]", f"[{flows}, 10]")
        Scenario.from_toml(text).run(2, out=tmp_path / name)
    done = perhop("compare", "a", "b")
    assert done.returncode == 2
    assert "sweep different points" in done.stderr


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Interval(3.50612, 3.4, 3.6, 3), "3.51 ±0.10"),
        (Interval(1.0, 1.0, 1.0, 3), "1.000 ±0"),
        (Interval(2.5, float("nan"), float("nan"), 1), "2.500"),
        (Interval(float("nan"), float("nan"), float("nan"), 0), "-"),
        (Interval(123456.0, 123400.0, 123512.0, 3), "123456 ±56"),
        (Interval(6.275e-3, 6.269654e-3, 6.280346e-3, 3), "0.0062750 ±0.0000053"),
        (Interval(8.159, 8.15899, 8.15901, 3), "8.159000 ±0.000010"),
        (Interval(12345678.0, 12340000.0, 12351356.0, 3), "12345700 ±5700"),
        (Interval(0.02, -1.0, 1.04, 3), "0.0 ±1.0"),
        (Interval(0.0, 0.0, 0.0, 3), "0 ±0"),
        (Interval(88.46, 0.0, 100.0, 3, cut=True), "88 [0, 100]"),
    ],
)
def test_estimates_have_the_digits_they_deserve(value: Interval, shown: str) -> None:
    assert str(value) == shown
