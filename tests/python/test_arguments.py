"""Every argument of every public function, with values that it cannot have: an error that names it, never a crash."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import perhop
from conftest import ROOT, SCENARIO, SWEPT
from perhop import Builder, Frame, Interval, Metered, Runs, Scenario, Tuned, paired, plot
from perhop.arguments import LONGEST, fits, shown, words

SMALL = SCENARIO.replace('"6s"', '"2s"')
CAPTURE, POLICY = ROOT / "tests/captures/tcp.pcap", ROOT / "examples/mark-af.toml"


class Call(NamedTuple):
    """A function with arguments that it takes."""

    function: Callable[..., Any]
    arguments: dict[str, Any]
    more: tuple[str, ...] = ()
    """Names of what is in its `**`."""


class Odd:
    """Nothing that anything expects."""


VALUES: dict[str, Any] = {
    "None": None,
    "True": True,
    "-1": -1,
    "0": 0,
    "3": 3,
    "2**31": 2**31,
    "2**32": 2**32,
    "2**63": 2**63,
    "-2**63": -(2**63),
    "10**5000": 10**5000,
    "1.5": 1.5,
    "nan": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "empty text": "",
    "text": "3",
    "NUL": "a\0b",
    "half a pair": "\ud800",
    "bytes": b"x",
    "empty list": [],
    "list": [3],
    "list of texts": ["x"],
    "list of odd things": [None, Odd()],
    "empty dictionary": {},
    "dictionary": {3: 4},
    "table": {"x": None},
    "set": {1},
    "range": range(2**70),
    "array": np.array([1.0, 2.0]),
    "numpy bool": np.bool_(True),
    "complex": 1j,
    "odd": Odd(),
    "class": int,
    "function": lambda: 1,
}

SAID = (TypeError, ValueError, KeyError, OSError, perhop.RunError)
"""What a user may meet; `ScenarioError` is a `ValueError`."""


def calls(place: Path) -> dict[str, Call]:
    """Every public function that takes arguments."""
    small = Scenario.from_toml(SMALL)
    link: dict[str, Any] = {"rate": "10Mbit/s", "classes": ["rtt=120ms,flows=5"]}
    runs = Scenario.from_toml(SMALL + SWEPT).run(2, out=place / "runs", events=True, progress=False)
    begun, tuned = Scenario.build("x"), perhop.tune("svb", **link)
    section = ("name",)
    builder = {
        name: Call(getattr(begun, name), dict.fromkeys(section, "a - b"), ("rate",))
        for name in ("link", "node", "conditioner", "queue", "traffic", "tcp")
    }
    return {
        "Scenario": Call(Scenario, {"text": SMALL}),
        "Scenario.from_toml": Call(Scenario.from_toml, {"source": SMALL}),
        "Scenario.from_dict": Call(Scenario.from_dict, {"tree": small.to_dict()}),
        "Scenario.build": Call(Scenario.build, {"name": "x"}, ("seed",)),
        "Scenario.as_tc": Call(small.as_tc, {"port": "E1 -> E2", "dev": "eth0"}),
        "Scenario.run": Call(small.run, {"replications": 1, "progress": False}),
        "Scenario.sweep": Call(small.sweep, {"axes": {"dumbbell.flows": [1]}}, ("replications", "jobs")),
        "Runs.open": Call(Runs.open, {"directory": place / "runs"}),
        "Runs.table": Call(runs.table, {"name": "traffic"}),
        "Runs.values": Call(runs.values, {"table": "traffic", "column": "jain", "by": ["flows", "marker"]}),
        "Runs.totals": Call(runs.totals, {"table": "summary", "column": "dropped_packets", "by": ["flows", "marker"]}),
        "Runs.means": Call(runs.means, {"table": "traffic", "column": "jain", "by": ["flows", "marker"]}),
        "Runs.sql": Call(runs.sql, {"query": "select 1"}),
        "Runs.events": Call(runs.events, {"columns": ["hop"]}),
        "Runs.where": Call(runs.where, {"conditions": {"colour": "green"}}, ("flows", "nothing")),
        "Runs.tc_stats": Call(small.run(1, tc_stats=True, progress=False).tc_stats, {"replication": 0}),
        "Runs.df": Call(runs.df, {"table": "traffic"}),
        "Runs.intervals": Call(runs.intervals, {"table": "traffic", "column": "jain"}),
        "Runs.plot": Call(runs.plot, {"kind": "traffic.jain"}),
        "Frame.df": Call(runs.table("traffic").df, {}),
        "Interval.above": Call(Interval(1.0, 0.5, 1.5, 3).above, {"bound": 1.0}),
        "Interval.below": Call(Interval(1.0, 0.5, 1.5, 3).below, {"bound": 1.0}),
        "Interval.scaled": Call(Interval(1.0, 0.5, 1.5, 3).scaled, {"factor": 8.0}),
        "Interval.contains": Call(Interval(1.0, 0.5, 1.5, 3).contains, {"bound": 1.0}),
        "Builder.change": Call(begun.change, {"at": "1s"}, ("queue",)),
        "Builder.dumbbell": Call(begun.dumbbell, {}, ("flows",)),
        "Builder.sweep": Call(begun.sweep, {"axes": {"dumbbell.flows": [1]}}),
        **{f"Builder.{name}": call for name, call in builder.items()},
        "Tuned.plot": Call(tuned.plot, {"path": place / "x.svg"}),
        "meter": Call(perhop.meter, {"capture": CAPTURE, "policy": POLICY}),
        "mark": Call(perhop.mark, {"capture": CAPTURE, "out": place / "out.pcap", "policy": POLICY, "force": True}),
        "Metered.table": Call(perhop.meter(CAPTURE).table, {"name": "flows"}),
        "Runs.compare": Call(runs.compare, {"by": "marker", "metrics": ["traffic.jain"]}),
        "tune": Call(perhop.tune, {"aqm": "svb", **link}),
        "paired.differences": Call(paired.differences, {"a": runs, "b": runs, "metrics": ["traffic.jain"]}),
        "plot.figure": Call(plot.figure, {"kind": "traffic.jain", "runs": runs}),
    }


CLASSES = {
    "Scenario": Scenario,
    "Runs": Runs,
    "Builder": Builder,
    "Frame": Frame,
    "Interval": Interval,
    "Metered": Metered,
    "Tuned": Tuned,
}
WITHOUT_A_TYPE = {"Builder.dumbbell"}
"""Functions all of whose arguments are keywords of the user's own."""


def public() -> set[str]:
    """The functions of the public classes that take arguments."""
    found = set()
    for name, of in CLASSES.items():
        for method, function in inspect.getmembers(of, callable):
            inherited = method in dir(dict) or method.startswith("_")
            if not inherited and len(inspect.signature(function).parameters) > (function.__qualname__ != method):
                found.add(f"{name}.{method}")
    return {name for name in found if inspect.signature(_function(name)).parameters.keys() - {"self"}}


def _function(name: str) -> Callable[..., Any]:
    of, _, method = name.partition(".")
    found: Callable[..., Any] = getattr(CLASSES[of], method)
    return found


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Call]:
    return calls(tmp_path_factory.mktemp("arguments"))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_none_is_forgotten(every: Mapping[str, Call]) -> None:
    assert public() - set(every) == set()
    others = {"Point", "Replication", "RunError", "ScenarioError", "__version__", "mark", "meter", "tune"}
    quantities = {"Packets", "Probability", "Rate", "Size", "Time"}
    hooks = {"Aqm", "Conditioner", "CongestionControl", "register"}
    classes = set(perhop.__all__) - others - quantities - hooks
    assert classes == set(CLASSES), "the others are data and errors; hooks are perhop's to call"


def test_every_argument_states_what_it_is(every: Mapping[str, Call]) -> None:
    unchecked = [name for name, call in every.items() if not hasattr(_plain(call.function), "__wrapped__")]
    assert set(unchecked) == WITHOUT_A_TYPE


def _plain(function: Any) -> Any:
    if inspect.isclass(function):
        return function.__init__
    return getattr(function, "__func__", function)


def told(message: str, name: str, value: object) -> bool:
    """Whether a message names the argument, or what was given for it."""
    if isinstance(value, Mapping) and value:
        return any(told(message, name, inner) for pair in value.items() for inner in pair)
    if isinstance(value, list) and value:
        return any(told(message, name, inner) for inner in value)
    texts = {value, repr(value)[1:-1]} if isinstance(value, str) else {shown(value).rstrip(".")}
    words_ = {name, name.replace("_", "-"), *texts}
    return any(word.lower() in message.lower() for word in words_)


@pytest.mark.parametrize("given", list(VALUES))
def test_a_wrong_value_is_refused_in_words(every: Mapping[str, Call], given: str) -> None:
    value, wrong = VALUES[given], []
    for name, (function, arguments, more) in every.items():
        parameters = inspect.signature(function).parameters.values()
        for argument in [*(p.name for p in parameters if p.kind != p.VAR_KEYWORD), *more]:
            if argument == "progress" and callable(value):
                continue  # it is called, and raises what it likes
            try:
                called(function, {**_given(arguments, argument), argument: value})
            except SAID as error:
                if not isinstance(error, perhop.ScenarioError) and not told(str(error), argument, value):
                    wrong.append(f"{name}({argument}=): {type(error).__name__}: {error}")
            except BaseException as error:
                wrong.append(f"{name}({argument}=): {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)


def called(function: Callable[..., Any], arguments: dict[str, Any]) -> None:
    """Calls it; some of its arguments have no names."""
    first = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.POSITIONAL_ONLY]
    bound = [arguments[name] for name in first]
    function(*bound, **{name: value for name, value in arguments.items() if name not in first})


def _given(arguments: dict[str, Any], argument: str) -> dict[str, Any]:
    """The arguments of a call without those that exclude this one."""
    without = {"file": ("rate", "classes")}.get(argument, ())
    return {name: value for name, value in arguments.items() if name not in without}


def test_bounds_are_those_of_the_command_line(small: Scenario) -> None:
    with pytest.raises(ValueError, match=r"`replications` is 2147483648\n   help: 1 to 100000: "):
        small.run(2**31)
    with pytest.raises(ValueError, match=r"`replications` is 100001\n"):
        small.run(range(99_999, 100_001))
    with pytest.raises(ValueError, match=r"`jobs` is 100000\n   help: 0 to 1024: threads"):
        small.run(jobs=100_000)
    with pytest.raises(ValueError, match=r"`seed` is 9223372036854775808\n   help: 0 to 9223372036854775807"):
        small.run(seed=2**63)
    with pytest.raises(TypeError, match="replications = '3': must be a whole number, a range or None"):
        small.run("3")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="jobs = True: must be a whole number"):
        small.run(jobs=True)
    with pytest.raises(TypeError, match="replications = True"):
        small.run(True)
    with pytest.raises(ValueError, match="chunk_s = nan: above 0, and finite"):
        small.run(1, chunk_s=math.nan)
    one: Any = np.int64(1)
    assert small.run(one, jobs=one).replications[0].hash == small.run(1).replications[0].hash


def test_messages_name_what_python_was_given() -> None:
    def said(ask: Callable[[], object]) -> str:
        with pytest.raises(perhop.ScenarioError) as caught:
            ask()
        return str(caught.value)

    small = Scenario.from_toml(SMALL)
    asked = [
        ("axes:1:", lambda: small.sweep({"dumbbell.flow": [1]})),
        ("vary:1:", lambda: Scenario(SMALL, vary=["dumbbell.flows=1,1"])),
        ("overrides:1:", lambda: Scenario(SMALL, overrides={"dumbbell.flows": "many"})),
        ("scenario.replications", lambda: small.sweep({"scenario.replications": [1]})),
    ]
    for place, ask in asked:
        message = said(ask)
        assert place in message
        assert "--" not in message
        assert " -s" not in message


@pytest.mark.parametrize(
    ("value", "hint", "right"),
    [
        (True, int, False),
        (3, float, True),
        (np.float32(1), float, True),
        ("ab", "Sequence[str]", False),
        (["ab"], "Sequence[str]", True),
        ([3], "Sequence[str]", False),
        (iter([3]), "Iterable[str]", True),
        ({"a": 1}, "Iterable[str]", False),
        ({3: 1}, "Mapping[str, object]", False),
        ("\ud800", str, False),
        (None, "str | None", True),
        (len, "Callable[[int], object]", True),
        (3, "Any", True),
    ],
)
def test_what_fits(value: object, hint: Any, right: bool) -> None:
    names = {"Any": Any, "Callable": Callable, "Iterable": Iterable, "Mapping": Mapping, "Sequence": Sequence}
    assert fits(value, eval(hint, names) if isinstance(hint, str) else hint) == right


def test_words() -> None:
    assert words(str | os.PathLike[str] | None) == "a text, a path or None"
    assert words(Sequence[str]) == "a list of texts"
    assert words(Runs) == "a Runs"
    assert len(shown("x" * 1000)) == LONGEST
