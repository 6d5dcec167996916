"""Which file imports which, read off the sources: `use` lines and paths of Rust, `import` statements of Python.

    python tests/python/imports.py    # files, arrows and cycles of each crate and of the Python package

A parent's `mod child;` and its re-exports of its own children are its table of contents, and no import; neither is the
mention of an enclosing package. Modules of unit tests are ignored.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).resolve().parents[2]

Module = tuple[str, ...]
Graph = dict[Module, set[Module]]
"""By file, named as a module, the files that it imports; the empty name is a crate's root."""

_IGNORED = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | r(\#*)".*?"\1 | "(?:\\.|[^"\\])*" | '(?:\\.[^']*|[^'\\])'""", re.DOTALL | re.VERBOSE
)
_USE = re.compile(r"(\bpub\b(?:\([^)]*\))?\s+)?\buse\s+([^;]+);")
_PATH = re.compile(r"\b(?:crate|super|self)(?:\s*::\s*\w+)+")
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub\s*)?mod\s+\w+\s*\{")


def cycles(graph: Graph) -> list[list[Module]]:
    """The sets of files each of which imports every other, directly or through others."""
    modules = sorted(graph)
    place = {module: i for i, module in enumerate(modules)}
    arrows = [(place[a], place[b]) for a, targets in graph.items() for b in targets]
    rows, columns = zip(*arrows, strict=True) if arrows else ((), ())
    size = (len(modules), len(modules))
    _, of = connected_components(csr_array((np.ones(len(arrows)), (rows, columns)), shape=size), connection="strong")
    groups = [[m for m, label in zip(modules, of, strict=True) if label == n] for n in range(max(of, default=-1) + 1)]
    return sorted(group for group in groups if len(group) > 1)


@dataclass(frozen=True)
class Crate:
    """The files of a crate by module."""

    files: dict[Module, Path]

    @classmethod
    def of(cls, src: Path) -> Crate:
        """All below its `src`."""
        return cls({_module(file.relative_to(src), ("mod", "lib", "main")): file for file in src.rglob("*.rs")})

    def graph(self) -> Graph:
        """Who imports whom."""
        return {module: self._imports(module, file.read_text(encoding="utf-8")) for module, file in self.files.items()}

    def _imports(self, module: Module, source: str) -> set[Module]:
        found = {self._file(path) for path in _rust_paths(module, _code(source))}
        return found - {module, ()}

    def _file(self, path: Module) -> Module:
        """The deepest file of a path: what follows is a name in it."""
        return next(path[:n] for n in range(len(path), -1, -1) if path[:n] in self.files or n == 0)


def _module(file: Path, roots: tuple[str, ...]) -> Module:
    parts = file.with_suffix("").parts
    return parts[:-1] if parts[-1] in roots else parts


def _code(source: str) -> str:
    """Rust without comments, texts, and modules of tests."""
    code = _IGNORED.sub(" ", source)
    while tests := _TESTS.search(code):
        code = code[: tests.start()] + code[_closing(code, tests.end()) :]
    return code


def _closing(code: str, start: int) -> int:
    """Behind the brace that closes the one before `start`."""
    depth = 1
    for i in range(start, len(code)):
        depth += {"{": 1, "}": -1}.get(code[i], 0)
        if depth == 0:
            return i + 1
    return len(code)


def _rust_paths(module: Module, code: str) -> Iterator[Module]:
    """Every path of this crate that is named in a `use` or inline, from the crate's root."""
    named = [(bool(m[1]), path) for m in _USE.finditer(code) for path in _leaves(m[2])]
    inline = [(False, m[0]) for m in _PATH.finditer(_USE.sub(" ", code))]
    for exported, text in named + inline:
        path = _absolute(module, re.findall(r"\w+", text))
        if path is not None and not (exported and path[: len(module)] == module):
            yield path


def _leaves(tree: str) -> list[str]:
    """The paths of a use tree: `a::{b, c::{d, e}}` has three."""
    head, brace, rest = tree.partition("{")
    if not brace:
        return [tree.partition(" as ")[0]]
    return [head + leaf for part in _parts(rest[: rest.rindex("}")]) for leaf in _leaves(part)]


def _parts(text: str) -> Iterator[str]:
    """What the outermost commas separate."""
    depth, start = 0, 0
    for i, c in enumerate(text + ","):
        depth += {"{": 1, "}": -1}.get(c, 0)
        if c == "," and depth == 0:
            yield text[start:i]
            start = i + 1


def _absolute(module: Module, path: list[str]) -> Module | None:
    """From the crate's root; None for another crate's."""
    if not path or path[0] not in ("crate", "self", "super"):
        return None
    ups = next((i for i, part in enumerate(path) if part != "super"), len(path))
    base = () if path[0] == "crate" else module[: len(module) - ups]
    return base + tuple(part for part in path[max(ups, path[0] != "super") :] if part != "self")


@dataclass(frozen=True)
class Package:
    """The files of a Python package by module."""

    files: dict[Module, Path]

    @classmethod
    def of(cls, folder: Path) -> Package:
        """All below a package's folder."""
        return cls({_module(f.relative_to(folder.parent), ("__init__",)): f for f in folder.rglob("*.py")})

    def graph(self) -> Graph:
        """Who imports whom."""
        return {module: self._imports(module, file) for module, file in self.files.items()}

    def _imports(self, module: Module, file: Path) -> set[Module]:
        named = python_names(module if file.name == "__init__.py" else module[:-1], file)
        found = {self._file(path) for path in named} - {(), module}
        return {target for target in found if module[: len(target)] != target}

    def _file(self, path: Module) -> Module:
        return next(path[:n] for n in range(len(path), -1, -1) if path[:n] in self.files or n == 0)


def python_names(package: Module, file: Path) -> Iterator[Module]:
    """Every name that is imported, anywhere in the file, for type checkers alone too.

    A file that calls `import_module` or `__import__` imports every module that its texts name: one is the argument, or
    they are a table.
    """
    tree = ast.parse(file.read_text(encoding="utf-8"))
    calls = any(isinstance(node, ast.Call) and _imports_by_text(node) for node in ast.walk(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((*_imported_from(package, node), alias.name) for alias in node.names)
        elif calls and isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield tuple(node.value.split("."))


def _imports_by_text(call: ast.Call) -> bool:
    """`import_module(..)`, `importlib.import_module(..)`, `__import__(..)`."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in ("import_module", "__import__")


def _imported_from(package: Module, node: ast.ImportFrom) -> Module:
    """The module in which the names of `from .. import ..` are."""
    above = package[: len(package) - node.level + 1] if node.level else ()
    return (*above, *node.module.split(".")) if node.module else above


def late(folder: Path) -> list[str]:
    """What functions of a package's files import of the package itself, and calls that import by text: `file: code`."""
    found = []
    for file in sorted(folder.rglob("*.py")):
        place, package = file.relative_to(folder).as_posix(), _module(file.relative_to(folder.parent), ("__init__",))
        tree = ast.parse(file.read_text(encoding="utf-8"))
        inner = {id(node): node for function in ast.walk(tree) if _is_function(function) for node in ast.walk(function)}
        named = [
            node for node in inner.values() if _is_own(node, package if file.name == "__init__.py" else package[:-1])
        ]
        named += [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _imports_by_text(node)]
        found += [f"{place}: {ast.unparse(node)}" for node in named]
    return found


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def _is_own(node: ast.AST, package: Module) -> bool:
    """Whether an import is of the package's own."""
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] == package[0] for alias in node.names)
    return isinstance(node, ast.ImportFrom) and _imported_from(package, node)[:1] == package[:1]


def graphs(root: Path = ROOT) -> dict[str, Graph]:
    """Of each crate, and of the packages."""
    crates = {src.parent.name: Crate.of(src).graph() for src in sorted(root.glob("crates/*/src"))}
    packages = {"python": "python/perhop", "studies": "python/perhop_studies", "lab": "python/perhop_lab"}
    return crates | {name: Package.of(root / folder).graph() for name, folder in packages.items()}


def listed(found: Iterable[list[Module]]) -> list[str]:
    """Cycles as texts."""
    return [" ".join("::".join(module) for module in cycle) for cycle in found]


def main() -> None:
    """Prints what it finds."""
    for name, graph in graphs(Path(sys.argv[1]) if sys.argv[1:] else ROOT).items():
        found = listed(cycles(graph))
        arrows = sum(map(len, graph.values()))
        print(f"{name}: {len(graph)} files, {arrows} arrows, {len(found)} cycles", *found, sep="\n  ")


if __name__ == "__main__":
    main()
