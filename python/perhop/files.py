"""Files: those that travel with the package, in a checkout and in a wheel alike, and those that it writes."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path


def data() -> Path:
    """The directory that holds `examples/`."""
    return Path(str(resources.files("perhop"))) / "data"


STREAMS = {
    **dict.fromkeys(("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"), 1),
    **dict.fromkeys(("/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"), 2),
}
"""Standard output and standard error under the names they have."""


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Where to write what becomes `path` when it is complete; after an error `path` is as it was.

    A device is written itself, and so is standard output under its names. Of a symbolic link, the file it points to is
    written. A file that may not be written is not replaced.
    """
    if str(path) in STREAMS:
        with _copied(STREAMS[str(path)], path.suffix) as temporary:
            yield temporary
        return
    if path.exists() and not path.is_file():
        yield path
        return
    target = path.resolve()
    temporary = target.with_name(f".{target.stem}.{os.getpid()}.partial{path.suffix}")
    try:
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        yield temporary
        _onto_the_disk(temporary, target)
        temporary.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _copied(stream: int, suffix: str) -> Iterator[Path]:
    """A file whose content goes to a stream; where that was redirected to a file, what is printed comes behind it."""
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder) / f"content{suffix}"
        yield temporary
        sys.stdout.flush()
        with temporary.open("rb") as content, open(stream, "wb", closefd=False) as out:
            shutil.copyfileobj(content, out)


def _onto_the_disk(temporary: Path, target: Path) -> None:
    """Some file systems report a full disk only here. The file gets the rights of the one that it replaces."""
    with temporary.open("rb") as written:
        os.fsync(written.fileno())
    if target.exists():
        temporary.chmod(target.stat().st_mode & 0o7777)


def write(path: Path, content: str | bytes) -> None:
    """Writes a file whole or not at all; a text as UTF-8."""
    with whole(path) as temporary:
        temporary.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


def refuse(path: Path, inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Refuses an output that is one of the inputs, by whatever name; of a directory, one of the files of its runs.

    Raises:
        ValueError: when it is.
    """
    if not path.is_file():
        return
    for place in map(Path, inputs):
        # the name of some runs, with which their directories' names begin, is in the directory above
        for file in _read(place if place.exists() else place.parent):
            if file.samefile(path):
                raise ValueError(
                    f"error[E025] {path} is {file}, which is read: the input would be lost\n"
                    "   help: give the output another name"
                )


def keep_others(path: Path, endings: tuple[str, ...]) -> None:
    """Refuses an output that would replace a file of another kind.

    Raises:
        ValueError: when it would.
    """
    if str(path) not in STREAMS and path.is_file() and path.suffix.lower() not in endings:
        raise ValueError(
            f"error[E026] {path} exists, and its name does not end in {endings[0]}\n"
            f"   help: give a name that ends in {endings[0]}: such a file is replaced"
        )


def _read(place: Path) -> Iterator[Path]:
    """A file, or those of the runs in a directory."""
    if place.is_file():
        yield place
    elif place.is_dir():
        yield from (file for file in place.rglob("*") if file.suffix == ".parquet" or file.name == "manifest.json")
