"""Types and modules have nouns of the field as names: none is called by one of the words here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("crates", "fuzz", "lab", "python", "scripts", "site", "tests")

#: They say that something was done, and not what is there.
WORDS = ("said", "told", "asked", "shown", "found", "put", "given", "kept", "looked", "ground")
WORD = rf"_?(?i:{'|'.join(WORDS)})\b"
TITLE = rf"_?(?:{'|'.join(map(str.title, WORDS))})\b"

#: By the end of a file's name, what declares a type or a module, and another name for a type.
DECLARED = {
    ".rs": re.compile(
        rf"""(?:^|[;{{}}\]])\s*(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+)?(?:struct|enum|trait|type|union|mod)\s+(?:r\#)?{WORD}
        |\bas\s+{TITLE}""",
        re.VERBOSE,
    ),
    ".py": re.compile(
        rf"^\s*class\s+{WORD}|^\s*(?:type\s+)?{TITLE}\s*(?:\[[^\]]*\]\s*)?(?::[^=]+)?=(?!=)|\bas\s+{TITLE}"
    ),
}
COMMENT = {".rs": re.compile(r"//.*"), ".py": re.compile(r"#.*")}
STRING = re.compile(r'"(?:\\.|[^"\\])*"')


def _wrong(file: Path, place: str) -> Iterator[str]:
    """Each type or module in a file, and the file itself, that has such a name."""
    parts = (file.stem, file.parent.name) if file.stem in ("mod", "__init__") else (file.stem,)
    if any(re.fullmatch(WORD, part) for part in parts):
        yield f"{place}:1: a module"
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        code = COMMENT[file.suffix].sub("", STRING.sub('""', line))
        if found := DECLARED[file.suffix].search(code):
            yield f"{place}:{number}: {found[0].strip()}"


def wrong(root: Path) -> list[str]:
    """Of all Rust and Python below `root`, what has such a name, with its place."""
    files = sorted(file for folder in FOLDERS for end in DECLARED for file in (root / folder).rglob(f"*{end}"))
    sources = (file for file in files if not {"target", ".venv"} & set(file.relative_to(root).parts))
    return [line for file in sources for line in _wrong(file, file.relative_to(root).as_posix())]


def test_types_and_modules_have_nouns_as_names() -> None:
    assert wrong(ROOT) == []


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("crates/core/src/a.rs", "struct Asked;", 1),
        ("crates/core/src/a.rs", "//! A file.\n\n#[derive(Debug)] pub(crate) struct Said<T>(T);", 3),
        ("crates/core/src/a.rs", "fn f() { enum Found { A } }", 1),
        ("crates/core/src/a.rs", "pub type PUT = u8;", 1),
        ("crates/core/src/a.rs", "pub unsafe trait Kept {}", 1),
        ("crates/core/src/a.rs", "pub mod told;", 1),
        ("crates/core/src/a.rs", "use crate::b::{C as Shown};", 1),
        ("crates/core/src/given.rs", "", 1),
        ("crates/core/tests/all/ground/mod.rs", "", 1),
        ("fuzz/src/a.rs", "union Looked { a: u8 }", 1),
        ("tests/differential/src/a.rs", "struct Asked;", 1),
        ("python/perhop/a.py", "\nclass Told(NamedTuple):", 2),
        ("python/perhop/a.py", "Found = dict[str, int]", 1),
        ("python/perhop/a.py", "Kept: TypeAlias = int", 1),
        ("python/perhop_lab/_shown.py", "", 1),
        ("python/put/__init__.py", "", 1),
    ],
)
def test_another_name_is_refused_with_its_place(tmp_path: Path, path: str, text: str, line: int) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    (refused,) = wrong(tmp_path)
    assert refused.startswith(f"{path}:{line}: ")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("crates/core/src/a.rs", '// struct Asked;\nlet a = "struct Asked;";\nlet asked = B::Asked;\nstruct Givens;'),
        ("python/perhop/a.py", '# class Told:\nshown = 1\nSHOWN = "class Told:"\nif Found == 1: ...'),
    ],
)
def test_variants_values_and_texts_are_left_alone(tmp_path: Path, path: str, text: str) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    assert wrong(tmp_path) == []
