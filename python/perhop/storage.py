"""Where results are: a directory, or an address of object storage as `s3://bucket/runs`, through fsspec.

On object storage a directory of replications counts when it has its manifest, which is written last: several files
cannot be renamed at once there. Reading makes a copy here of what counts; `connection` queries in place.

Decision: docs/decisions/094-tasks-of-a-chunk.md
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from perhop.cluster.errors import ClusterError, needed
from perhop.sql import connect, text

if TYPE_CHECKING:
    import duckdb

MANIFEST = "manifest.json"


def is_address(place: str | os.PathLike[str]) -> bool:
    """Whether it is on object storage."""
    return "://" in os.fspath(place)


def absolute(place: str | os.PathLike[str]) -> str:
    """As other processes can find it."""
    return os.fspath(place) if is_address(place) else str(Path(place).absolute())


def filesystem(place: str) -> tuple[Any, str]:
    """Fsspec's file system, and the path on it.

    Raises:
        ClusterError: what it needs is not installed, or no such kind of address.
    """
    fsspec = needed("fsspec")
    try:
        found: tuple[Any, str] = fsspec.core.url_to_fs(place)
    except ImportError as error:
        raise ClusterError(f"{place}: {error}\n   help: pip install 'perhop[cluster]'") from error
    except ValueError as error:
        raise ClusterError(
            f"{place}: {error}\n   help: give a directory, or an address such as s3://bucket/runs"
        ) from error
    found[0].invalidate_cache()
    return found


@contextmanager
def failing(place: str, verb: str) -> Iterator[None]:
    """Whatever the storage raises, in words."""
    try:
        yield
    except Exception as error:
        why = " ".join(str(error).split()) or type(error).__name__
        help_ = "check that it exists, and this machine's credentials (such as AWS_ACCESS_KEY_ID) and rights"
        raise OSError(f"error[E020] cannot {verb} {place}: {why}\n   help: {help_}") from error


@contextmanager
def writing(out: str) -> Iterator[str]:
    """Where the core writes what belongs in `out`: there, or here, from where it goes there at the end."""
    if not is_address(out):
        yield out
        return
    with tempfile.TemporaryDirectory(prefix="perhop-") as folder:
        try:
            yield folder
        finally:
            upload(Path(folder), out)


def upload(folder: Path, place: str) -> None:
    """All complete directories of replications, the manifest of each last."""
    fs, root = filesystem(place)
    with failing(place, "write"):
        for manifest in sorted(folder.rglob(MANIFEST)):
            to = f"{root}/{manifest.parent.relative_to(folder).as_posix()}"
            tables = [path for path in manifest.parent.iterdir() if path != manifest]
            fs.put([str(path) for path in tables], [f"{to}/{path.name}" for path in tables])
            fs.put_file(str(manifest), f"{to}/{MANIFEST}")


@lru_cache
def _copy_of(place: str) -> Path:
    """Where the copy of an address is, until this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="perhop-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def here(place: str, below: str = "") -> Path:
    """A directory with everything of `place` that counts, `below` a path in it: itself, or a copy made now."""
    if not is_address(place):
        return Path(place)
    folder = _copy_of(place.rstrip("/"))
    fs, root = filesystem(place)
    with failing(place, "read"):
        for directory, files in _complete(fs, f"{root}/{below}".rstrip("/")):
            to = folder / PurePosixPath(directory).relative_to(root)
            if not (to / MANIFEST).exists():
                to.mkdir(parents=True, exist_ok=True)
                fs.get(files, [str(to / PurePosixPath(file).name) for file in files])
    return folder


def _complete(fs: Any, root: str) -> Iterable[tuple[str, list[str]]]:
    """Directories that have a manifest, with their files, that one last."""
    found: dict[str, list[str]] = {}
    for file in sorted(fs.find(root), key=lambda file: file.endswith(f"/{MANIFEST}")):
        found.setdefault(str(PurePosixPath(file).parent), []).append(file)
    return [(directory, files) for directory, files in found.items() if files[-1].endswith(f"/{MANIFEST}")]


def connection(place: str) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection with one view for each table of the results in `place`, which are read where they are.

    `filename` is the file of a row, `replication` its number in a block, else null.

    Raises:
        FileNotFoundError: no results are there.
    """
    fs, root = filesystem(place)
    with failing(place, "read"):
        files = [file for _, files in _complete(fs, root) for file in files if file.endswith(".parquet")]
    if not files:
        raise FileNotFoundError(f"no finished replication below {place}")
    tables: dict[str, list[str]] = {}
    for file in files:
        tables.setdefault(PurePosixPath(file).stem, []).append(fs.unstrip_protocol(file))
    database = connect()
    database.register_filesystem(fs)
    for name, of in tables.items():
        listed = ", ".join(map(text, of))
        query = f"SELECT * FROM read_parquet([{listed}], union_by_name = true, filename = true)"
        database.execute(f'CREATE VIEW "{name}" AS {query}')
    return database


PROBE = ".perhop-probe-{}"


def write_probe(out: str, name: str) -> None:
    """Writes a file with its own name in it.

    Raises:
        OSError: it cannot be written.
    """
    fs, root = filesystem(out)
    with failing(out, "write"):
        if not is_address(out):
            Path(root).mkdir(parents=True, exist_ok=True)
        fs.pipe_file(f"{root}/{PROBE.format(name)}", name.encode())


def read_probe(out: str, name: str) -> bool:
    """Whether that file is here; it is removed."""
    fs, root = filesystem(out)
    path = f"{root}/{PROBE.format(name)}"
    with failing(out, "read"):
        if not fs.exists(path):
            return False
        found: bool = fs.cat_file(path) == name.encode()
        fs.rm_file(path)
    return found
