"""Algorithms that are Python classes: as built-in ones where they do the same, and clear where they fail."""

from __future__ import annotations

import importlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import perhop
from conftest import ROOT
from perhop import RunError, Runs, Scenario, ScenarioError, _core, own
from waits import WAIT_S

DUMBBELL = ROOT / "examples/dumbbell.toml"
SHORT = "scenario.duration=4s"


class Half(perhop.Aqm):
    """Drops what finds `most` packets waiting.

    most: packets that may wait.
    """

    def __init__(self, most: int = 10) -> None:
        self.most = most

    def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
        return "drop" if at.backlog.packets >= self.most else "pass"


class Coin(perhop.Aqm):
    """Drops one packet in so many, by the stream of the queue."""

    name = "coin-2"

    def __init__(self, p: perhop.Probability = 0.01) -> None:
        self.p, self.seen = p, 0

    def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
        self.seen += 1
        return "drop" if rng.random() < self.p else "pass"

    def gauges(self) -> dict[str, float]:
        return {"seen": self.seen}


BUCKETS = [
    ("leaky-bucket", 'rate = "500kbit/s", depth = "20000B"'),
    ("token-bucket", 'cir = "500kbit/s", cbs = "20000B"'),
]


@pytest.fixture(autouse=True, scope="module")
def _registered() -> None:
    for algorithm in (Half, Coin):
        perhop.register(algorithm)


EXAMPLES = ROOT / "examples/own"
sys.path.insert(0, str(EXAMPLES))
aimd, leaky_bucket, red = (importlib.import_module(name) for name in ("aimd", "leaky_bucket", "red"))
"""Each registers its class."""


def ran(queue: str, *more: str, replications: int = 1, **options: Any) -> Runs:
    scenario = Scenario.from_toml(DUMBBELL, [f"dumbbell.queue={queue}", SHORT, "scenario.warmup=1s", *more])
    return scenario.run(replications, **options)


def same(a: Runs, b: Runs, *tables: str) -> bool:
    return all(
        np.array_equal(
            a.table(table)[column], b.table(table)[column], equal_nan=a.table(table)[column].dtype.kind == "f"
        )
        for table in tables
        for column in a.table(table)
    )


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


def test_what_is_there_is_not_run_again_and_another_text_is(tmp_path: Path) -> None:
    def version(text: str) -> None:
        space: dict[str, Any] = {"perhop": perhop, "__name__": "elsewhere"}
        exec(
            f"class Versioned(perhop.Aqm):\n    def on_arrival(self, at, packet, rng):\n        return {text}\n", space
        )
        perhop.register(space["Versioned"])

    queue = '{ aqm = "versioned", limit = "50p" }'
    version('"pass"')
    first = ran(queue, out=tmp_path)
    assert [it.reused for it in ran(queue, out=tmp_path).replications] == [True]
    version('"drop" if at.backlog.packets > 3 else "pass"')
    second = ran(queue, out=tmp_path)
    assert [it.reused for it in second.replications] == [False]
    assert first.replications[0].hash != second.replications[0].hash


LIMIT = 3


def limit() -> int:
    return LIMIT


class Shared(perhop.Aqm):
    """Drops what finds `most` packets, of whoever comes from it."""

    most = 3

    def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
        return "drop" if at.backlog.packets >= self.most else "pass"


def closed(most: int) -> None:
    class Closed(perhop.Aqm):
        def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
            return "drop" if at.backlog.packets >= most else "pass"

    perhop.register(Closed)


def inherited(most: int) -> None:
    class Inherited(Shared):
        """As its base says."""

    Shared.most = most
    perhop.register(Inherited)


def helped(most: int) -> None:
    class Helped(perhop.Aqm):
        def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
            return "drop" if at.backlog.packets >= limit() else "pass"

    globals()["LIMIT"] = most
    perhop.register(Helped)


def twice(most: int) -> None:
    """Two classes of one name in one file."""
    if most == 3:

        class Twice(perhop.Aqm):
            def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
                return "drop" if at.backlog.packets >= 3 else "pass"

        perhop.register(Twice)
    else:

        class Twice(perhop.Aqm):  # type: ignore[no-redef]
            def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
                return "drop" if at.backlog.packets >= 30 else "pass"

        perhop.register(Twice)


@pytest.mark.parametrize("defined", [closed, inherited, helped, twice])
def test_what_a_class_uses_is_part_of_it(defined: Callable[[int], None], tmp_path: Path) -> None:
    """Registered again with another constant, it is the new one that runs, and results of the old one do not answer."""
    hashes: list[str] = []
    for most in (3, 30, 3):
        defined(most)
        runs = ran(f'{{ aqm = "{defined.__name__}", limit = "50p" }}', out=tmp_path)
        assert [it.reused for it in runs.replications] == [most == 3 and len(hashes) == 2]
        built_in = ran(f'{{ aqm = "drop-tail", limit = "{most}p" }}')
        assert same(runs, built_in, "flows", "links")
        hashes.append(runs.replications[0].hash)
    assert hashes[0] == hashes[2] != hashes[1]


def test_a_constant_that_changes_later_is_another_text(tmp_path: Path) -> None:
    """As in a notebook, whose cell with the class does not run again."""
    helped(3)
    scenario = Scenario.from_toml(DUMBBELL, ['dumbbell.queue={ aqm = "helped", limit = "50p" }', SHORT])
    runs = [scenario.run(1, out=tmp_path)]
    for most in (30, 3):
        globals()["LIMIT"] = most
        runs.append(scenario.run(1, out=tmp_path))
    assert [it.replications[0].reused for it in runs] == [False, False, True]
    assert runs[0].replications[0].hash == runs[2].replications[0].hash != runs[1].replications[0].hash


def test_a_class_without_text_is_the_same_in_all_processes() -> None:
    """A set of texts has another order in each; workers of a cluster compare hashes."""
    hook = "def on_arrival(self, at, packet, rng): return 'drop' if packet.colour in {'red', 'green'} else 'pass'"
    told = "print(own.source(type('Set', (perhop.Aqm,), space)))"
    script = f"import perhop\nfrom perhop import own\nspace = {{}}\nexec({hook!r}, space)\n{told}"
    hashes = set[str]()
    for seed in "1234":
        environment = os.environ | {"PYTHONPATH": str(ROOT / "python"), "PYTHONHASHSEED": seed}
        made = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        hashes.add(made.stdout)
    assert len(hashes) == 1


def test_the_class_that_was_registered_last_runs() -> None:
    """Also if it has the text of the one before: what its instances share is its own."""
    made = []
    for _ in range(2):

        class Seen(perhop.Aqm):
            instances: list[Any] = []  # noqa: RUF012

            def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
                self.instances.append(self)
                return "pass"

        perhop.register(Seen)
        made.append(Seen)
        with pytest.warns(UserWarning, match="hooks of `seen` change an attribute of the class"):
            ran('{ aqm = "seen", limit = "50p" }')
    assert all(it.instances for it in made)


def test_results_of_another_text_are_opened(tmp_path: Path) -> None:
    closed(3)
    first = ran('{ aqm = "closed", limit = "50p" }', out=tmp_path)
    closed(30)
    opened = Runs.open(tmp_path)
    assert [it.hash for it in opened.replications] == [it.hash for it in first.replications]
    assert set(opened.means("arrivals", "throughput_bit_s")) == set(first.means("arrivals", "throughput_bit_s"))
    elsewhere = [sys.executable, "-c", f"import perhop; perhop.Runs.open({str(tmp_path)!r})"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    said = subprocess.run(elsewhere, env=environment, capture_output=True, text=True, check=False).stderr
    assert "is of an algorithm that is a Python class:" in said
    assert "help: import the class's module and `perhop.register` it in Python" in said


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
        "import signal\n\nimport perhop\n\n\nclass Endless(perhop.Aqm):\n"
        "    def on_arrival(self, at, packet, rng):\n        print('in', flush=True)\n"
        "        while True:\n            pass\n\n\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\nperhop.register(Endless)\n"
        f"scenario = perhop.Scenario.from_toml({str(DUMBBELL)!r}, ['dumbbell.queue={{ aqm = \"endless\" }}'])\n"
        f"try:\n    {call}\nexcept BaseException as error:\n    raise SystemExit(type(error).__name__)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    with subprocess.Popen(
        [sys.executable, str(script)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
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


@pytest.mark.parametrize(
    ("gives", "says"),
    [
        ("3", 'on_arrival gave 3: it gives "pass", "mark" or "drop"'),
        ("None", "on_arrival gave None"),
        ('"dropped"', "on_arrival gave 'dropped'"),
    ],
)
def test_a_wrong_answer_is_told(gives: str, says: str) -> None:
    space: dict[str, Any] = {"perhop": perhop, "__name__": "elsewhere"}
    text = f"class Wrong(perhop.Aqm):\n    def on_arrival(self, at, packet, rng):\n        return {gives}\n"
    exec(text, space)
    perhop.register(space["Wrong"])
    with pytest.raises(RunError) as raised:
        ran('{ aqm = "wrong", limit = "50p" }')
    assert says in str(raised.value)


def test_a_window_of_nan_is_told() -> None:
    class Lost(aimd.Aimd):  # type: ignore[misc, name-defined]
        def on_ack(self, signal: Any, window: Any) -> None:
            window.cwnd = float("nan")

    perhop.register(Lost)
    with pytest.raises(RunError, match="on_ack left cwnd = NaN"):
        ran('{ limit = "20p" }', 'tcp.own={ congestion = "lost" }', 'dumbbell.tcp="own"')


def test_a_packet_is_gone_after_its_hook() -> None:
    class Keeps(perhop.Aqm):
        kept: Any = None

        def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
            Keeps.kept = packet, rng
            return "pass"

    perhop.register(Keeps)
    with pytest.warns(UserWarning, match="hooks of `keeps` change an attribute of the class"):
        ran('{ aqm = "keeps", limit = "50p" }', jobs=1)
    packet, rng = Keeps.kept
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


@pytest.mark.parametrize(
    ("at", "says"),
    [
        ("-1", "poll_at gave -1: a time in s, from 0 on"),
        ("'1s'", "poll_at gave '1s': it gives a time in s, or None"),
        ("1.0", "poll_at gave 1 s again, after on_timer at that time"),
        ("0", "poll_at gave 0 s again, after on_timer at that time"),
    ],
)
def test_a_timer_that_cannot_be_is_told(at: str, says: str) -> None:
    """Also where the first time is wrong, which is asked for before the run."""
    space: dict[str, Any] = {"perhop": perhop, "__name__": "elsewhere"}
    exec(
        "class Ticks(perhop.Aqm):\n    def on_arrival(self, at, packet, rng):\n        return 'pass'\n"
        f"    def poll_at(self):\n        return {at}\n    def on_timer(self, at):\n        pass\n",
        space,
    )
    perhop.register(space["Ticks"])
    with pytest.raises(RunError) as raised:
        ran('{ aqm = "ticks", limit = "50p" }')
    assert says in str(raised.value)


@pytest.mark.parametrize("draw", ["random.random()", "np.random.rand()"])
def test_random_numbers_of_all_of_python_are_refused(draw: str, tmp_path: Path) -> None:
    space: dict[str, Any] = {"perhop": perhop, "__name__": "elsewhere"}
    exec(
        "import random\nimport numpy as np\nclass Draws(perhop.Aqm):\n"
        "    def __init__(self):\n        self.own, self.seen = random.Random(1), 0\n"
        "    def on_arrival(self, at, packet, rng):\n        self.seen += 1\n"
        f"        p = self.own.random() if self.seen % 50 else {draw}\n        return 'drop' if p < .02 else 'pass'\n",
        space,
    )
    perhop.register(space["Draws"])
    with pytest.raises(
        RunError, match=r"(?s)E901.*`draws` at `E1 -> E2` failed at.*draws from `random` or `numpy.random`"
    ):
        ran('{ aqm = "draws", limit = "50p" }', out=tmp_path)
    assert not list(tmp_path.rglob("manifest.json"))


def test_state_of_a_class_is_told() -> None:
    """Replications of one process share it: with another number of processes the results are others."""

    class Boxed(perhop.Aqm):
        box: dict[int, int] = {}  # noqa: RUF012

        def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
            self.box[packet.flow] = self.box.get(packet.flow, 0) + 1
            return "drop" if self.box[packet.flow] % 100 == 99 else "pass"

    perhop.register(Boxed)
    with pytest.warns(UserWarning, match="hooks of `boxed` change .* set it in __init__, as self.X"):
        ran('{ aqm = "boxed", limit = "50p" }', jobs=1, replications=2)


@pytest.mark.parametrize("label", [-1.0, float("nan"), float("inf")])
def test_a_label_is_a_number_from_0_on(label: float) -> None:
    def forward(self: Any, at: Any, packet: Any, rng: Any) -> str:
        packet.label = label
        return "pass"

    perhop.register(type("Labels", (perhop.Conditioner,), {"forward": forward, "__module__": "elsewhere"}))
    with pytest.raises(RunError, match=r"label = .*: it is a finite number from 0 on"):
        ran('{ limit = "50p" }', 'dumbbell.marker={ kind = "labels" }')


@pytest.mark.parametrize(("hook", "aqm"), [("on_ack", "drop-tail"), ("on_ecn", "marks")])
def test_a_window_below_a_segment_is_told(hook: str, aqm: str) -> None:
    """After an ACK nothing may be in flight, and then nothing would ever be sent again."""

    def shrink(self: Any, signal: Any, window: Any) -> None:
        window.cwnd = 0.5

    def marks(self: Any, at: Any, packet: Any, rng: Any) -> str:
        return "mark" if packet.ecn else "pass"

    perhop.register(type("Shrinks", (aimd.Aimd,), {hook: shrink, "__module__": "elsewhere"}))
    perhop.register(type("Marks", (perhop.Aqm,), {"on_arrival": marks, "__module__": "elsewhere"}))
    law = 'tcp.own={ congestion = "shrinks", recovery = "rack", rto = "modern", ecn = true }'
    with pytest.raises(RunError, match=rf"{hook} left cwnd = 0\.5, .*: cwnd is at least 1 there"):
        ran(f'{{ aqm = "{aqm}", limit = "20p" }}', law, 'dumbbell.tcp="own"')


@pytest.mark.parametrize("given", [None, {"a": None}, {1: 2.0}, {"a": "x"}])
def test_gauges_are_numbers_by_name(given: Any) -> None:
    def gauges(self: Any) -> Any:
        return given

    perhop.register(type("Gauged", (perhop.Aqm,), {"on_arrival": _hook, "gauges": gauges, "__module__": "elsewhere"}))
    says = re.escape(f"gauges gave {given!r}: it gives a dictionary of numbers by name")
    with pytest.raises(RunError, match=says):
        ran('{ aqm = "gauged", limit = "50p" }', "scenario.sample=1s")


def test_parameters_are_held_to_their_units() -> None:
    class Timed(perhop.Aqm):
        """Times."""

        def __init__(
            self,
            target: perhop.Time = perhop.Time("5ms"),  # noqa: B008
            mode: Literal["early", "late"] = "early",
            rate: perhop.Rate | None = None,
        ) -> None:
            if target > 1:
                raise ValueError(f"target is {target} s: at most 1 s")
            Timed.got = (float(target), mode, rate)  # type: ignore[attr-defined]

        def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
            return "pass"

    perhop.register(Timed)
    ran('{ aqm = "timed", target = "15ms", rate = "2Mbit/s" }', jobs=1)
    assert Timed.got == (0.015, "early", 2e6)  # type: ignore[attr-defined]
    for keys, says in [
        ("target = 5", "E103"),
        ('target = "5Mbit/s"', "E105"),
        ('mode = "earli"', "did you mean `early`"),
        ('targt = "5ms"', "did you mean `target`"),
        ('target = "2s"', "refuses its parameters: target is 2.0 s: at most 1 s"),
    ]:
        with pytest.raises(ScenarioError) as raised:
            Scenario.from_toml(DUMBBELL, [f'dumbbell.queue={{ aqm = "timed", {keys} }}'])
        assert says in str(raised.value)


THREE: Any = 3


def _of(bases: tuple[type, ...], **contents: Any) -> Callable[[], type]:
    return lambda: own.register(type("Made", bases, contents))


def _hook(self: Any, at: Any, packet: Any, rng: Any) -> str:
    return "pass"


def _listing(self: Any, levels: list[int]) -> None:
    pass


def _limited(self: Any, limit: int = 3) -> None:
    pass


def _windowed(self: Any, initial_window: int = 3) -> None:
    pass


def _matching(self: Any, match: str = "all") -> None:
    pass


def _late(self: Any, bound: perhop.Time = 5) -> None:  # type: ignore[assignment]
    pass


def _half(self: Any, most: int = 2.5) -> None:  # type: ignore[assignment]
    pass


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda: own.register(THREE), "must be a class from perhop.Aqm"),
        (_of((object,)), "must be a class from perhop.Aqm"),
        (_of((perhop.Aqm,)), "Made has no on_arrival"),
        (_of((perhop.Aqm,), on_arrival=_hook, name="red"), "`red` is built in"),
        (_of((perhop.Aqm,), on_arrival=_hook, name="half"), "`half` is registered already"),
        (_of((perhop.Aqm,), on_arrival=_hook, name="Half!"), "single hyphens"),
        (_of((perhop.Aqm,), on_arrival=_hook, on_timer=_hook), "on_timer and no poll_at"),
        (_of((perhop.Aqm,), on_arrival=_hook, __init__=_listing), "parameter levels of Made: annotate it as one of"),
        (_of((perhop.Aqm,), on_arrival=_hook, __init__=_limited), "[queue.X] has a key `limit` already"),
        (_of((perhop.Conditioner,), forward=_hook, __init__=_matching), "[conditioner.X] has a key `match` already"),
        (_of((aimd.Aimd,), __init__=_windowed), "[tcp.X] has a key `initial-window` already"),
        (_of((perhop.Aqm,), on_arrival=_hook, __init__=_late), "its default is 5: write perhop.Time('15ms')"),
        (_of((perhop.Aqm,), on_arrival=_hook, __init__=_half), "its default is 2.5, which is no whole number"),
        (_of((perhop.Aqm,), on_arrival=_hook, on_departur=_hook), "never called: did you mean on_departure?"),
    ],
)
def test_what_cannot_be_registered(made: Callable[[], object], says: str) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        made()
    assert says in str(raised.value)


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
