"""What `perhop forward` recorded between two interfaces, compared with another such run and with a simulated one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from conftest import Command
from perhop import Runs, Scenario, plot
from perhop.report import html
from perhop.reporting.warned import warned
from waits import WAIT_S, begun, until

pytestmark = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0 or shutil.which("ip") is None, reason="namespaces need root and iproute2"
)

POLICY = """
[policy]
accounting = "l2"
[conditioner.contract]
kind = "token-bucket"
cir = "2Mbit/s"
cbs = "15kB"
green = "mark AF11"
red = "mark AF13"
[queue.line]
limit = "20p"
"""

SEND = """
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(400):
    s.sendto(bytes(972), ("10.7.0.2", 9))
    time.sleep(.001)
"""


def ip(words: str) -> str:
    return subprocess.run(["ip", *words.split()], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def namespace() -> Iterator[str]:
    """One whose `va` and `vb` lead to `pa` and `pb`; what is sent to 10.7.0.2 comes in on `va`."""
    name = f"live-compare-{os.getpid()}"
    ip(f"netns add {name}")
    for near, far in (("va", "pa"), ("vb", "pb")):
        ip(f"-n {name} link add {near} type veth peer name {far}")
        ip(f"-n {name} link set {near} up")
        ip(f"-n {name} link set {far} up")
    ip(f"-n {name} address add 10.7.0.1/24 dev pa")
    ip(f"-n {name} neighbour add 10.7.0.2 lladdr 02:00:00:00:00:07 dev pa")
    yield name
    ip(f"netns delete {name}")


def forward(namespace: str, folder: Path, rate: str) -> Path:
    """A recorded run of 400 datagrams over a line of this rate."""
    (folder / "policy.toml").write_text(POLICY)
    inside = ["ip", "netns", "exec", namespace, sys.executable]
    words = f"-m perhop forward --in va --out vb --policy policy.toml --queue line --link {rate} --trace {rate[:2]}"
    with begun([*inside, *words.split()], folder, stderr=subprocess.PIPE) as process:
        until(lambda: "promiscuity 1" in ip(f"-n {namespace} -details link show vb"), "it forwards", process)
        subprocess.run([*inside, "-c", SEND], check=True)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, said
    return folder / rate[:2] / "policy"


@pytest.fixture(scope="module")
def live(namespace: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs: the second has a line too slow for the datagrams."""
    folder = tmp_path_factory.mktemp("live")
    return forward(namespace, folder, "10Mbit/s"), forward(namespace, folder, "2Mbit/s")


def test_two_live_runs(live: tuple[Path, Path], perhop: Command) -> None:
    done = perhop("compare", *live)
    assert done.returncode == 0, done.stderr
    assert "recorded between interfaces: no pairs, so a difference has no interval" in done.stdout
    assert "±" not in done.stdout.split("t-interval")[1]
    rows = json.loads(perhop("compare", *live, "--metric", "traffic.goodput_bit_s", "--json").stdout)
    udp = next(row for row in rows if row["row"] == "udp")
    mine, other = (Runs.open(it).values("traffic", "goodput_bit_s", by="traffic")["udp",][0] for it in live)
    assert (udp["a"]["mean"], udp["b"]["mean"]) == (mine, other)
    assert udp["difference"] == {"mean": pytest.approx(other - mine), "ci95": None, "n": 1}
    assert mine > other > 0, "of 8 Mbit/s the second line carries 2"
    assert {"scenario.duration", "link.va -> vb.rate"} & set(udp["differs"])


def test_a_simulation_beside_it(live: tuple[Path, Path], tmp_path: Path, perhop: Command) -> None:
    """The scenario of the recorded run, with a sender of datagrams like that one."""
    overrides = ["traffic.udp.rate=8Mbit/s", "traffic.udp.size=1000B", "scenario.duration=2s", "scenario.seed=7"]
    text = Runs.open(live[1]).points[0].effective
    Scenario.from_toml(text, overrides).run(3, out=tmp_path, progress=False)
    simulated = tmp_path / "policy"
    rows = json.loads(perhop("compare", live[1], simulated, "--metric", "arrivals.throughput_bit_s", "--json").stdout)
    both = next(row for row in rows if row["a"] and row["b"])
    assert (both["a"]["n"], both["b"]["n"], both["difference"]["n"], both["p"]) == (1, 3, 1, None)
    assert both["a"]["ci95"] is None
    assert both["b"]["ci95"] is not None
    assert both["difference"]["mean"] == pytest.approx(both["b"]["mean"] - both["a"]["mean"])
    assert both["differs"]["scenario.seed"] == ["1", "7"]


def test_counts_of_different_times_are_not_compared(live: tuple[Path, Path], perhop: Command) -> None:
    every = json.loads(perhop("compare", *live, "--json").stdout)
    assert "summary.dropped_packets" not in {row["metric"] for row in every}
    done = perhop("compare", *live, "--metric", "summary.dropped_packets")
    assert done.returncode == 2
    assert "these are not measures of the same thing; ask for a rate or a share" in done.stderr
    alike = json.loads(perhop("compare", live[1], live[1], "--metric", "summary.dropped_packets", "--json").stdout)
    assert max(row["a"]["mean"] for row in alike) > 0, "a run and itself have one time"


def test_what_counts_other_bytes_is_refused(live: tuple[Path, Path], tmp_path: Path, perhop: Command) -> None:
    text = Runs.open(live[0]).points[0].effective
    Scenario.from_toml(text, ["scenario.accounting=l1", "scenario.duration=1s"]).run(1, out=tmp_path, progress=False)
    done = perhop("compare", live[0], tmp_path / "policy")
    assert done.returncode == 2
    assert "accounting l2 against accounting l1: these are not measures of the same thing" in done.stderr


def test_reports_warn_of_nothing_that_only_senders_would_do(
    live: tuple[Path, Path], tmp_path: Path, perhop: Command
) -> None:
    """The scenario of a recorded run has senders that stand for unknown ones: what `check` says of them is not said."""
    runs = Runs.open(live[1])
    scenario = Scenario.from_toml(runs.points[0].effective)
    assert {found["code"] for found in scenario.warnings}, "of simulated senders it would be said"
    assert warned(runs) == []
    assert "warning" not in html(runs)
    for words in (
        ("report", live[1], "-o", tmp_path / "page.html"),
        ("plot", live[1], "-o", tmp_path / "picture.png"),
        ("compare", *live),
        ("runs", live[1]),
    ):
        done = perhop(*words)
        assert done.returncode == 0, done.stderr
        assert "W3" not in done.stdout + done.stderr


def test_a_recorded_run_over_time(live: tuple[Path, Path], tmp_path: Path, perhop: Command) -> None:
    """Rates by class and colour add up to what was sent; the queue of the slower line was full, and is never longer."""
    runs = Runs.open(live[1])
    there = next(axes for axes in plot.figure("over-time", runs).axes if axes.get_title(loc="left") == "va -> vb")
    lines = {str(line.get_label()): line for line in there.lines}
    assert {"green", "red"} <= set(lines)
    events = runs.events("hop = 'va -> vb' and fate <> 'dropped' and out_ns is not null")
    for colour in ("green", "red"):
        t, rate = np.asarray(lines[colour].get_xdata()), np.asarray(lines[colour].get_ydata())
        sent = 8 * events["size_bytes"][events["colour"] == colour].sum()
        assert (rate * t[0]).sum() * 1e6 == pytest.approx(sent)
    (queue,) = plot.figure("queue", runs).axes
    (line,) = queue.lines
    most = np.asarray(line.get_ydata()).max()
    assert 10 < most <= 20
    for kind in ("over-time", "queue", "delay-over-time"):
        done = perhop("plot", live[1], "--kind", kind, "-o", tmp_path / f"{kind}.png")
        assert done.returncode == 0, done.stderr
    assert "over-time" in html(runs)
