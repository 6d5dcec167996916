"""No two files import each other, directly or through others: in any crate, and in the Python package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import perhop
from imports import ROOT, Crate, Graph, Package, cycles, graphs, late, listed, python_names


@pytest.mark.parametrize(("name", "graph"), graphs().items(), ids=graphs())
def test_there_are_no_import_cycles(name: str, graph: Graph) -> None:
    assert listed(cycles(graph)) == [], name


def _crate(folder: Path, files: dict[str, str]) -> dict[str, set[str]]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return {"::".join(of): {"::".join(to) for to in found} for of, found in Crate.of(folder).graph().items()}


def test_every_way_to_name_another_file_is_an_import(tmp_path: Path) -> None:
    found = _crate(
        tmp_path,
        {
            "lib.rs": "mod a; mod b; mod c;\npub use a::A;",
            "a.rs": "use crate::{b::{B, self as other}, c::d::*};\nuse std::fmt;",
            "b.rs": "pub struct B;\nfn f() { use super::a; super::c::g(); self::here(); crate::c::d::e() }",
            "c/mod.rs": "pub mod d;\npub use self::d::D;\nuse self::d::E;",
            "c/d.rs": "pub(crate) use crate::a::A;\nimpl super::Kind {}",
        },
    )
    assert found == {"": set(), "a": {"b", "c::d"}, "b": {"a", "c", "c::d"}, "c": {"c::d"}, "c::d": {"a", "c"}}


def test_comments_texts_and_unit_tests_import_nothing(tmp_path: Path) -> None:
    found = _crate(
        tmp_path,
        {
            "lib.rs": "",
            "a.rs": """//! See crate::b.
                fn f<'a>(x: &'a str, c: char) -> bool { c == '"' || c == '\\'' }
                const T: &str = "use crate::b; \\" crate::b::c";
                const R: &str = r#"a "quoted" crate::b"#;
                #[cfg(test)]
                mod tests { use crate::b; fn g() { if true { crate::b::h() } } }
                /* crate::b */ use crate::c::C;""",
            "b.rs": "",
            "c.rs": "",
        },
    )
    assert found["a"] == {"c"}


def test_python_imports_inside_functions_count(tmp_path: Path) -> None:
    package = tmp_path / "p"
    (package / "q").mkdir(parents=True)
    texts = {
        "__init__.py": "def f():\n    from p.a import A",
        "a.py": "import os\nfrom . import b\nfrom .q import c, name",
        "b.py": "def f():\n    import p.q.c as c\n    if True:\n        from p import a",
        "q/__init__.py": "name = 1",
        "q/c.py": "from ..b import B\nfrom p.q import name",
    }
    for name, text in texts.items():
        (package / name).write_text(text)
    found = {".".join(of): {".".join(to) for to in t} for of, t in Package.of(package).graph().items()}
    assert found == {
        "p": {"p.a"},
        "p.a": {"p.b", "p.q", "p.q.c"},
        "p.b": {"p.a", "p.q.c"},
        "p.q": set(),
        "p.q.c": {"p.b"},
    }
    assert listed(cycles(Package.of(package).graph())) == ["p::a p::b p::q::c"]


def test_python_imports_by_text_count(tmp_path: Path) -> None:
    package = tmp_path / "p"
    package.mkdir()
    texts = {
        "__init__.py": "",
        "a.py": "from importlib import import_module\ndef f():\n    import_module('p.b').g()",
        "b.py": "import importlib\nVERBS = {'c': 'p.c'}\ndef g(verb):\n    importlib.import_module(VERBS[verb])",
        "c.py": "def h():\n    return __import__('p.d')",
        "d.py": "from p.a import f\nimport p.e",
        "e.py": "TEXT = 'p.a'",
    }
    for name, text in texts.items():
        (package / name).write_text(text)
    assert listed(cycles(Package.of(package).graph())) == ["p::a p::b p::c p::d"]
    assert late(package) == [
        "a.py: import_module('p.b')",
        "b.py: importlib.import_module(VERBS[verb])",
        "c.py: __import__('p.d')",
    ]


BY_TEXT = [
    "__init__.py: import_module(_HOME[name])",
    "__main__.py: import_module(PYTHON_VERBS[verb])",
    "cluster/errors.py: import_module(module)",
    "frames.py: import_module(chosen)",
    "texts.py: importlib.import_module(f'{module.__name__}.{name}')",
    "texts.py: importlib.import_module(name)",
]
"""Public names when first used; the program's verbs; what an extra brings; pandas or polars; modules of the user."""


def test_no_function_imports_a_module_of_perhop() -> None:
    assert late(ROOT / "python/perhop") == BY_TEXT


PUBLIC = {("perhop", name) for name in perhop._HOME}


def test_no_file_takes_a_public_name_from_the_package_which_finds_it_by_text() -> None:
    package = Package.of(ROOT / "python/perhop")
    named = [(module, name) for module, file in package.files.items() for name in python_names(module[:-1], file)]
    assert [(module, name) for module, name in named if name in PUBLIC] == []


UNUSED = ("duckdb", "jinja2", "matplotlib", "pandas", "polars", "rich", "distributed")


@pytest.mark.parametrize(
    ("names", "unused"),
    [
        ("perhop.__version__", ("numpy", *UNUSED)),
        ("perhop.__main__.main(['perhop', 'check', 'examples/dumbbell.toml'])", ("numpy", *UNUSED)),
        ("perhop.Scenario, perhop.Runs, perhop.tune", UNUSED),
    ],
)
def test_large_libraries_are_imported_when_first_needed(names: str, unused: tuple[str, ...]) -> None:
    code = f"import sys, perhop, perhop.__main__; {names}; print(*({{*{unused}}} & {{*sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ""


def test_a_cycle_through_a_third_file_is_found() -> None:
    graph: Graph = {("a",): {("b",)}, ("b",): {("c",)}, ("c",): {("a",), ("d",)}, ("d",): set()}
    assert cycles(graph) == [[("a",), ("b",), ("c",)]]
    assert cycles({("a",): set()}) == []
