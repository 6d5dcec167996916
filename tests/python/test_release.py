"""What a release is made of agrees: versions, metadata of the crates, what an sdist holds, what the workflows call."""

from __future__ import annotations

import importlib
import os
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import ROOT
from perhop import _core, built, files

#: What a crate on crates.io says of itself.
SAID = ("description", "license", "repository", "readme", "keywords", "categories", "rust-version")
#: Crates that are not on crates.io: for those who work on perhop, and what the wheel holds.
PRIVATE = {"perhop-bench", "perhop-py"}


def toml(path: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


WORKSPACE = toml("Cargo.toml")["workspace"]
VERSION = WORKSPACE["package"]["version"]


def crates() -> list[dict[str, Any]]:
    return [toml(f"{member}/Cargo.toml")["package"] for member in WORKSPACE["members"]]


def test_every_file_that_names_the_version_names_the_same() -> None:
    inside = [it["version"] for name, it in WORKSPACE["dependencies"].items() if name.split("-")[0] == "perhop"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = [line for line in changes.splitlines() if line.startswith("## ")]
    newest = next(line for line in headings if line != "## Unreleased")
    assert set(inside) == {VERSION}
    assert _core.__version__ == citation["version"] == VERSION
    assert newest == f"## {VERSION} ({citation['date-released']})"
    assert f"| {VERSION.rpartition('.')[0]} | yes |" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_every_crate_that_is_published_says_what_crates_io_asks_for() -> None:
    assert {crate["name"] for crate in crates() if crate.get("publish") is False} == PRIVATE
    public = [crate for crate in crates() if crate["name"] not in PRIVATE]
    assert [(crate["name"], key) for crate in public for key in SAID if not crate.get(key)] == []
    assert len({crate["description"] for crate in public}) == len(public)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is not a git checkout")
def test_the_tree_has_no_link() -> None:
    """Packages and archives are built from plain files, on systems without links too."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    assert len(names) > 1000
    assert [name for name in names if (ROOT / name).is_symlink()] == []


def test_an_sdist_has_all_that_a_wheel_has(tmp_path: Path) -> None:
    code = f"import sys; sys.path.insert(0, 'scripts'); import backend; backend.build_sdist({str(tmp_path)!r})"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, env={**os.environ, "PATH": path}
    )
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as sdist:
        members = sdist.getmembers()
    assert [member.name for member in members if not member.isfile()] == []
    held = {member.name.partition("/")[2] for member in members}
    assert {f"python/{file}" for file in shipped()} <= held
    assert {f"examples/{path.name}" for path in (ROOT / "examples").iterdir() if path.is_file()} <= held
    assert {f"{member}/Cargo.toml" for member in WORKSPACE["members"]} - held == {"crates/bench/Cargo.toml"}
    assert [name for name in held if "perhop_lab" in name] == []
    assert {"scripts/backend.py", "pyproject.toml", "Cargo.lock", "LICENSE-MIT", "LICENSE-APACHE", "README.md"} <= held


def shipped() -> set[str]:
    """The files of the packages, below `python`."""
    inside = (path for package in ("perhop", "perhop_studies") for path in (ROOT / "python" / package).rglob("*"))
    found = (path for path in inside if path.is_file() and path.suffix not in (".so", ".pyc"))
    return {str(path.relative_to(ROOT / "python")) for path in found}


def test_a_wheel_has_the_examples_as_files_of_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    backend = importlib.import_module("backend")
    there = tmp_path / "examples"
    monkeypatch.setattr(backend, "EXAMPLES", there)
    backend.copy_examples()
    assert {path.name: path.read_bytes() for path in there.iterdir()} == {
        path.name: path.read_bytes() for path in (ROOT / "examples").iterdir() if path.is_file()
    }
    assert (files.data() / "examples" / "dumbbell.toml").is_file()


def test_the_readme_begins_with_a_finding_and_a_picture() -> None:
    first_minute = runpy.run_path(str(ROOT / "tests/first_minute.py"))
    check, predict = first_minute["commands"]()
    assert check.line.startswith("perhop check ")
    assert predict.line.startswith("perhop predict ")
    assert ".svg" in predict.line
    assert check.shown
    assert predict.shown


def test_the_first_minute_compares_with_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A perhop that prints nothing, and one that draws nothing, are found."""
    script = runpy.run_path(str(ROOT / "tests/first_minute.py"))
    program = tmp_path / "perhop"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(SystemExit, match="does not print"):
        script["first_minute"](tmp_path, 0.0)
    readme = tmp_path / "shown"
    readme.write_text("\n".join(line for command in script["commands"]() for line in command.shown))
    program.write_text(f"#!/bin/sh\ncat {readme}\n")
    with pytest.raises(SystemExit, match="no picture"):
        script["first_minute"](tmp_path, 0.0)


@pytest.mark.parametrize(("name", "calls"), [("ci", ".ci/run"), ("release", "tests/release.sh")])
def test_workflows_call_what_is_run_by_hand(name: str, calls: str) -> None:
    workflow = yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text(encoding="utf-8"))
    steps = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    assert any(calls in step for step in steps)
    assert os.access(ROOT / calls, os.X_OK)


def elf(machine: int) -> bytes:
    """The head of an ELF file of 64 bits."""
    return b"\x7fELF\x02\x01\x01" + bytes(9) + (3).to_bytes(2, "little") + machine.to_bytes(2, "little")


def test_a_module_for_another_machine_is_an_error_that_names_both(tmp_path: Path) -> None:
    package = tmp_path / "perhop"
    shutil.copytree(ROOT / "python/perhop", package, ignore=shutil.ignore_patterns("_core*", "__pycache__"))
    (package / "_core.abi3.so").write_bytes(elf(0x9026))
    done = subprocess.run(
        [sys.executable, "-c", "import perhop"],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stderr.splitlines()[-1]
    assert said.startswith(
        f"ImportError: {package}/_core.abi3.so was built for Linux processor 36902, and this Python, "
    )
    assert "Install the wheel for" in said


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (elf(62), "Linux x86_64"),
        (elf(183), "Linux aarch64"),
        (b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01", "Darwin arm64"),
        (b"MZ", None),
    ],
)
def test_a_module_says_for_what_it_was_built(tmp_path: Path, head: bytes, found: str | None) -> None:
    module = tmp_path / "_core.so"
    module.write_bytes(head)
    assert built.built_for(module) == found
