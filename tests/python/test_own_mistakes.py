"""What is wrong with a class, or with what its hooks give, is told."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

import perhop
from owned import DUMBBELL, Half, aimd, ran
from perhop import RunError, Scenario, ScenarioError, own


@pytest.fixture(autouse=True, scope="module")
def _registered() -> None:
    perhop.register(Half)


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
