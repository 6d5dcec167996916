"""Files: those that travel with the package, in a checkout and in a wheel alike, and those that it writes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path


def data() -> Path:
    """The directory that holds `studies/` and `examples/`."""
    return Path(str(resources.files("perhop"))) / "data"


def examples() -> list[Path]:
    """All example scenarios and policies."""
    return sorted((data() / "examples").glob("*.toml"))


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Where to write what becomes `path` when it is complete; after an error `path` is as it was.

    A device, as `/dev/stdout`, is written itself.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.partial{path.suffix}")
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


def write(path: Path, content: str | bytes) -> None:
    """Writes a file whole or not at all; a text as UTF-8."""
    with whole(path) as temporary:
        temporary.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
