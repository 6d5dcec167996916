"""A registered class counts with all that it uses: an edit of that makes another one, an edit of the rest does not.

Folders with a class and what it uses are read in new processes, in which texts have other hashes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest

from conftest import ROOT

READER = """
import json, sys
from pathlib import Path
from perhop.texts import text

found = {}
for folder in sorted(Path(sys.argv[1]).iterdir()):
    known = set(sys.modules)
    sys.path.insert(0, str(folder))
    for name in ["own.marker" if (folder / "own").exists() else "marker"]:
        __import__(name)
        found[folder.name] = text(sys.modules[name].Own)
    sys.path.remove(str(folder))
    for name in set(sys.modules) - known:
        if getattr(sys.modules[name], "__file__", None) is None or str(folder) in sys.modules[name].__file__:
            del sys.modules[name]
print(json.dumps(found))
"""


class Edit(NamedTuple):
    """Of a file: these words become those."""

    file: str
    words: str
    others: str


class Case(NamedTuple):
    """Files with a class `Own`, an edit of what it uses, and one of what it does not use."""

    files: dict[str, str]
    used: Edit
    unused: Edit | None = None


def hook(body: str, helper: str, used: tuple[str, str], unused: tuple[str, str] | None = None, head: str = "") -> Case:
    """One whose hook has this body, beside a file `helper.py`."""
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    marker = f"{head or 'import helper'}\nclass Own:\n    def forward(self, at, packet, rng):\n{lines}\n"
    edit = Edit("helper.py", *unused) if unused else None
    return Case({"marker.py": marker, "helper.py": textwrap.dedent(helper)}, Edit("helper.py", *used), edit)


def body(text: str, helper: str, used: tuple[str, str], head: str = "import helper") -> Case:
    """One whose class has this body."""
    marker = f"{head}\nclass Own:\n{textwrap.indent(text, '    ')}\n"
    return Case({"marker.py": marker, "helper.py": textwrap.dedent(helper)}, Edit("helper.py", *used))


TWO = "BOUND = 1\nOTHER = 2\n"
CALLS = "BOUND = 1\ndef f(): return g()\ndef g(): return BOUND\ndef other(): return 2\n"
TREE = """
class Base:
    LEAST = 1
class Limit(Base):
    def get(self): return most()
def most(): return 7
"""
CASES = {
    "a constant of a module": hook("return helper.BOUND", TWO, ("1", "3"), ("2", "4")),
    "a function of a module": hook("return helper.f()", CALLS, ("1", "3"), ("2", "4")),
    "a function's text": hook(
        "return helper.f()", CALLS, ("return BOUND", "return 2 * BOUND"), ("return 2", "return 4")
    ),
    "an imported function": hook("return f()", CALLS, ("1", "3"), ("2", "4"), "from helper import f"),
    "an imported constant": hook("return B", TWO, ("1", "3"), ("2", "4"), "from helper import BOUND as B"),
    "all of a module": hook("return BOUND", TWO, ("1", "3"), ("2", "4"), "from helper import *"),
    "a module of another name": hook("return h.BOUND", TWO, ("1", "3"), ("2", "4"), "import helper as h"),
    "a class's constant": hook("return helper.Limit.LEAST", TREE, ("= 1", "= 2")),
    "a method's function": hook("return helper.Limit().get()", TREE, ("7", "8")),
    "an exception": hook("try: return 1\nexcept helper.E: return 2", "class E(ValueError): pass\n", ("Value", "Type")),
    "an import in a hook": hook("from helper import BOUND\nreturn BOUND", TWO, ("1", "3"), ("2", "4"), "import math"),
    "a module in a hook": hook("import helper as h\nreturn h.BOUND", TWO, ("1", "3"), head="import math"),
    "a name made when it runs": hook("return getattr(helper, 'BO' + 'UND')", TWO, ("1", "3")),
    "a comprehension": hook("return [helper.BOUND for _ in 'ab']", TWO, ("1", "3"), ("2", "4")),
    "a class within": hook("class C:\n    most = helper.BOUND\nreturn C.most", TWO, ("1", "3"), ("2", "4")),
    "a function that is cached": hook(
        "return helper.f(1)", "import functools\n@functools.cache\ndef f(n): return n + 1\n", ("+ 1", "+ 2")
    ),
    "a function by type": hook(
        "return helper.f(1)",
        "import functools\n@functools.singledispatch\ndef f(n): return 0\n@f.register\ndef _(n: int): return 5\n",
        ("5", "6"),
    ),
    "two closures": hook(
        "return helper.a() - helper.b()",
        "def make(n):\n    def f(): return n\n    return f\na, b = make(1), make(2)\n",
        ("make(1), make(2)", "make(2), make(1)"),
    ),
    "two classes of a name": hook(
        "return helper.a.n - helper.b.n",
        "def make(k):\n    class C: n = k\n    return C\na, b = make(1), make(2)\n",
        ("make(1), make(2)", "make(2), make(1)"),
    ),
    "modules in a circle": Case(
        {
            "marker.py": "import helper\nclass Own:\n    def forward(self): return helper.f(1)\n",
            "helper.py": "import third\ndef f(n): return third.g(n)\n",
            "third.py": "import helper\nBOUND = 1\nOTHER = 2\ndef g(n): return helper.f(0) if n else BOUND\n",
        },
        Edit("third.py", "= 1", "= 3"),
        Edit("third.py", "= 2", "= 4"),
    ),
    "a module of its package": Case(
        {
            "own/__init__.py": "",
            "own/marker.py": "from . import conf\nclass Own:\n    def forward(self): return conf.K\n",
            "own/conf.py": "K = 1\nL = 2\n",
        },
        Edit("own/conf.py", "1", "3"),
        Edit("own/conf.py", "2", "4"),
    ),
    "its package in a hook": Case(
        {
            "own/__init__.py": "",
            "own/marker.py": "class Own:\n    def forward(self):\n        from .conf import K\n        return K\n",
            "own/conf.py": "K = 1\nL = 2\n",
        },
        Edit("own/conf.py", "1", "3"),
        Edit("own/conf.py", "2", "4"),
    ),
    "a module below a module": Case(
        {
            "marker.py": "import lib.conf\nclass Own:\n    def forward(self): return lib.conf.K + lib.M\n",
            "lib/__init__.py": "M = 1\n",
            "lib/conf.py": "from .deep import K\nL = 2\n",
            "lib/deep.py": "K = 5\nZ = 6\n",
        },
        Edit("lib/deep.py", "5", "7"),
        Edit("lib/deep.py", "6", "8"),
    ),
    "a base": Case(
        {
            "marker.py": "import helper\nclass Own(helper.Base): pass\n",
            "helper.py": "K, L = 1, 2\nclass Base:\n    def forward(self): return K\n",
        },
        Edit("helper.py", "1, 2", "3, 2"),
        Edit("helper.py", "1, 2", "1, 4"),
    ),
    "a partial": body(
        "f = partial(helper.f, 3)",
        "def f(n): return n + 1\n",
        ("+ 1", "+ 2"),
        "from functools import partial\nimport helper",
    ),
    "a default": body("def __init__(self, n=helper.N): self.n = n", "N = 1\n", ("1", "2")),
    "a module that is kept": body(
        "def __init__(self): self.h = helper\ndef forward(self): return self.h.N", "N = 1\n", ("1", "2")
    ),
    "a decorator": body(
        "@helper.louder\ndef forward(self): return 1",
        "import functools\ndef louder(f):\n    @functools.wraps(f)\n    def g(*a): return f(*a) + 1\n    return g\n",
        (") + 1", ") + 2"),
    ),
    "a property": body(
        "n = property(helper.get, helper.set)", "def get(s): return s.x\ndef set(s, x): s.x = x + 1\n", ("+ 1", "+ 2")
    ),
    "a lambda": body("forward = lambda *_: helper.N", "N = 1\n", ("1", "2")),
    "a table": hook(
        "return helper.T", "T = {'a': {1, 2}, 'b': [(3, 'x'), {'red', 'green', ('blue',)}]}\n", ("'blue'", "'b'")
    ),
    "an order": hook("return helper.T", "T = {'a': 1, 'b': 2}\n", ("'a': 1, 'b': 2", "'b': 2, 'a': 1")),
    "large values": hook(
        "return helper.T", "T = [10**6000, 'x' * 10**6, [*range(10**5)]]\n", ("10**6000", "10**6000 + 1")
    ),
    "an array": hook("return helper.T", "import numpy as np\nT = np.arange(9.0)\n", ("9", "8")),
    "lists in a circle": hook("return helper.X, helper.Y", "X = []\nY = [X]\nX += [Y, 3]\n", ("3", "4")),
    "an object": hook(
        "return helper.X.k", "class O:\n    def __init__(s): s.k, s.me = 1, s\nX = O()\n", ("= 1", "= 2")
    ),
    "an object with slots": hook(
        "return helper.X.k", "class O:\n    __slots__ = ('k',)\nX = O()\nX.k = 1\n", ("= 1", "= 2")
    ),
    "objects of libraries": hook(
        "return helper.X",
        "import collections as c, enum, logging, re, threading\nfrom fractions import Fraction\n"
        "class E(enum.Enum): A = 1\n"
        "X = [c.deque([1]), c.Counter('aab'), E.A, re.compile('a+'), Fraction(1, 3), logging.getLogger('x'),\n"
        "     threading.Lock(), object(), print, 'a'.join, int, type, c.defaultdict(list)]\n",
        ("'a+'", "'b+'"),
    ),
    "a long way": hook(
        "return helper.f0()",
        "".join(f"def f{i}(): return f{i + 1}()\n" for i in range(1500)) + "def f1500(): return 'end'\n",
        ("'end'", "'stop'"),
    ),
}
NOTED = {
    "importlib": ("return importlib.import_module('helper').BOUND", "forward takes by importlib"),
    "eval": ("return eval('helper.BOUND')", "forward takes by eval"),
    "globals": ("return globals()['helper'].BOUND", "forward takes by globals"),
    "a file": ("return open('bound').read()", "forward takes by open"),
    "sys.modules": ("return sys.modules['helper'].BOUND", "forward takes by sys.modules"),
    "what is not there": ("return helper.LATER", "helper.LATER, which is not there before it is asked for"),
    "no such module": (
        "import nowhere_to_be_found",
        "`nowhere_to_be_found`, which Own.forward imports: ModuleNotFoundError",
    ),
    "a generator": ("return next(helper.EACH)", "an object of builtins.generator holds"),
    "depth": ("return helper.DEEP", "nested more than 100 deep"),
}
HOLDS = "BOUND = 1\nEACH = (i for i in range(3))\nDEEP = ()\nfor _ in range(3000): DEEP = (DEEP,)\n"


def written(root: Path, name: str, files: dict[str, str]) -> None:
    for file, text in files.items():
        place = root / name / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def read(root: Path, seed: str) -> dict[str, tuple[str, list[str]]]:
    """By folder the hash of its class, and the notes."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python"), "PYTHONHASHSEED": seed}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", READER, str(root)]
    made = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    found: dict[str, tuple[str, list[str]]] = json.loads(made.stdout)
    return found


Hashes = list[dict[str, tuple[str, list[str]]]]


@pytest.fixture(scope="module")
def hashes(tmp_path_factory: pytest.TempPathFactory) -> Hashes:
    """Of all cases, from three processes."""
    root = tmp_path_factory.mktemp("uses")
    for number, case in enumerate(CASES.values()):
        written(root, f"{number}", case.files)
        for which, edit in (("used", case.used), ("unused", case.unused)):
            if edit:
                assert edit.words in case.files[edit.file]
                text = case.files[edit.file].replace(edit.words, edit.others, 1)
                written(root, f"{number}-{which}", case.files | {edit.file: text})
    for number, (lines, _) in enumerate(NOTED.values()):
        written(root, f"note-{number}", hook(lines, HOLDS, ("1", "2"), head="import importlib, sys, helper").files)
    return [read(root, seed) for seed in "123"]


@pytest.mark.parametrize("name", list(CASES))
def test_what_is_used_counts_and_the_rest_does_not(hashes: Hashes, name: str) -> None:
    number = list(CASES).index(name)
    first, notes = hashes[0][f"{number}"]
    assert notes == []
    assert [it[f"{number}"][0] for it in hashes] == [first] * len(hashes), "the same text in another process"
    assert hashes[0][f"{number}-used"][0] != first
    assert hashes[0].get(f"{number}-unused", [first])[0] == first


@pytest.mark.parametrize("name", list(NOTED))
def test_what_cannot_be_known_is_noted(hashes: Hashes, name: str) -> None:
    number = list(NOTED).index(name)
    assert any(NOTED[name][1] in note for note in hashes[0][f"note-{number}"][1]), hashes[0][f"note-{number}"]
    assert len({it[f"note-{number}"][0] for it in hashes}) == 1


RUN = """
import sys, perhop, helper

@perhop.register
class Waits(perhop.Aqm):
    def on_arrival(self, at, packet, rng):
        return "pass"
    def on_departure(self, at, packet, rng):
        return "drop" if at.sojourn > helper.BOUND else "pass"

scenario = perhop.Scenario.from_toml(sys.argv[1], [
    'dumbbell.queue={ aqm = "waits", limit = "100p" }', "scenario.duration=4s", "scenario.warmup=1s"])
run = scenario.run(1, out="out", progress=False)
swept = scenario.sweep({"dumbbell.flows": [2, 3]}, replications=1, out="out", progress=False)
print(run.replications[0].reused, scenario.run(1, progress=False).replications[0].hash == run.replications[0].hash)
print([it.reused for it in swept.replications])
"""


def test_an_edit_of_a_helper_is_another_point(tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text(RUN)
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
    said = []
    for bound in ("0.05", "0.05", "0.002", "0.05"):
        (tmp_path / "helper.py").write_text(f"BOUND = {bound}\n")
        command = [sys.executable, "waits.py", str(ROOT / "examples/dumbbell.toml")]
        made = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr
        said.append(made.stdout.splitlines())
    new, kept = ["False True", "[False, False]"], ["True True", "[True, True]"]
    assert said == [new, kept, new, kept]


def test_a_note_is_given_once_it_is_registered(tmp_path: Path) -> None:
    script = (
        "import perhop\nclass Noted(perhop.Aqm):\n    def on_arrival(self, at, packet, rng):\n"
        "        return open('verdict').read()\nperhop.register(Noted)\n"
    )
    (tmp_path / "noted.py").write_text(script)
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, "noted.py"]
    said = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stderr
    assert "noted.py:5: UserWarning: `noted`: results do not tell when this becomes another: what Noted.on_" in said
