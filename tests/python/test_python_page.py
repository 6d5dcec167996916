"""docs/reference/python.md has every public name with its signature, and an example that runs."""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import perhop
from conftest import ROOT

PAGE = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
BLOCKS = [match[1] for match in re.finditer(r"```pycon\n(.*?)```", PAGE, re.DOTALL)]
CODE = "\n".join(example.source for block in BLOCKS for example in doctest.DocTestParser().get_examples(block))
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_every_example_gives_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("examples", "tests"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest("\n".join(BLOCKS), {}, "docs/reference/python.md", None, None)
    said: list[str] = []
    failed, tried = doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=said.append)
    assert failed == 0, "".join(said)
    assert tried > 40


def members(cls: type) -> dict[str, Any]:
    """Public attributes that perhop's own classes give it, and the fields of a dataclass."""
    own = [base for base in cls.__mro__ if base.__module__.startswith("perhop")]
    found = {name: value for base in reversed(own) for name, value in vars(base).items()}
    fields = {field.name: None for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else {}
    return {name: value for name, value in (fields | found).items() if not name.startswith("_")}


def written(name: str, value: Any) -> str:
    """A name with its parameters and their defaults, without types."""
    function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
    if not inspect.isfunction(function):
        return name
    signature = inspect.signature(function)
    kept = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name not in ("self", "cls")]
    return name + str(signature.replace(parameters=kept, return_annotation=signature.empty))


def names() -> list[str]:
    """Every public name as the page has it."""
    found = []
    for name in perhop.__all__:
        value = getattr(perhop, name)
        found.append(written(name, value))
        if isinstance(value, type):
            found += [f"{name}.{written(member, of)}" for member, of in members(value).items()]
    return found


@pytest.mark.parametrize("name", names())
def test_every_public_name_is_on_the_page(name: str) -> None:
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize("name", sorted({name.split("(")[0].split(".")[-1] for name in names() if "(" in name}))
def test_every_function_has_an_example(name: str) -> None:
    assert re.search(rf"\b{name}\(", CODE)


def test_the_page_has_no_name_that_is_gone() -> None:
    stated = set(re.findall(r"^\| `((?:[A-Z]\w+\.)?\w+(?:\([^`]*\))?)` \|", PAGE, re.MULTILINE))
    assert stated
    assert stated <= set(names())
