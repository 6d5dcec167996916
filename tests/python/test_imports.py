"""No two files import each other, directly or through others: in any crate, and in the Python package."""

from __future__ import annotations

from pathlib import Path

import pytest

from imports import Crate, Graph, Package, cycles, graphs, listed


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


def test_a_cycle_through_a_third_file_is_found() -> None:
    graph: Graph = {("a",): {("b",)}, ("b",): {("c",)}, ("c",): {("a",), ("d",)}, ("d",): set()}
    assert cycles(graph) == [[("a",), ("b",), ("c",)]]
    assert cycles({("a",): set()}) == []
