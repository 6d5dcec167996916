"""A manifest is covered by its hash: whatever in it is altered is an error that names the directory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from conftest import SCENARIO, Command
from perhop import Runs, Scenario

SHORT = SCENARIO.replace('"6s"', '"2s"')
OTHERS: tuple[Any, ...] = (None, True, -1, 1.5, 10**30, "", "x", [], {}, [{}], {"x": None})
GONE = object()
Node = tuple[str | int, ...]


def nodes(tree: Any, path: Node = ()) -> Iterator[Node]:
    """Every place in a JSON document."""
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in inner:
        yield (*path, key)
        yield from nodes(value, (*path, key))


def mutated(tree: Any, path: Node, value: object) -> Any:
    """The document with another value at one place, or without it."""
    new = at = deepcopy(tree)
    for key in path[:-1]:
        at = at[key]
    if value is GONE:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return new


def mutants(tree: Any) -> Iterator[Any]:
    yield from (other for other in OTHERS if other != tree)
    for path in nodes(tree):
        for value in (GONE, *OTHERS):
            mutant = mutated(tree, path, value)
            if json.dumps(mutant) != json.dumps(tree):
                yield mutant


@pytest.fixture(params=["one", "block", "swept"])
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The manifest of one replication, of several together, of a point of a sweep."""
    vary = ["dumbbell.flows=4,5"] if request.param == "swept" else []
    runs = Scenario.from_toml(SHORT, vary=vary).run(1 if request.param == "one" else 3, out=tmp_path / "runs")
    directory = runs.replications[0].directory
    assert directory is not None
    return directory / "manifest.json"


def test_whatever_is_altered_is_an_error(written: Path) -> None:
    for mutant in mutants(json.loads(written.read_text())):
        written.write_text(json.dumps(mutant, indent=2))
        with pytest.raises(ValueError, match="E023") as error:
            Runs.open(written.parent)
        assert f"damaged results in {written.parent}: manifest.json" in str(error.value)


def test_what_is_missing_is_named(written: Path) -> None:
    """Every field has to be there, its hash too; the message names it, the file, and what to do."""
    manifest = json.loads(written.read_text())
    for field in manifest:
        written.write_text(json.dumps(mutated(manifest, (field,), GONE), indent=2))
        named = "replication" if field == "replications" else field
        with pytest.raises(ValueError, match="E023") as error:
            Runs.open(written.parent)
        assert f"{written.parent}: manifest.json cannot be read: missing field `{named}`" in str(error.value)
        assert "help: run it again" in str(error.value)


def test_a_byte_is_an_error_too(written: Path) -> None:
    text = written.read_text()
    assert text.count("manifest_hash") == 1
    written.write_text(text.replace("\n  ", "\n   ", 1))
    with pytest.raises(
        ValueError, match=r"manifest\.json was altered: its hash is [0-9a-f]{16}, but it states [0-9a-f]{16}"
    ):
        Runs.open(written.parent)


def test_every_verb_says_so(written: Path, perhop: Command, tmp_path: Path) -> None:
    written.write_text(written.read_text().replace('"seed": 1', '"seed": 2'))
    of = written.parent
    for words in (["plot", of], ["report", of], ["compare", of, of], ["runs", tmp_path / "runs"]):
        done = perhop(*words)
        assert done.returncode == 2, words
        assert f"damaged results in {of}: manifest.json was altered" in done.stderr
        assert "error: error" not in done.stderr
