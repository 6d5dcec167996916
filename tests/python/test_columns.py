"""One declaration of every column, and one form of what is printed of it: terminal, report, notebook, plots, docs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import numpy as np
import pytest

from conftest import ROOT, Command
from perhop import Runs, Scenario, _core, paired, report, units
from perhop.answer import answers

RATES = {"conditioner.gold.cir": ["3Mbit/s", "5Mbit/s"]}
SHORT = {"duration": "6s", "warmup": "1s"}


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Runs]:
    """Blocks of three replications of one point, separate directories of the other's."""
    out = tmp_path_factory.mktemp("runs")
    scenario = Scenario.from_toml(ROOT / "examples" / "af-bottleneck.toml", SHORT)
    scenario.sweep(RATES, replications=3, out=out)
    return out, Runs.open(out / "af-bottleneck")


def test_tables_have_the_declared_columns(swept: tuple[Path, Runs]) -> None:
    _, runs = swept
    for table in runs.tables:
        names = [name for name in runs.table(table) if name not in (*runs.keys, "point", "replication")]
        assert names == [name for of, name in units.COLUMNS if of == table], table
    said = {"summary": ("hop", "class", "colour"), "classes": ("class", "colour"), "flows": ("traffic", "flow")}
    assert {table: units.KEYS[table] for table in said} == said
    assert not {"series", "transfers", "events"} & set(units.KEYS)


def test_every_measure_can_be_shown_and_drawn(swept: tuple[Path, Runs], perhop: Command) -> None:
    """`--show` has what plots have: each column that is declared and no name of a row."""
    _, runs = swept
    listed = {
        f"{of.table}.{of.name}"
        for of in units.COLUMNS.values()
        if of.table in units.KEYS and of.role not in ("key", "label")
    }
    named = sorted(name for name in listed if not name.startswith(("ef.", "counters.")))
    file = ROOT / "examples" / "af-bottleneck.toml"
    done = perhop("run", file, "--duration", "6s", "--show", ",".join(named), "--json", "--out", "shown")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout.splitlines()[-1])["rows"]
    assert {key for row in rows for key in row if "." in key} >= set(named) - {
        n for n in named if n.startswith(("nodes", "tallies", "queues"))
    }
    for table, name in (
        ("classes", "throughput_bit_s"),
        ("arrivals", "delay_p999_ms"),
        ("traffic", "goodput_mean_bit_s"),
    ):
        of = units.column(table, name)
        label = runs.plot(f"{of.table}.{of.name}").axes[0].get_ylabel().replace("\n", " ")
        assert label.startswith(f"{of.words}, "), label


def test_one_number_has_one_form(swept: tuple[Path, Runs], perhop: Command) -> None:
    """The same means on the terminal, from `run` and `sweep`, in a report, a notebook and `compare`; never folded."""
    out, runs = swept
    estimate = re.compile(r"\d+(?:\.\d+)? ±\d+(?:\.\d+)?")
    of = runs.where(cir="5Mbit/s")
    (first, *_) = answers(of)
    delivered = str(first.delivered.scaled(1e-6))
    assert estimate.fullmatch(delivered), delivered
    file = ROOT / "examples" / "af-bottleneck.toml"
    short = ("-s", "duration=6s", "-s", "warmup=1s", "--replications", "3")
    ran = perhop("run", file, *short, "-s", "conditioner.gold.cir=5Mbit/s", "--out", "one")
    grid = perhop("sweep", file, *short, "--vary", "conditioner.gold.cir=3Mbit/s,5Mbit/s", "--out", str(out))
    rows = [line for line in grid.stdout.splitlines() if first.name in line and delivered in line]
    assert rows, grid.stdout + grid.stderr
    assert "delivered Mbit/s" in ran.stdout
    assert "delivered" in grid.stdout.splitlines()[2]
    assert "throughput" not in ran.stdout + grid.stdout
    assert not re.search(r"(?m)^\s*±", grid.stdout), "an estimate stands in one line"
    green = of.means("arrivals", "throughput_bit_s", by=["class", "colour"])
    for (_, colour), mean in green.items():
        shown = str(mean.scaled(1e-6))
        assert shown in ran.stdout, (colour, shown)
        assert shown in re.sub(r"<[^>]*>", "", of._repr_html_())
    assert delivered in re.sub(r"<[^>]*>", "", report.html(of))
    difference = paired.differences(of, of, ["arrivals.throughput_bit_s"])[0]
    assert str(difference.a) == str(green[tuple(difference.row.split(" "))])


def test_a_loss_has_one_definition(swept: tuple[Path, Runs]) -> None:
    """Of packets, over the class's route, by class and by colour: in the table, in the answer, in `compare`."""
    _, runs = swept
    by = ["point", "class", "colour"]
    found = runs.values("classes", "loss_percent", by=by, missing=np.nan)
    ports = {(p["class"], p["hop"]) for point in runs.points for p in Scenario.from_toml(point.effective)._core.passed}
    lost = runs.totals("summary", "dropped_packets", by=[*by, "hop"])
    came = runs.totals("arrivals", "delivered_packets", by=by)
    for (point, name, colour), values in found.items():
        ours = [
            n
            for (p, c, of, hop), n in lost.items()
            if (p, c) == (point, name) and (c, hop) in ports and colour in (of, "all")
        ]
        arrived = [n for (p, c, of), n in came.items() if (p, c) == (point, name) and colour in (of, "all")]
        dropped, delivered = sum(ours), sum(arrived)
        assert values == pytest.approx(100 * dropped / (dropped + delivered)), (point, name, colour)
    told = {(a.point, a.name): a.lost for a in answers(runs)}
    for (at, of), interval in told.items():
        assert interval is not None
        assert interval.mean == pytest.approx(found[str(at), of, "all"].mean())
    metrics = [d for d in paired.differences(runs, runs) if d.metric == "classes.loss_percent"]
    assert metrics
    assert all(d.difference is not None for d in metrics)


def test_duckdb_needs_no_names_of_directories(swept: tuple[Path, Runs]) -> None:
    """As docs/reference/results.md has it: swept keys and replications are columns."""
    out, runs = swept
    page = (ROOT / "docs/reference/results.md").read_text()
    (query,) = re.findall(r"```sql\n(select \"conditioner[^`]*)```", page)
    rows = duckdb.execute(query.replace("runs/af-bottleneck", f"{out}/af-bottleneck")).fetchall()
    means = runs.values("arrivals", "throughput_bit_s", by=["cir", "class", "colour"], missing=np.nan)
    assert {(cir, name) for cir, name, _ in rows} == {(cir, name) for cir, name, _ in means}
    for cir, name, mean in rows:
        known = np.stack([values for (c, n, _), values in means.items() if (c, n) == (cir, name)])
        assert mean == pytest.approx(np.nansum(known, axis=0).mean())
    files = f"read_parquet('{out}/*/*/rep*/links.parquet', union_by_name = true)"
    counted = duckdb.execute(
        f'select "conditioner.gold.cir", count(distinct replication) from {files} group by all'
    ).fetchall()
    assert sorted(counted) == [("3Mbit/s", 3), ("5Mbit/s", 3)]


def test_units_are_listed_from_what_is_read(perhop: Command) -> None:
    """Every unit that the core reads, and the other way round."""
    text = perhop("list", "units").stdout
    listed = {word for line in text.split("\n\n")[0].splitlines() for word in line[18:].split()}
    known = {"bit/s", "Gbps", "B", "KiB", "ns", "min", "h", "p", "p/s", "kp/s", "Mp/s", "t/s", "kt/s", "Mt/s"}
    assert known <= listed
    quantities = [
        line for line in text.splitlines() if line[:18].strip() and not line.startswith(("queue", "DSCP", "k,"))
    ]
    for unit in (unit for line in quantities for unit in line[18:].split()):
        read = _core.quantity(f"1{unit}")
        assert read is not None, unit
        assert read[2] == unit
