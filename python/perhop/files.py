"""Files that travel with the package: the studies' and the examples' scenarios, in a checkout and in a wheel alike."""

from __future__ import annotations

from importlib import resources
from pathlib import Path


def data() -> Path:
    """The directory that holds `studies/` and `examples/`."""
    return Path(str(resources.files("perhop"))) / "data"


def examples() -> list[Path]:
    """All example scenarios and policies."""
    return sorted((data() / "examples").glob("*.toml"))
