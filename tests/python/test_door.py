"""Each mark in a message, as `⟨link=⟩`, is an option that `door.rs` knows, or stands for the class of a problem."""

import re
from pathlib import Path

CRATES = Path(__file__).resolve().parents[2] / "crates"

#: The name in a mark. Code that looks for marks has a quotation mark there.
MARK = re.compile(r"⟨([a-z{][^⟩=!\"]*)")
#: A name that is put into a mark: the first of a pair in the same file.
PAIR = re.compile(r'\("([a-z-]+)", ')


def code(path: Path) -> str:
    """A file without its own tests."""
    return path.read_text().partition("#[cfg(test)]")[0]


def known() -> set[str]:
    options = re.search(r"const OPTIONS[^=]*= \[(.*?)\]", code(CRATES / "core/src/door.rs"), re.DOTALL)
    own = re.search(r'const CLASS: &str = "⟨(.*)⟩"', code(CRATES / "core/src/params/class_name.rs"))
    assert options
    assert own
    return {*re.findall('"(.*)"', options[1]), own[1]}


def marks(path: Path) -> set[str]:
    text = code(path)
    names = set(MARK.findall(text))
    return names - {"{name}"} | set(PAIR.findall(text)) if "{name}" in names else names


def test_each_mark_is_known() -> None:
    named = {path: marks(path) for path in CRATES.glob("*/src/**/*.rs")}
    assert len(set().union(*named.values())) > 20
    assert {str(path): names - known() for path, names in named.items() if names - known()} == {}
