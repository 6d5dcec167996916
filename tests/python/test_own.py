"""Algorithms that are Python classes: as built-in ones where they do the same, and clear where they fail."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import perhop
from conftest import ROOT
from owned import DUMBBELL, EXAMPLES, SHORT, Coin, Half, aimd, leaky_bucket, ran, red, same
from perhop import RunError, Scenario, ScenarioError, _core, own
from waits import WAIT_S, begun


@pytest.fixture(autouse=True, scope="module")
def _registered() -> None:
    for algorithm in (Half, Coin):
        perhop.register(algorithm)


BUCKETS = [
    ("leaky-bucket", 'rate = "500kbit/s", depth = "20000B"'),
    ("token-bucket", 'cir = "500kbit/s", cbs = "20000B"'),
]


def test_a_limit_is_a_limit() -> None:
    ours, built_in = ran('{ aqm = "half", limit = "50p" }'), ran('{ aqm = "drop-tail", limit = "10p" }')
    assert same(ours, built_in, "flows", "links", "traffic")
    assert ours.table("links")["dropped_packets"].sum() > 0


def test_every_example_is_held_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {module.__name__ for module in (aimd, leaky_bucket, red)}


RED = 'aqm = "red"\nmin = "20p"\nmax = "60p"'


def test_the_examples_red_is_red() -> None:
    """On a link that is never idle, packet for packet: the first arrival finds an average of 0."""
    scenario = """
[scenario]
duration = "8s"
warmup = "0s"

[links]
"a - b" = { rate = "10Mbit/s", delay = "1ms", queue = "red" }

[queue.red]
limit = "100p"
max-p = 0.5
%s

[traffic.load]
model = "cbr"
rate = "12Mbit/s"
size = "1000B"
from = "a"
to = "b"
"""
    ours, built_in, other = (
        Scenario.from_toml(scenario % keys).run(1, jobs=1)
        for keys in ('aqm = "early-drop"\nlow = "20p"\nhigh = "60p"', f'{RED}\nspacing = "bernoulli"', RED)
    )
    assert same(ours, built_in, "flows", "links", "traffic")
    assert not same(ours, other, "flows")


def test_the_examples_aimd_is_reno() -> None:
    """RFC 5681's numbers: with a = 1 and b = 1/2 it is Reno, segment for segment."""
    law = 'tcp.own={ congestion = "%s" }', 'dumbbell.tcp="own"'
    ours, reno = (ran('{ limit = "20p" }', law[0] % name, law[1]) for name in ("aimd", "reno"))
    assert same(ours, reno, "flows", "links")
    assert not same(ours, ran('{ limit = "20p" }', 'tcp.own={ congestion = "aimd", decrease = 0.1 }', law[1]), "flows")


def test_the_examples_leaky_bucket_colours_as_a_token_bucket() -> None:
    """But for packets whose level differs by the rounding of floats: at most one in a million."""
    markers = [f'dumbbell.marker={{ kind = "{kind}", {keys} }}' for kind, keys in BUCKETS]
    ours, built_in = (ran('{ limit = "50p" }', marker) for marker in markers)
    greens = [runs.table("conditioners") for runs in (ours, built_in)]
    assert same(ours, built_in, "conditioners"), greens


def test_the_same_seed_gives_the_same_bytes_whoever_runs_it() -> None:
    coin = '{ aqm = "coin-2", p = 0.02, limit = "50p" }'
    in_processes, alone = ran(coin, replications=3, jobs=2), ran(coin, replications=3, jobs=1)
    assert [it.hash for it in in_processes.replications] == [it.hash for it in alone.replications]
    assert len({it.hash for it in alone.replications}) == 3


def test_more_replications_say_what_was_there(tmp_path: Path) -> None:
    coin, told = '{ aqm = "coin-2", p = 0.02, limit = "50p" }', list[tuple[int, int]]()
    first = ran(coin, replications=2, jobs=2, out=tmp_path)
    assert [it.reused for it in first.replications] == [False, False]
    more = ran(coin, replications=4, jobs=2, out=tmp_path, progress=lambda *done: told.append(done))
    assert [it.reused for it in more.replications] == [True, True, False, False]
    assert [it.hash for it in more.replications[:2]] == [it.hash for it in first.replications]
    assert (told[0], told[-1], told) == ((2, 4), (4, 4), sorted(told))
    alone = ran(coin, replications=4, jobs=1, out=tmp_path)
    assert [it.reused for it in alone.replications] == [True] * 4
    damaged = next(tmp_path.rglob("flows.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:-9])
    mended = ran(coin, replications=4, jobs=2, out=tmp_path)
    assert [it.hash for it in mended.replications] == [it.hash for it in more.replications]
    assert len(mended.notes) == 1


def test_gauges_are_series() -> None:
    seen = ran('{ aqm = "coin-2", limit = "50p" }', "scenario.sample=1s").table("series")
    assert "seen" in set(seen["gauge"] if "gauge" in seen else seen["quantity"])


def test_another_text_does_not_answer() -> None:
    scenario = Scenario.from_toml(DUMBBELL, ['dumbbell.queue={ aqm = "half" }'])
    text = scenario.effective()
    hashed = dict(_core.registered())["half"]
    assert f'source = "{hashed}"' in text
    Scenario(text)
    with pytest.raises(ScenarioError, match=r"E207.*another text of `half`"):
        Scenario(text.replace(hashed, "0123456789abcdef"))


def test_an_exception_ends_the_run() -> None:
    class Fails(perhop.Aqm):
        def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
            if at.now > 1.5:
                raise KeyError(packet.size)
            return "pass"

    perhop.register(Fails)
    with pytest.raises(RunError) as raised:
        ran('{ aqm = "fails", limit = "50p" }')
    said = str(raised.value)
    assert said.startswith("error[E901] dumbbell base, replication 0: `fails` at `E1 -> E2` failed at 1.5")
    assert "raise KeyError(packet.size)" in said
    assert "KeyError: 1040" in said


def session(queue: str, *more: str) -> perhop.Session:
    overrides = [f"dumbbell.queue={queue}", SHORT, "scenario.warmup=1s", *more]
    return perhop.Session(Scenario.from_toml(DUMBBELL, overrides))


def test_an_exception_in_a_step_ends_the_session() -> None:
    class Stops(perhop.Aqm):
        def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
            if at.now > 1.5:
                raise KeyError(packet.size)
            return "pass"

    perhop.register(Stops)
    running = session('{ aqm = "stops", limit = "50p" }')
    running.until("1.4s")
    before = running.snapshot()
    for _ in range(2):
        with pytest.raises(RunError) as raised:
            running.step("1s")
        said = str(raised.value).splitlines()
        assert said[0].startswith("error[E901] dumbbell base, replication 0: `stops` at `E1 -> E2` failed at 1.5")
        assert said[1] == "Traceback (most recent call last):"
        assert said[-2].strip() == "raise KeyError(packet.size)"
        assert said[-1] == "KeyError: 1040"
        with pytest.raises(RunError, match=r"^the session has ended with an error: begin another one, or restore"):
            running.step("1ms")
        running.restore(before)
    running.until("1.5s")


def test_a_hooks_mistake_names_the_conditioners_port() -> None:
    class Refuses(perhop.Conditioner):
        def forward(self, at: Any, packet: Any, rng: Any) -> own.Colour:
            raise LookupError("no such flow")

    perhop.register(Refuses)
    running = session('{ limit = "50p" }', 'dumbbell.marker={ kind = "refuses" }')
    with pytest.raises(RunError, match=r"(?s)`refuses` at `E1 -> E2` failed at 0\.\d+ s.*LookupError: no such flow"):
        running.finish()


def test_a_session_with_classes_is_branched() -> None:
    """The state of an instance is part of a snapshot: futures differ by what is changed alone."""

    class Remembers(Coin):
        name = "coin-3"

        def retune(self, now: float, p: float = 0.01) -> None:
            self.p = p

    perhop.register(Remembers)
    running = session('{ aqm = "coin-3", p = 0.02, limit = "50p" }')
    running.until("1.5s")
    before, seen = running.snapshot(), []
    for p in (None, 0.3, None):
        running.restore(before)
        if p is not None:
            running.set("queue.bottleneck.p", p)
        seen.append(running.finish().replications[0].hash)
    assert seen[0] == seen[2] == ran('{ aqm = "coin-3", p = 0.02, limit = "50p" }').replications[0].hash
    assert seen[1] != seen[0]


def test_a_class_that_cannot_be_copied_refuses_a_snapshot_in_one_line() -> None:
    class Holds(perhop.Aqm):
        def __init__(self) -> None:
            self.lock = threading.Lock()

        def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
            return "pass"

    perhop.register(Holds)
    running = session('{ aqm = "holds", limit = "50p" }')
    running.until("1s")
    why = "TypeError: cannot pickle '_thread.lock' object: give its class a method __deepcopy__"
    with pytest.raises(ValueError, match=f"^{re.escape(f'the session cannot be copied: `holds` cannot: {why}')}$"):
        running.snapshot()
    assert running.finish().replications[0].hash == ran('{ limit = "50p" }').replications[0].hash


@pytest.mark.parametrize("call", ["scenario.run(1)", 'perhop.Session(scenario).step("5s")'])
def test_ctrl_c_ends_a_hook_that_does_not_end(tmp_path: Path, call: str) -> None:
    script = tmp_path / "endless.py"
    script.write_text(
        "import perhop\n\n\nclass Endless(perhop.Aqm):\n"
        "    def on_arrival(self, at, packet, rng):\n        print('in', flush=True)\n"
        "        while True:\n            pass\n\n\n"
        "perhop.register(Endless)\n"
        f"scenario = perhop.Scenario.from_toml({str(DUMBBELL)!r}, ['dumbbell.queue={{ aqm = \"endless\" }}'])\n"
        f"try:\n    {call}\nexcept BaseException as error:\n    raise SystemExit(type(error).__name__)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    with begun([sys.executable, script], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "in\n"
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=WAIT_S)
    assert running.returncode != 0
    assert said.splitlines()[-1] == "KeyboardInterrupt"


def test_a_capture_is_marked_by_a_class(tmp_path: Path) -> None:
    """As by the built-in bucket, whose policy it is but for the name."""
    capture, policy = ROOT / "tests/captures/tcp.pcap", tmp_path / "policy.toml"
    made = []
    for kind, keys in BUCKETS:
        policy.write_text(f'[conditioner]\nall = {{ kind = "{kind}", {keys} }}\n')
        made.append(perhop.meter(capture, policy).table("colours"))
    assert str(made[0]) == str(made[1])

    class Stumbles(perhop.Conditioner):
        def forward(self, at: Any, packet: Any, rng: Any) -> own.Colour:
            raise LookupError("no such flow")

    perhop.register(Stumbles)
    policy.write_text('[conditioner.all]\nkind = "stumbles"\n')
    with pytest.raises(ValueError, match=r"(?s)E901.*`stumbles` failed at .*LookupError: no such flow"):
        perhop.mark(capture, tmp_path / "out.pcap", policy)
    assert not (tmp_path / "out.pcap").exists()


def test_a_packet_is_gone_after_its_hook() -> None:
    class PacketKeeper(perhop.Aqm):
        kept: Any = None

        def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
            PacketKeeper.kept = packet, rng
            return "pass"

    perhop.register(PacketKeeper)
    with pytest.warns(UserWarning, match="hooks of `packet-keeper` change an attribute of the class"):
        ran('{ aqm = "packet-keeper", limit = "50p" }', jobs=1)
    packet, rng = PacketKeeper.kept
    for late in (lambda: packet.size, rng.random):
        with pytest.raises(RuntimeError, match="while their hook runs"):
            late()


class Alarm:
    """Sets its timer when a packet comes, 50 ms later; sees how much later it goes off."""

    def __init__(self) -> None:
        self.due: float | None = None
        self.count, self.off = 0, 0.0

    def set(self, now: float) -> None:
        self.due = now + 0.05 if self.due is None else self.due

    def poll_at(self) -> float | None:
        return self.due

    def goes_off(self, now: float) -> None:
        assert self.due is not None
        self.count, self.off, self.due = self.count + 1, max(self.off, abs(now - self.due)), None

    def gauges(self) -> dict[str, float]:
        return {"alarms": self.count, "off_s": self.off}


class AlarmAqm(Alarm, perhop.Aqm):
    """One at the queue."""

    def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
        self.set(at.now)
        return "pass"

    def on_timer(self, at: Any) -> None:
        self.goes_off(at.now)


class AlarmMarker(Alarm, perhop.Conditioner):
    """One at the edge."""

    def forward(self, at: Any, packet: Any, rng: Any) -> own.Colour:
        self.set(at.now)
        return "green"

    def on_timer(self, now: float) -> None:
        self.goes_off(now)


@pytest.mark.parametrize(
    ("kind", "more"),
    [(AlarmAqm, []), (AlarmMarker, ['dumbbell.marker={ kind = "alarm-marker" }'])],
)
def test_a_timer_may_be_set_by_a_hook(kind: type, more: list[str]) -> None:
    """It goes off at its time, to the nanosecond; 4 s have at most 80 times 50 ms, each with a wait for a packet."""
    perhop.register(kind)
    queue = '{ limit = "50p" }' if more else '{ aqm = "alarm-aqm", limit = "50p" }'
    series = ran(queue, *more, "scenario.sample=1s").table("series")
    last = {name: series["value"][series["quantity"] == name][-1] for name in ("alarms", "off_s")}
    assert last["off_s"] <= 1e-9
    assert 40 < last["alarms"] <= 4 / 0.05


def test_an_installed_package_is_found_by_the_native_program(tmp_path: Path) -> None:
    (tmp_path / "queues.py").write_text(
        '"""A queue."""\nimport perhop\n\n\nclass Third(perhop.Aqm):\n    """A third."""\n\n'
        '    def on_arrival(self, at, packet, rng):\n        return "drop" if at.backlog.packets > 3 else "pass"\n'
    )
    about = tmp_path / "queues-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: queues\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[perhop.algorithms]\nthird = queues:Third\nbroken = queues:None_\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT / "python")])}

    def perhop_says(name: str) -> subprocess.CompletedProcess[str]:
        command = [
            sys.executable,
            "-m",
            "perhop",
            "run",
            str(DUMBBELL),
            "-s",
            f'dumbbell.queue.aqm="{name}"',
            "-s",
            SHORT,
        ]
        command += ["-s", "scenario.warmup=1s", "--replications", "1", "--out", str(tmp_path / "runs")]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)

    assert perhop_says("third").returncode == 0
    broken = perhop_says("broken")
    assert broken.returncode == 2
    assert "`broken`, which the installed package queues offers, cannot be loaded" in broken.stderr
