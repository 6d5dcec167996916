"""CONTRIBUTING's map names every crate and every folder, and its order of crates is that of their dependencies."""

from __future__ import annotations

import re
import subprocess
import tomllib
from typing import Any

from conftest import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAP = TEXT.split("## Where things are")[1].split("## Which tests to run")[0]


def test_every_crate_and_folder_is_in_the_map() -> None:
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    folders = {file.split("/")[0] for file in files if "/" in file and not file.startswith(".")}
    inside = {"/".join(file.split("/")[:2]) for file in files if file.startswith(("crates/", "python/"))}
    named = {name for row in re.findall(r"^\| (.*?) \|", MAP, re.MULTILINE) for name in re.findall(r"`([\w/]+)`", row)}
    assert named == (folders - {"crates", "python"}) | inside


def test_no_crate_depends_on_a_later_one() -> None:
    order = re.search(r"go one way: ([a-z, ]+)\.", " ".join(MAP.split()))
    assert order
    names = order[1].split(", ")
    members = toml("Cargo.toml")["workspace"]["members"]
    assert set(names) == {member.removeprefix("crates/") for member in members} - {"bench"}
    for place, name in enumerate(names):
        needs = {need for need in toml(f"crates/{name}/Cargo.toml")["dependencies"] if need.startswith("perhop")}
        assert {need.removeprefix("perhop-").replace("perhop", "cli") for need in needs} <= set(names[:place]), name


def test_statrs_computes_no_result() -> None:
    """Its functions are those of the platform, whose last bits differ: it is for tests alone."""
    for member in toml("Cargo.toml")["workspace"]["members"]:
        assert "statrs" not in toml(f"{member}/Cargo.toml")["dependencies"], member


def toml(path: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))
