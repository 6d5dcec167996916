"""Files: those that travel with the package, in a checkout and in a wheel alike, and those that it writes."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from perhop import _core


def data() -> Path:
    """The directory that holds `examples/`: in a wheel the package's, in a checkout that of the checkout."""
    package = Path(str(resources.files("perhop")))
    installed = package / "data"
    return installed if installed.is_dir() else package.parents[1]


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

    Raises:
        OSError: it cannot be written; E020.
    """
    with writing(path):
        if str(path) in STREAMS:
            with _copied(STREAMS[str(path)], path.suffix) as temporary:
                yield temporary
            return
        target = _target(path)
        if target.exists() and not target.is_file():
            yield path
            return
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        temporary = target.with_name(f".{target.stem}.{os.getpid()}.partial{path.suffix}")
        try:
            yield temporary
            _onto_the_disk(temporary, target)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Whatever the system says against writing `path`, in words, as an exception of the same class.

    Raises:
        OSError: E020.
    """
    try:
        yield
    except BrokenPipeError:
        raise  # a reader has gone: it needs no message
    except OSError as error:
        if error.strerror is None:
            raise
        help_ = "choose another place, or free some space"
        said = type(error)(f"error[E020] cannot write {path}: {error.strerror}\n   help: {help_}")
        said.errno = error.errno
        raise said from error


def directory(path: Path) -> Path:
    """A directory, made if it is not there; returns it.

    Raises:
        OSError: it cannot be made; E020.
    """
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
    return path


def _target(path: Path) -> Path:
    """The file at the end of symbolic links, whether it is there or not."""
    try:
        return Path(os.path.realpath(path, strict=True))
    except FileNotFoundError:
        return Path(os.path.realpath(path))


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
    _core.refuse(path, [Path(place) for place in inputs])


def keep_others(path: Path, endings: tuple[str, ...]) -> None:
    """Refuses an output that would replace a file of another kind.

    Raises:
        ValueError: when it would.
    """
    if str(path) not in STREAMS and os.path.isfile(path) and path.suffix.lower() not in endings:
        raise ValueError(
            f"error[E026] {path} exists, and its name does not end in {endings[0]}\n"
            f"   help: give a name that ends in {endings[0]}: such a file is replaced"
        )


def head(path: Path) -> bytes:
    """The bytes of a file, as far as a text may have them, and one more; a pipe is read to its end."""
    with path.open("rb") as file:
        return file.read(_core.MOST_TEXT + 1)


def regular(path: Path) -> bytes:
    """The same of a regular file that was not named on purpose: no pipe is waited for.

    Raises:
        OSError: it cannot be read, or is something else.
    """
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        return file.read(_core.MOST_TEXT + 1)
