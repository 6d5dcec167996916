"""Scenarios written in Python: from dictionaries and with the builder, read by the same validator as files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT, SCENARIO, SWEPT
from perhop import Scenario, ScenarioError, in_force

EXAMPLES = [p for p in sorted((ROOT / "examples").glob("*.toml")) if not p.stem.startswith("mark-")]
SMALL = tomllib.loads(SCENARIO)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_every_example_as_a_dictionary(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = {"scenario": {}} | tomllib.loads(text)
    tree["scenario"].setdefault("name", path.stem)
    ours, file = Scenario.from_dict(tree), Scenario.from_toml(path)
    assert ours.points == file.points
    assert [w["code"] for w in ours.warnings] == [w["code"] for w in file.warnings]
    again = Scenario.from_dict(file.to_dict())
    assert (again.to_toml(), again.points) == (file.to_toml(), file.points)


def test_places_are_keys() -> None:
    wrong = SMALL | {"dumbbell": SMALL["dumbbell"] | {"bottleneck": 2e6, "flow": 4}, "queue": {"rio": {"aqm": "rioo"}}}
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_dict(wrong)
    found = {d["path"]: d for d in caught.value.diagnostics}
    assert {"dumbbell.bottleneck", "dumbbell.flow", "queue.rio.aqm"} <= set(found)
    assert {(d["file"], d["line"], d["column"]) for d in found.values()} == {("scenario", None, None)}
    assert "dumbbell.bottleneck = 2000000.0" in str(caught.value)
    assert "scenario:" not in str(caught.value)


def test_a_fault_of_a_table_is_at_its_name() -> None:
    tree = SMALL | {"links": {"a - b": {"delay": "1ms"}}}
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_dict(tree)
    assert 'links."a - b"' in {d["path"] for d in caught.value.diagnostics}


def test_a_fault_of_an_override_is_at_the_override() -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_dict(SMALL, {"dumbbell.flows": "many"})
    assert {(d["file"], d["path"]) for d in caught.value.diagnostics} == {("overrides", None)}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "dumbbell.flows = None cannot be in a scenario: leave the key out"),
        ({1}, r"dumbbell.flows = \{1\} cannot be in a scenario: write a text"),
        (b"4", "dumbbell.flows = b'4' cannot"),
        ([1, None], "dumbbell.flows = None cannot"),
        ({"a b": None}, r'dumbbell.flows."a b" = None cannot'),
        ({3: 4}, "3 in dumbbell.flows is not a key"),
        ([{3: 4}], "3 in dumbbell.flows is not a key"),
    ],
)
def test_what_a_file_cannot_hold_is_refused(value: object, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        Scenario.from_dict({"dumbbell": {"flows": value}})


def test_numbers_of_numpy_are_numbers() -> None:
    ours = Scenario.from_dict(SMALL, {"dumbbell.flows": np.int64(7), "queue.rio.in.max-p": np.float64(0.5)})
    assert ours.effective() == Scenario.from_toml(SCENARIO, ["dumbbell.flows=7", "queue.rio.in.max-p=0.5"]).effective()


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_lines_are_the_inverse_of_reading(tree: dict[str, Any]) -> None:
    text, keys = in_force.lines(tree)
    assert tomllib.loads(text) == tree
    lines = text.split("\n")[:-1]
    assert all(line.startswith(".".join(parts) + " = ") for line, parts in zip(lines, keys, strict=True))


def built() -> Scenario:
    return (
        Scenario.build("policed", duration="6s", warmup="1s", replications=2)
        .link("a - E", rate="100Mbit/s", delay="1ms")
        .link("E - b", rate="100Mbit/s", delay="9ms")
        .link("E -> b", queue="red")
        .node("a", address="192.0.2.7")
        .conditioner("police", at="E -> b", kind="token-bucket", cir="5Mbit/s", cbs="50kB", red="drop")
        .queue("red", aqm="red", limit="60p", min="15p", max="40p", max_p=0.1)
        .traffic("bulk", model="ftp", flows=2, from_="a", to="b", tcp="host")
        .tcp("host", recovery="newreno")
        .change("3s", conditioner={"police": {"cir": "8Mbit/s"}})
        .change("4s", conditioner={"police": {"cir": "5Mbit/s"}})
        .sweep({"conditioner.police.cbs": ["50kB", "100kB"]})
        .scenario()
    )


FILE = """
[scenario]
name = "policed"
duration = "6s"
warmup = "1s"
replications = 2

[links]
"a - E" = { rate = "100Mbit/s", delay = "1ms" }
"E - b" = { rate = "100Mbit/s", delay = "9ms" }
"E -> b" = { queue = "red" }

[nodes.a]
address = "192.0.2.7"

[conditioner.police]
at = "E -> b"
kind = "token-bucket"
cir = "5Mbit/s"
cbs = "50kB"
red = "drop"

[queue.red]
aqm = "red"
limit = "60p"
min = "15p"
max = "40p"
max-p = 0.1

[traffic.bulk]
model = "ftp"
flows = 2
from = "a"
to = "b"
tcp = "host"

[tcp.host]
recovery = "newreno"

[[change]]
at = "3s"
conditioner.police.cir = "8Mbit/s"

[[change]]
at = "4s"
conditioner.police.cir = "5Mbit/s"

[sweep]
"conditioner.police.cbs" = ["50kB", "100kB"]
"""


def test_the_builder_reads_like_the_file() -> None:
    ours, file = built(), Scenario.from_toml(FILE)
    assert ours.to_toml() == file.to_toml()
    assert ours.points == file.points
    assert [r.hash for r in ours.run()] == [r.hash for r in file.run()]


def test_a_dumbbell_with_the_builder() -> None:
    settings, dumbbell = SMALL["scenario"], SMALL["dumbbell"]
    name = settings["name"]
    start = Scenario.build(name, **{k: v for k, v in settings.items() if k != "name"}).dumbbell(**dumbbell)
    rio = start.queue(
        "rio", **{f"{key}_" if key == "in" else key: value for key, value in SMALL["queue"]["rio"].items()}
    )
    assert rio.to_dict() == SMALL
    assert rio.scenario().points == Scenario.from_toml(SCENARIO).points
    assert rio.sweep(tomllib.loads(SWEPT)["sweep"]).scenario().points == Scenario.from_toml(SCENARIO + SWEPT).points


def test_a_builder_is_never_changed() -> None:
    base = Scenario.build("x", duration="5s").dumbbell(flows=1)
    one, two = base.queue("q", limit="5p"), base.queue("q", limit="9p")
    assert [b.to_dict().get("queue") for b in (base, one, two)] == [
        None,
        {"q": {"limit": "5p"}},
        {"q": {"limit": "9p"}},
    ]
    base.to_dict()["scenario"]["name"] = "y"
    assert repr(base) == "Builder('x': scenario, dumbbell)"


def test_a_section_is_stated_once() -> None:
    with pytest.raises(ValueError, match=r'links\."a - b" is stated already'):
        Scenario.build("x").link("a - b", rate="1Mbit/s").link("a - b", rate="2Mbit/s")
