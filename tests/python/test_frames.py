"""Results as data frames, intervals, pictures and what a notebook shows."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from importlib import util
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from conftest import SCENARIO
from perhop import Interval, Runs, Scenario, frames, printed, stats
from perhop.columns import Point


@pytest.fixture(scope="module")
def rates() -> Runs:
    return Scenario.from_toml(SCENARIO, vary=["dumbbell.marker.cir=300kbit/s,1Mbit/s", "dumbbell.flows=2,10"]).run(2)


@pytest.mark.parametrize("table", ["summary", "flows", "arrivals", "tallies"])
def test_both_engines_hold_the_same(rates: Runs, table: str) -> None:
    if table not in rates.tables:
        assert table == "tallies"
        return
    columns, pandas, polars = rates.table(table), rates.df(table, "pandas"), rates.df(table, "polars")
    assert isinstance(pandas, pd.DataFrame)
    assert isinstance(polars, pl.DataFrame)
    assert list(pandas.columns) == polars.columns
    assert [name for name in polars.columns if name in columns] == list(columns)
    for name, column in columns.items():
        if column.dtype == object:
            assert polars[name].dtype in (pl.String, pl.Null)
            assert polars[name].to_list() == list(pandas[name].where(pandas[name].notna(), None)) == list(column)
        else:
            np.testing.assert_array_equal(polars[name].cast(pl.Float64).fill_null(np.nan).to_numpy(), column)
            np.testing.assert_array_equal(pandas[name].to_numpy(), column)


def test_swept_quantities_are_numbers_beside_their_labels(rates: Runs) -> None:
    df = rates.df("arrivals", "polars")
    assert df.columns[:6] == ["dumbbell.marker.cir", "cir_bit_s", "dumbbell.flows", "flows", "point", "replication"]
    pairs = set(df.select("dumbbell.marker.cir", "cir_bit_s").iter_rows())
    assert pairs == {("300kbit/s", 3e5), ("1Mbit/s", 1e6)}
    traffic = rates.df("traffic", "polars")
    assert "dumbbell_flows" in traffic.columns, "this table has a column `flows`"
    assert set(traffic["dumbbell_flows"]) == {2.0, 10.0}


def points(**labels: list[str]) -> list[Point]:
    return [Point(dict(zip(labels, row, strict=True)), "", "") for row in zip(*labels.values(), strict=True)]


def test_which_axes_are_numbers() -> None:
    found = frames.numeric(points(cbs=["62.5kB", "5kB"], at=["10ms", "2s"], mixed=["5ms", "5p"], kind=["pam", "1p"]))
    assert [(n.key, n.ending, list(n.values.values())) for n in found] == [
        ("cbs", "bytes", [62500.0, 5000.0]),
        ("at", "s", [0.01, 2.0]),
    ]
    named = [replace(p, effective=f'[a]\nk-x = "{i}p"\n') for i, p in enumerate(points(**{"a.k-x": ["few", "many"]}))]
    (number,) = frames.numeric(named)
    assert (number.column(()), number.values) == ("k_x_packets", {"few": 0.0, "many": 1.0})


def test_two_axes_with_the_same_last_part_have_whole_names() -> None:
    both = points(**{"a.cir": ["1Mbit/s"], "b.cir": ["2Mbit/s"]})
    table = {"a.cir": np.array(["1Mbit/s"], object), "b.cir": np.array(["2Mbit/s"], object)}
    assert list(frames.with_numbers(frames.Frame(table), both)) == ["a.cir", "a_cir_bit_s", "b.cir", "b_cir_bit_s"]


def test_intervals_are_those_of_the_means(rates: Runs) -> None:
    frame = rates.intervals("traffic", "goodput_bit_s")
    assert list(frame) == [
        *("dumbbell.marker.cir", "cir_bit_s", "dumbbell.flows", "flows", "traffic"),
        *("mean", "half_width", "low", "high", "n"),
    ]
    means = rates.means("traffic", "goodput_bit_s", by=["cir", "dumbbell.flows", "traffic"])
    for i, (group, mean) in enumerate(means.items()):
        assert tuple(frame[key][i] for key in ("dumbbell.marker.cir", "dumbbell.flows", "traffic")) == group
        assert (frame["mean"][i], frame["half_width"][i], frame["n"][i]) == (mean.mean, mean.half, mean.n)
    assert frame.rows == len(means) == 4
    assert list(frame.df("pandas").columns) == list(frame)


def test_one_key_needs_no_list(rates: Runs) -> None:
    pooled = rates.pooled()
    assert list(pooled.totals("flows", "timeouts", by="cir")) == [("300kbit/s",), ("1Mbit/s",)]
    asked = rates.where(cir="1Mbit/s", flows=2, colour="green")
    assert str(asked.intervals("arrivals", "delay_p99_ms", by="class")) == str(
        asked.intervals("arrivals", "delay_p99_ms", by=["class"])
    )


def test_intervals_by_chosen_columns(rates: Runs) -> None:
    one = rates.intervals("arrivals", "delay_p99_ms", {"cir": "1Mbit/s", "dumbbell.flows": 2}, by=["colour"])
    assert list(one) == ["colour", "mean", "half_width", "low", "high", "n"]
    assert list(one["colour"]) == ["green", "red"]
    by_rate = rates.intervals("traffic", "goodput_bit_s", {"dumbbell.flows": 2}, by=["cir"])
    assert list(by_rate["cir_bit_s"]) == [3e5, 1e6]
    with pytest.raises(ValueError, match="has 2 rows in a replication, not one"):
        rates.intervals("flows", "goodput_bit_s", {"cir": "1Mbit/s", "dumbbell.flows": 2}, by=["cir"])


def test_a_count_without_a_row_is_zero(runs: Runs) -> None:
    assert (runs.intervals("summary", "dropped_policer_packets")["mean"] == 0).all()
    with pytest.raises(ValueError, match="say by="):
        runs.intervals("transfers", "payload_bytes")


def test_sql_gives_frames(runs: Runs) -> None:
    answer = runs.sql("select class, count(*) as n from arrivals group by all order by all")
    assert answer.df("pandas")["n"].sum() == len(runs.table("arrivals")["class"])


@pytest.mark.parametrize(
    ("missing", "engine", "said"),
    [
        (["pandas", "polars"], None, "neither pandas nor polars is installed: pip install pandas"),
        (["polars"], "polars", "polars is not installed: pip install polars"),
        ([], "numpy", "no engine `numpy`: there are pandas, polars"),
    ],
)
def test_a_missing_engine_is_named(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, missing: list[str], engine: str | None, said: str
) -> None:
    find = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name: None if name in missing else find(name))
    with pytest.raises((ModuleNotFoundError, ValueError), match=said):
        runs.df("flows", engine)
    if missing == ["polars"]:
        assert isinstance(runs.df("flows"), pd.DataFrame)


def test_neither_engine_is_needed() -> None:
    code = "import sys, perhop; perhop.Runs; print([m for m in ('pandas', 'polars', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_picture_in_one_line(runs: Runs) -> None:
    from matplotlib.figure import Figure

    assert isinstance(runs.plot(), Figure)
    assert runs.plot("colours")._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"no plot `througput`: .*; did you mean `throughput`\?"):
        runs.plot("througput")


def test_a_picture_of_any_column(rates: Runs) -> None:
    figure = rates.plot("arrivals.delay_p99_ms", x="cir", by=["colour"])
    assert figure.axes[0].get_xlabel().startswith("cir")
    with pytest.raises(ValueError, match="x and by are for a"):
        rates.plot(x="cir")


def test_a_figure_is_saved_with_truetype_fonts(runs: Runs, tmp_path: Path) -> None:
    runs.plot(width=3.5, title="").savefig(tmp_path / "column.pdf")
    written = (tmp_path / "column.pdf").read_bytes()
    assert b"/CIDFontType2" in written
    assert b"/Type3" not in written


class Text(HTMLParser):
    """What a page shows, and whether its elements are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.cells.append(data)


def shown(value: Any) -> list[str]:
    page = Text()
    page.feed(value._repr_html_())
    assert page.open == []
    return page.cells


def test_short_texts(runs: Runs, rates: Runs, small: Scenario) -> None:
    assert repr(runs) == "Runs('small': 1 point x 3 replications, seed 1)"
    assert repr(rates) == "Runs('small': 4 points x 2 replications, seed 1; cir, flows)"
    assert repr(replace(runs, notes=["skipped"])) == "Runs('small': 1 point x 3 replications, seed 1; 1 note)"
    assert repr(small) == "Scenario('small': 1 point)"
    interval = stats.interval([1.0, 2.0, 3.0])
    assert (str(interval), repr(interval)) == ("2.0 ±2.5", "Interval(2.0 ±2.5, n=3)")
    assert repr(Interval(2.0, float("nan"), float("nan"), 1)) == "Interval(2.000, n=1)"


def test_what_a_notebook_shows(runs: Runs, rates: Runs, small: Scenario) -> None:
    assert shown(runs)[:2] == ["small: 1 point x 3 replications, seed 1", "class"]
    assert shown(replace(runs, notes=["skipped"]))[1] == "skipped"
    assert "delivered, Mbit/s" in shown(runs)
    cells = shown(rates)
    assert cells[1:5] == ["cir", "flows", "class", "colour"]
    assert {"300kbit/s", "1Mbit/s", "green", "red"} <= set(cells)
    assert shown(stats.interval([1.0, 2.0, 3.0])) == ["2.0 ±2.5 ", "(n = 3)"]
    assert {"duration_s", "6", "every value in force"} <= set(shown(small))
    assert {"dumbbell.flows", "2"} <= set(shown(Scenario.from_toml(SCENARIO, vary=["dumbbell.flows=2,3"])))
    table = shown(rates.table("flows"))
    assert table[-1] == f"10 of {rates.table('flows').rows} rows"


def table(text: str) -> list[str]:
    return [line.rstrip() for line in dedent(text).strip("\n").splitlines()]


def test_a_frame_prints_as_a_table() -> None:
    columns = {
        "class": np.array(["voice", "data", None], dtype=object),
        "packets": np.array([12, 3456, 0]),
        "mean": np.array([1.25, 1234.5, np.nan]),
        "small": np.array([90.0, 1e-7, 0.0]),
        "t_ns": np.array([5e9, 2.0, 1.0]),
    }
    frame = frames.Frame(columns, {"mean": "ms"})
    assert str(frame) == repr(frame)
    assert str(frame).splitlines() == table("""
        class  packets  mean ms  small        t_ns
        voice       12      1.2     90  5000000000
        data      3456   1234.5  1e-07           2
        -            0        -      0           1
        """)
    assert str(frames.Frame({"a": np.array([], dtype=object)})).splitlines() == ["a", "(no rows)"]
    assert str(frames.Frame()) == "Frame without columns"


def test_what_a_table_leaves_out_is_said(rates: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    long = frames.Frame({"n": np.arange(50), "text": np.array(["x" * 60] * 50, dtype=object)})
    lines = str(long).splitlines()
    assert len(lines) == 1 + 20 + 1
    assert (lines[1], lines[-1]) == (f" 0  {'x' * 45}...", "(20 of 50 rows)")
    wide = rates.table("summary")
    lines = str(wide).splitlines()
    assert max(map(len, lines)) <= 100
    shown, note = lines[0].split(), " ".join(lines[21:])
    left_out = re.fullmatch(rf"\(20 of {wide.rows} rows; (\d+) more columns: (.*)\)", note)
    assert left_out
    assert [*shown, *left_out[2].split(", ")] == ["cir", "flows", *list(wide)[2:]]
    assert int(left_out[1]) == len(wide) - len(shown)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "50")
    assert 1 < len(str(wide).splitlines()[0].split()) < len(shown)
    monkeypatch.setenv("COLUMNS", "5")
    assert str(wide).splitlines()[0] == "cir"


def test_a_table_without_room_keeps_its_answer(rates: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    table = rates.intervals("arrivals", "delay_p99_ms")
    monkeypatch.setattr(printed, "WIDTH", 200)
    assert str(table).split("  ")[0] == "dumbbell.marker.cir"
    monkeypatch.setattr(printed, "WIDTH", 90)
    lines = str(table).splitlines()
    headings = re.split("  +", lines[0])
    assert headings[:6] == ["cir", "dumbbell.flows", "class", "colour", "mean ms", "half_width ms"], "`flows` is taken"
    assert re.fullmatch(r"\(\d more columns: cir_bit_s, flows.*\)", lines[-1])
    odd = frames.Frame({name: np.array(["x"]) for name in ("a.rate", "b.rate", "avg(c.rate)", "0.5", "n" * 80)})
    assert str(odd).splitlines()[0].split() == ["a.rate", "b.rate", "avg(c.rate)", "0.5"]


def test_a_swept_key_is_found_by_its_last_part(rates: Runs) -> None:
    table = rates.table("flows")
    assert table["cir"] is table["dumbbell.marker.cir"]
    assert "cir" not in table
    with pytest.raises(KeyError, match=r"no column `clas`: there are .*; did you mean `class`\?"):
        table["clas"]
    with pytest.raises(KeyError, match=r"no column `0`"):
        table[0]  # type: ignore[index]


def test_control_characters_are_not_printed() -> None:
    odd = frames.Frame({"a\x1b": np.array(["b\nc"], dtype=object)})
    assert str(odd).splitlines() == ["a\\x1b", "b\\nc"]


def test_intervals_say_their_unit(rates: Runs) -> None:
    frame = rates.intervals("traffic", "goodput_bit_s")
    assert frame.units == dict.fromkeys(("mean", "half_width", "low", "high"), "bit/s")
    assert "mean bit/s" in str(frame)
    assert "mean bit/s" in shown(frame)
    assert pickle.loads(pickle.dumps(frame)).units == frame.units


def test_names_are_escaped_in_a_notebook(runs: Runs) -> None:
    odd = frames.Frame({"a<b>": np.array(["<i>\x1b", None], dtype=object)})
    assert "<b>" not in odd._repr_html_()
    assert shown(odd) == ["a<b>", "<i>\\x1b"]
    assert shown(replace(runs, name="<b>"))[0].startswith("<b>: 1 point")


def test_mistakes_have_near_names(rates: Runs) -> None:
    with pytest.raises(KeyError, match=r"no table `flow` here: .*; did you mean `flows`\?"):
        rates.df("flow")
    with pytest.raises(KeyError, match=r"no column `goodput`: .*; did you mean `goodput_bit_s`\?"):
        rates.means("traffic", "goodput")
    with pytest.raises(ValueError, match=r"the rows that are shown have no `color`\n   help: did you mean `colour`\?"):
        rates.means("arrivals", "delay_p50_ms", {"color": "green"})
    with pytest.raises(KeyError, match=r"no column `colr`: .*; did you mean `colour`\?"):
        rates.means("arrivals", "delay_p50_ms", by=["colr"])
    with pytest.raises(ValueError, match=r"have no `cirr`\n   help: did you mean `cir`\?"):
        rates.where(cirr="1Mbit/s")
    with pytest.raises(ValueError, match=r'(?s)column "cir" not found.*help: .* quoted: "dumbbell.marker.cir"'):
        rates.sql("select cir from traffic")
    with pytest.raises(ValueError, match=r"is a path; Scenario.from_toml reads a file"):
        Scenario("examples/cbs.toml")
    assert rates.where(class_=rates.table("arrivals")["class"][0]).narrowed.startswith("class ")
    for ask in (rates.where, partial(rates.means, "traffic", "goodput_bit_s")):
        with pytest.raises(ValueError, match=r"no dumbbell.marker.cir is `2Mbit/s`\n   help: .*1Mbit/s"):
            ask({"cir": "2Mbit/s"})
