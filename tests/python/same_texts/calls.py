"""The same from Python: values as JSON with sorted keys, exceptions as their type and message."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from perhop import Scenario, ScenarioError, import_config, meter, tune
from same.record import of_table

from .program import Answer
from .texts import Text
from .verbs import LINK, POLICIES

RATE = LINK.split()[1]
SHORT = ("scenario.duration=200ms", "scenario.warmup=0s")
POINTS = 3
"""Of a sweep: that many are looked at, and a sweep of more is not run."""
Calls = dict[str, Callable[[str], Any]]


def scenario(name: str) -> Any:
    """What is read of a file."""
    it = Scenario.from_toml(name)
    points = [[point.name, point.labels, point.effective] for point in it.points[:POINTS]]
    texts = [it.effective(), it.to_toml(), it.to_dict(), it.explain(), repr(it), it._repr_html_()]
    return [it.name, it.settings, it.warnings, len(it.points), points, texts]


def run(name: str) -> Any:
    """A short run of a scenario of few points: its tables' hashes, and how it is printed."""
    it = Scenario.from_toml(name, SHORT)
    if len(it.points) > POINTS:
        return None
    runs = it.run(1, jobs=1, progress=False)
    return [{table: of_table(runs.table(table)) for table in runs.tables}, repr(runs)]


def configuration(name: str, as_: str, link: str | None = None) -> Any:
    """What is made of a configuration."""
    it = import_config(name, as_=as_, link=link)
    return [it.text, dict(it.account), it.findings, it.report, repr(it), it._repr_html_()]


def metered(capture: str, **how: Any) -> Any:
    """What is found in a capture."""
    it = meter(capture, **how)
    return [it.report, it.warnings, {name: dict(it.table(name)) for name in it.tables}, repr(it), it._repr_html_()]


def tuned(aqm: str, name: str) -> Any:
    """The settings of a queue."""
    it = tune(aqm, name)
    return [it.numbers, it.toml, repr(it)]


READ: Calls = {"Scenario.from_toml()": scenario}
IMPORTED: Calls = {f'import_config(link="{RATE}")': partial(configuration, as_="scenario", link=RATE)}
OF: dict[str, Calls] = {
    "scenario": {
        **READ,
        "Scenario.as_tc()": lambda name: Scenario.from_toml(name).as_tc(),
        "Scenario.run(1)": run,
    },
    "study": READ,
    "other": READ,
    "configuration": {
        **READ,
        "import_config()": partial(configuration, as_="scenario"),
        'import_config(as_="policy")': partial(configuration, as_="policy"),
        **IMPORTED,
        "Configuration.scenario()": lambda name: import_config(name, link=RATE).scenario().effective(),
    },
    "capture": {
        **READ,
        "import_config()": partial(configuration, as_="scenario"),
        "meter()": metered,
        "meter(rtt=True, bursts=True)": partial(metered, rtt=True, bursts=True),
        **{f'meter(by="{by}")': partial(metered, by=by) for by in ("host", "flow", "dscp")},
        **{f'meter(policy="{it}")': partial(metered, policy=it) for it in POLICIES},
    },
    "within scenario": READ,
    "within configuration": IMPORTED,
}
"""By kind of text; others are only for the program."""
TUNED: Calls = {f'tune("{aqm}")': partial(tuned, aqm) for aqm in ("svb", "msvb")}


def answers(text: Text) -> Iterator[tuple[str, Answer]]:
    """Those of all calls with a text."""
    for call in OF.get(text.kind, {}):
        yield call, answer(text, call)
    if text.kind == "scenario" and "svb" in Path(text.name).read_text(encoding="utf-8", errors="replace"):
        for call in TUNED:
            yield call, answer(text, call)


def is_call(verb: str) -> bool:
    """Whether a verb of the record is one of these."""
    return verb.endswith(")")


def answer(text: Text, call: str) -> Answer:
    """Of a call; exceptions that perhop does not raise on purpose end the comparison."""
    try:
        # How a table is printed depends on the width of a terminal.
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            value = (OF[text.kind] | TUNED)[call](text.name)
    except (ValueError, LookupError, TypeError, RuntimeError, OSError) as error:
        found = error.diagnostics if isinstance(error, ScenarioError) else None
        return Answer(2, b"", _json([type(error).__name__, str(error), found]))
    return Answer(0, _json(value), b"")


def _json(value: Any) -> bytes:
    return (json.dumps(value, sort_keys=True, indent=1, default=_plain) + "\n").encode()


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)
