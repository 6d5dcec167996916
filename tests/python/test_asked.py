"""What is asked of results: names that exist, points told apart, intervals no narrower than what was measured."""

from __future__ import annotations

import math

import numpy as np
import pytest

from conftest import SCENARIO, Command
from perhop import Runs, Scenario, ScenarioError, _core, measured, paired, report, stats, units
from perhop.answer import answers
from perhop.reporting.tables import tabled


@pytest.mark.parametrize("name", ["class", "colour", "point", "mean", "n", "run", "loss_percent", "dropped_ns"])
def test_a_key_of_a_sweep_is_not_called_as_a_column(name: str) -> None:
    vary = [f'dumbbell.flows={{ values = [2, 4], as = "{name}" }}']
    with pytest.raises(ScenarioError, match=rf"E240.*`{name}`, and so is a column of results") as refused:
        Scenario.from_toml(SCENARIO, vary=vary)
    assert refused.value.diagnostics[0]["code"] == "E240"
    Scenario.from_toml(SCENARIO, vary=[vary[0].replace(f'"{name}"', '"load"')])


def test_every_verb_refuses_such_a_key(perhop: Command, tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "as.toml"
    path.write_text(SCENARIO + '[sweep]\n"dumbbell.flows" = { values = [2, 4], as = "class" }\n')
    for verb in (("check", path), ("sweep", path), ("run", path)):
        done = perhop(*verb)
        assert done.returncode == 2, (verb, done)
        for word in ("E240", "`class`", "summary.class", "arrivals.class", 'as = "NAME"'):
            assert word in done.stdout + done.stderr, (verb, done)


def test_points_are_not_pooled_in_silence(swept: Runs) -> None:
    for ask in (swept.values, swept.means, swept.totals):
        with pytest.raises(ValueError, match=r"4 points of the sweep .* name flows, marker in by=.*pooled\(\)"):
            ask("traffic", "goodput_bit_s")
        with pytest.raises(ValueError, match=r"2 points of the sweep .* for token-bucket: name flows in by="):
            ask("traffic", "goodput_bit_s", by=["marker"])
        assert list(ask("traffic", "goodput_bit_s", by=["marker", "dumbbell.flows"])) != []
    with pytest.raises(ValueError, match="points of the sweep"):
        swept.intervals("traffic", "goodput_bit_s", by=["marker"])
    together = swept.pooled().values("traffic", "goodput_bit_s", by=["marker"])
    assert {group: len(values) for group, values in together.items()} == {("token-bucket",): 4, ("pam",): 4}
    assert swept.pooled().means("traffic", "goodput_bit_s")[()].n == 8


def test_names_that_no_row_has_are_refused(runs: Runs) -> None:
    classes = list(dict.fromkeys(runs.table("traffic")["class"]))
    for ask in (runs.values, runs.means, runs.totals):
        with pytest.raises(ValueError, match=rf"no class is `buk`\n   help: .*{classes[0]}"):
            ask("traffic", "goodput_bit_s", {"class": "buk"})
        with pytest.raises(ValueError, match=r"no colour is `blue`\n   help: .*unmarked.*green"):
            ask("arrivals", "throughput_bit_s", {"colour": "blue"})
        with pytest.raises(ValueError, match=r"no flow is `99`\n   help: .*0, 1, 2, 3|0.*1.*2.*3"):
            ask("flows", "goodput_bit_s", {"flow": 99})
    assert runs.totals("arrivals", "throughput_bit_s", {"colour": "yellow"}) == {}, "a colour that none had"


@pytest.mark.parametrize(
    "measure",
    [
        "arrivals.delay_p99_ms",
        "arrivals.delay_mean_ms",
        "traffic.jain",
        "links.utilisation",
        "traffic.goodput_mean_bit_s",
    ],
)
def test_what_has_no_sum_is_not_summed(runs: Runs, measure: str) -> None:
    table, column = measure.split(".")
    with pytest.raises(ValueError, match=rf"{measure} cannot be summed"):
        runs.totals(table, column)


def test_sums_are_of_counts_and_rates(runs: Runs) -> None:
    for measure in ("summary.dropped_packets", "flows.goodput_bit_s", "flows.timeouts", "tallies.value"):
        table, column = measure.split(".")
        assert units.column(table, column).summed
    assert not units.column("series", "value").summed
    assert not units.column("transfers", "goodput_bit_s").summed


def test_an_interval_is_no_narrower_than_its_bucket() -> None:
    delay, wait = units.column("arrivals", "delay_p99_ms"), units.column("summary", "wait_p50_ms")
    same = measured.interval(delay, [8.290303] * 5)
    assert same.half == pytest.approx(0.032768)
    assert str(same) == "8.290 ±0.033"
    assert measured.interval(units.column("arrivals", "delay_max_ms"), [8.290303] * 5).half == 0
    assert measured.interval(units.column("flows", "goodput_bit_s"), [8.290303] * 5).half == 0
    spread = [8.290303, 8.323071, 8.290303]
    assert measured.interval(wait, spread).half == pytest.approx(stats.interval(spread).half + 0.032768)
    assert measured.difference(wait, spread, spread).half == pytest.approx(0.032768)
    assert math.isnan(measured.interval(wait, [8.290303]).half)


def test_the_interval_of_a_share_ends_at_its_bounds() -> None:
    lost = measured.interval(units.LOST, [76.92, 100.0])
    assert (lost.low, lost.high, lost.cut) == (0.0, 100.0, True)
    assert str(lost) == "88 [0, 100]"
    utilisation = units.column("links", "utilisation")
    assert str(measured.interval(utilisation, [0.9, 1.0]).scaled(utilisation.usual[1])) == "95 [31, 100]"
    assert not measured.interval(units.column("nodes", "used"), [1.2, 1.0]).cut, "what exceeds a bound has none"
    assert not measured.interval(units.column("traffic", "jain"), [0.5, 0.5]).cut


def test_the_interval_contains_what_the_exact_values_give() -> None:
    """Of quantiles of any size, rounded up to the end of their bucket: the interval of the exact values is inside."""
    drawn = np.random.default_rng(1)
    for n in (3, 5, 10):
        for _ in range(200):
            centre = 10 ** drawn.uniform(-1, 3)
            exact = centre * (1 + drawn.normal(0, 0.01, n))
            known = [_up(value) for value in exact]
            found, sure = measured.interval(units.DELAY, known), stats.interval(exact)
            slack = stats.interval(known).half - sure.half
            assert found.low <= sure.low + max(0.0, -slack)
            assert found.high >= sure.high - max(0.0, -slack)


def _up(value: float) -> float:
    """The end of its bucket, as the core has it: 128 to an octave from 131,072 ns on, 512 ns below."""
    ns = round(value * 1e6)
    width = 512 << max(0, ns.bit_length() - 17)
    return ((ns // width + 1) * width - 1) / 1e6


def test_means_and_frames_know_both(runs: Runs) -> None:
    for group, found in runs.means("arrivals", "delay_p99_ms", by=["class", "colour"]).items():
        values = runs.values("arrivals", "delay_p99_ms", by=["class", "colour"])[group]
        width = _core.known("arrivals", "delay_p99_ms", list(values))[0]
        assert width > 0
        assert found.half == pytest.approx(stats.interval(values).half + width)
    frame = runs.intervals("links", "utilisation")
    assert (frame["high"] <= 1).all()
    assert (frame["low"] >= 0).all()
    exact = runs.table("arrivals")
    assert (exact["delay_p999_ms"] <= exact["delay_max_ms"]).all()


L1 = """
[scenario]
name = "wire"
duration = "3s"
warmup = "1s"
replications = 2

[links]
"a - b" = { rate = "100Mbit/s", delay = "1ms" }

[conditioner.c]
at = "a -> b"
kind = "token-bucket"
cir = "2Mbit/s"
cbs = "10kB"
red = "drop"

[traffic.x]
model = "cbr"
rate = "1Mbit/s"
size = "100B"
from = "a"
to = "b"
"""


@pytest.mark.parametrize(("name", "rate"), [("l3", 1.0), ("l2", 1.14), ("l2+fcs", 1.18), ("l1", 1.38)])
def test_a_report_says_one_thing(name: str, rate: float) -> None:
    """Offered, delivered and contract in one unit, which the headings name; nothing is lost."""
    runs = Scenario.from_toml(L1, {"scenario.accounting": name}).run()
    (answer,) = answers(runs)
    assert answer.offered.mean == pytest.approx(rate * 1e6, rel=1e-3)
    assert answer.delivered.mean == pytest.approx(answer.offered.mean, rel=1e-3)
    assert answer.lost is not None
    assert answer.lost.mean == 0
    unit = "" if name == "l3" else f" ({name})"
    page = report.page(runs)
    assert page.answer.headings[1:5] == [
        f"{head}{unit}, Mbit/s" for head in ("contract", "offered", "delivered", "of it green")
    ]
    assert f"delivered{unit}, Mbit/s" in tabled(runs, "arrivals").headings
    assert "goodput, kbit/s" in tabled(runs, "traffic").headings
    assert runs.plot("delivered").axes[0].get_xlabel() == f"delivered{unit}, Mbit/s"
    assert runs.plot("arrivals.throughput_bit_s").axes[0].get_xlabel() == f"delivered{unit}, Mbit/s"
    assert units.headed(runs.points, units.column("traffic", "goodput_bit_s"), "") == "goodput"


def test_points_of_several_accountings_name_none() -> None:
    both = Scenario.from_toml(L1, vary=["scenario.accounting=l3,l1"]).run(1)
    assert units.counted(both.points) == ""
    offered = [round(answer.offered.mean / 1e4) for answer in answers(both)]
    assert offered == [100, 138]


def test_differences_know_their_buckets() -> None:
    """Two runs whose quantiles fall into the same buckets do not differ, and how surely is said."""
    a = Scenario.from_toml(L1).run()
    found = paired.differences(a, Scenario.from_toml(L1).run(), ["arrivals.delay_p50_ms"])
    assert all(d.difference is not None and d.difference.half > 0 and not d.differs for d in found)
