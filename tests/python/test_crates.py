"""Which crate may depend on which: the table here, and no other edge."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

ALLOWED = {
    "derive": "",
    "core": "derive",
    "sim": "core",
    "quic": "core sim",
    "edge": "core sim",
    "capture": "core sim edge",
    "scenario": "core sim quic",
    "results": "core sim capture scenario",
    "config": "core sim scenario results",
    "runs": "core sim capture scenario results config",
    "live": "core sim edge",
    "app": "core sim edge capture scenario results config runs live",
    "cli": "core sim capture scenario results config app",
    "py": "core sim capture scenario results config runs app",
    "bench": "core sim scenario",
}
"""From each crate to those that its code depends on; its tests may depend on more."""


def _edges(crate: Path) -> set[str]:
    manifest = tomllib.loads((crate / "Cargo.toml").read_text(encoding="utf-8"))
    tables = [manifest, *manifest.get("target", {}).values()]
    names = {name for table in tables for name in table.get("dependencies", {})}
    return {"cli" if name == "perhop" else name.removeprefix("perhop-") for name in names if name.startswith("perhop")}


def test_crates_depend_on_each_other_as_the_table_says() -> None:
    crates = {path.name: path for path in sorted((ROOT / "crates").iterdir()) if (path / "Cargo.toml").exists()}
    found = {name: _edges(path) for name, path in crates.items()}
    assert found == {name: set(allowed.split()) for name, allowed in ALLOWED.items()}


def test_what_a_crate_depends_on_stands_before_it() -> None:
    order = list(ALLOWED)
    assert all(order.index(to) < order.index(of) for of, allowed in ALLOWED.items() for to in allowed.split())
