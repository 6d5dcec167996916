"""The notebooks run, and show what is committed; `make renew WHAT=notebooks` commits what they show."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from conftest import ROOT
from perhop import Scenario

NOTEBOOKS = sorted((ROOT / "docs/guides/notebooks").glob("*.ipynb"))
EXAMPLE = {"size-a-cbs": "cbs", "tutorial": "tutorial", "turn-a-knob": "pie"}
"""The scenario that each builds, as a file."""
CHECK = "__import__('pathlib').Path('scenario.toml').write_text(scenario.to_toml())"
MOST_BYTES = 150_000


def shown(notebook: Any) -> list[list[dict[str, str]]]:
    """What each cell shows; of a picture that there is one."""
    cells = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    return [[_texts(output.get("data", output)) for output in outputs] for outputs in cells]


def _texts(data: dict[str, Any]) -> dict[str, str]:
    return {"image/png": ""} if "image/png" in data else {kind: str(text) for kind, text in data.items()}


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_shows_what_is_committed(path: Path, tmp_path: Path) -> None:
    committed = nbformat.read(path, as_version=4)
    again = nbformat.read(path, as_version=4)
    probe = nbformat.v4.new_code_cell(CHECK)
    again.cells.append(probe)
    # The kernel sends what is printed in pieces of its own choice: how many depends on how busy the machine is.
    client = NotebookClient(again, kernel_name="python3", timeout=240, record_timing=False, coalesce_streams=True)
    client.execute(cwd=str(tmp_path))
    again.cells.remove(probe)
    example = Scenario.from_toml(ROOT / f"examples/{EXAMPLE[path.stem]}.toml")
    assert Scenario.from_toml((tmp_path / "scenario.toml").read_text()).effective() == example.effective()
    if os.environ.get("PERHOP_RENEW"):
        nbformat.write(again, path)
    else:
        assert shown(again) == shown(committed), "if that is intended: make renew WHAT=notebooks"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_is_small_and_sound(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert path.stat().st_size < MOST_BYTES
    numbers = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert numbers == list(range(1, len(numbers) + 1)), "run from the top"


def test_there_is_a_notebook_for_each_task() -> None:
    assert {path.stem for path in NOTEBOOKS} == set(EXAMPLE)
