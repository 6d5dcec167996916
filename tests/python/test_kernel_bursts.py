"""Linux's senders behind policers, with the bursts that Linux makes by default (`lab/cells/bursts`)."""

from __future__ import annotations

import csv
from statistics import mean

from cells import RECORDS, STATED
from perhop.scenario import Scenario
from perhop_lab.worlds import simulated

STACKS = {"reno": "linux-reno", "bbr": "linux-bbr"}
#: Beyond the range of the kernel's phases, as for the cells of `beside.py`; and no cell by more than this.
NEAR, MOST = 0.03, 0.04

Cell = tuple[str, str, str, str]


def kernel() -> dict[Cell, list[float]]:
    """Of rate, bucket, half a round trip and law: kbit/s at each phase."""
    found: dict[Cell, list[float]] = {}
    with (RECORDS / "bursts.csv").open(encoding="ascii", newline="") as text:
        for it in csv.DictReader(text):
            cell = (it["cir_mbit_s"], it["cbs_bytes"], it["half_rtt_ms"], it["law"])
            found.setdefault(cell, []).append(float(it["kbit_s"]))
    return found


def perhop(cell: Cell) -> float:
    """The same here; BBR draws a phase of its cycle."""
    rate, bucket, half, law = cell
    settings = {
        "conditioner.police.cir": f"{rate}Mbit/s",
        "conditioner.police.cbs": f"{bucket}B",
        'links."s -> r".delay': f"{half}ms",
        'links."d -> r".delay': f"{half}ms",
        "traffic.bulk.flows": 4 if law == "4xcubic" else 1,
        "tcp.host.stack": STACKS.get(law, "linux"),
    }
    scenario = Scenario.from_toml(STATED / "bursts/cell.toml", settings)
    seeds = (1, 2, 3) if law == "bbr" else (1,)
    runs = [scenario.run(replications=1, seed=seed, jobs=1, progress=False) for seed in seeds]
    return mean(simulated(it).goodput_bit_s() for it in runs) / 1e3


def test_goodput_behind_policers_is_that_of_linux_as_it_is_by_default() -> None:
    """With segments one by one Reno at 4 Mbit/s gets 10.7 % less than in the kernel."""
    off = {cell: max(min(there) / perhop(cell), perhop(cell) / max(there)) - 1 for cell, there in kernel().items()}
    assert len(off) == 8
    assert sum(it <= NEAR for it in off.values()) >= 7, off
    assert max(off.values()) <= MOST, off
