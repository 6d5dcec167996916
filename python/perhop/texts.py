"""What a registered class is: a hash of its text and of all that this uses. No other text answers for its results.

Used is what a function names: globals, names it closes over, and `helper.X` of a module; then what that uses, and so
on. Functions and classes count by their text, anything else by its value. Code of the user counts, and of the class's
own package; of the standard library and of installed packages only names count. A module that is handed on whole, as
in `getattr(helper, name)`, counts whole. What cannot be known is noted.

The same text has the same hash in every process: no address and no order of a set is part of it.

Decision: docs/decisions/122-one-variant-for-what-is-registered.md
"""

from __future__ import annotations

import builtins
import copyreg
import dis
import hashlib
import importlib
import inspect
import random
import sys
import sysconfig
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

Chain = tuple[str, ...]
"""A name, and the attributes that are taken of it: `helper.conf.BOUND`."""

INSTALLED = {"site-packages", "dist-packages"}
STANDARD = {Path(sysconfig.get_path(it)) for it in ("stdlib", "platstdlib")}
OUTSIDE = (__import__, eval, exec, globals, open, importlib, importlib.import_module, importlib.reload, sys.modules)
"""They give what no text says."""
PLAIN = {bool, int, float, complex, str, bytes, range, type(None), type(...)}
LOADS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_FROM_DICT_OR_GLOBALS", "LOAD_FROM_DICT_OR_DEREF"}
ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR"}
BETWEEN = {"EXTENDED_ARG", "CACHE", "PUSH_NULL"}
"""Instructions that may stand between a name and an attribute of it."""
DEEPEST = 100
"""Objects within objects that are looked at."""
EMPTY = (
    weakref.ref,
    weakref.WeakKeyDictionary,
    weakref.WeakValueDictionary,
    weakref.WeakSet,
    type(threading.Lock()),
    type(threading.RLock()),
)
"""What they hold, others do."""


class Text(NamedTuple):
    """What a class is."""

    hash: str
    notes: list[str]
    """What it uses that is no part of the hash."""


def text(algorithm: type) -> Text:
    """Of a class that is registered."""
    walk = UseWalk(algorithm.__module__.partition(".")[0])
    whole = [walk.token(algorithm), *walk.all_uses()]
    hashed = hashlib.blake2b("\n".join(whole).encode("utf-8", "surrogatepass"), digest_size=8)
    return Text(hashed.hexdigest(), walk.notes)


class UseWalk:
    """A walk over all that a class of the package `home` uses."""

    def __init__(self, home: str) -> None:
        self.home = home
        self._uses: set[str] = set()
        """By function, what it takes from elsewhere."""
        self._functions: list[types.FunctionType] = []
        """Those whose uses are not looked at yet."""
        self._depth = 0
        self.notes: list[str] = []
        self._tokens: dict[int, tuple[Any, str]] = {id(it): (it, "shared by all of Python") for it in _generators()}
        """Of objects, by identity."""
        self._kinds: list[tuple[Any, Callable[[Any], str]]] = [
            (type, self._class),
            (types.FunctionType, self._function),
            (types.ModuleType, self._module),
            (types.CodeType, self._code),
            (types.BuiltinFunctionType, self._built_in),
            (types.MethodType, lambda of: self._all(_called(of), [of.__func__, of.__self__])),
            ((staticmethod, classmethod), lambda of: self._all(_kind(of), [of.__func__])),
            (property, lambda of: self._all(_kind(of), [of.fget, of.fset, of.fdel])),
            ((set, frozenset), lambda of: _digest(_kind(of), *sorted(map(self.token, of)))),
            (types.MappingProxyType, lambda of: self.token(dict(of))),
            (EMPTY, _kind),
        ]

    def token(self, of: Any) -> str:
        """What tells a value from others. Of a function it is what that holds; `all_uses` has the rest."""
        if type(of) in PLAIN:
            return _plain(of)
        if id(of) not in self._tokens:
            self._tokens[id(of)] = of, "within itself"
            self._depth += 1
            self._tokens[id(of)] = of, self._new(of)
            self._depth -= 1
        return self._tokens[id(of)][1]

    def all_uses(self) -> list[str]:
        """What functions use, by what has come to light of them, until nothing new does."""
        while self._functions:
            self._use(self._functions.pop())
        return sorted(self._uses)

    def _new(self, of: Any) -> str:
        if self._depth > DEEPEST:
            self._note(f"what is nested more than {DEEPEST} deep")
            return _kind(of)
        for kinds, described in self._kinds:
            if isinstance(of, kinds):
                return described(of)
        return self._object(of)

    def _all(self, what: str, parts: Iterable[Any]) -> str:
        return _digest(what, *map(self.token, parts))

    def _counts(self, module: str) -> bool:
        return module.partition(".")[0] == self.home or is_users(module)

    def _class(self, of: type) -> str:
        if not self._counts(of.__module__):
            return _called(of)
        written, parts = _written(of), []
        for name, held in sorted(vars(of).items()):
            if isinstance(held, types.FunctionType):
                parts += [name, self._method(held, of)]
            elif not name.startswith("__") and name != "_abc_impl":
                parts += [name, self.token(held)]
        return _digest(_called(of), written, *parts, *map(self.token, (type(of), *of.__bases__)))

    def _method(self, of: types.FunctionType, owner: type) -> str:
        """A function of a class, whose text is mostly part of the class's."""
        lines, file = _lines(owner), of.__code__.co_filename
        if not _written(owner) or lines is None:
            return self.token(of)
        if file == inspect.getsourcefile(owner) and of.__code__.co_firstlineno not in lines.numbers:
            return self.token(of)
        if file != inspect.getsourcefile(owner) and not file.startswith("<"):
            return self.token(of)
        self._functions.append(of)
        return self._all(_called(of), _held(of))

    def _function(self, of: types.FunctionType) -> str:
        if not self._counts(_module(of)):
            return self._all(_called(of), _held(of))
        self._functions.append(of)
        return _digest(_called(of), _written(of) or self.token(of.__code__), *map(self.token, _held(of)))

    def _use(self, of: types.FunctionType) -> None:
        """Adds what a function names."""
        named = vars(builtins) | of.__globals__ | {k: it for k, it in _cells(of) if isinstance(it, types.ModuleType)}
        for chain in sorted(_chains(of.__code__)):
            if chain[0] in named:
                self._look(of, named[chain[0]], chain)
                taken = self._taken(named[chain[0]], chain)
                self._uses.add(f"{_called(of)} {'.'.join(chain)} {self.token(taken)}")
        for imported in sorted(_imports(of.__code__)):
            self._import(of, imported)

    def _taken(self, of: Any, chain: Chain) -> Any:
        """What a chain takes of a module; of anything else that is taken as it is."""
        for attribute in chain[1:]:
            if not isinstance(of, types.ModuleType) or not self._counts(of.__name__):
                break
            if attribute not in vars(of):
                self._note(f"{of.__name__}.{attribute}, which is not there before it is asked for")
                break
            of = vars(of)[attribute]
        return of

    def _look(self, of: types.FunctionType, named: Any, chain: Chain) -> None:
        """Notes it if a name, or an attribute of it, gives what no text says."""
        for number, attribute in enumerate((*chain[1:], ""), 1):
            if any(named is it for it in OUTSIDE):
                self._note(f"what {of.__qualname__} takes by {'.'.join(chain[:number])}")
            named = vars(named).get(attribute) if isinstance(named, types.ModuleType) else None

    def _import(self, of: types.FunctionType, imported: Imported) -> None:
        """Adds what an import within a function gives."""
        name = imported.within(of.__globals__.get("__package__") or "")
        if not self._counts(name):
            if name == importlib.__name__:
                self._look(of, importlib, (name,))
            return
        try:
            module = importlib.import_module(name)
            taken = [_member(module, it) for it in imported.names] or [module, sys.modules[name.partition(".")[0]]]
        except Exception as error:  # whatever the module does
            self._note(f"`{name}`, which {of.__qualname__} imports: {type(error).__name__}: {error}")
            return
        self._uses.update(f"{_called(of)} {name} {imported.names} {self.token(it)}" for it in taken)

    def _module(self, of: types.ModuleType) -> str:
        if not self._counts(of.__name__):
            return of.__name__
        held = sorted((name, it) for name, it in vars(of).items() if not name.startswith("__"))
        return _digest(of.__name__, *(part for name, it in held for part in (name, self.token(it))))

    def _code(self, of: types.CodeType) -> str:
        return _digest(repr(of.co_code), repr(of.co_names), *map(self.token, of.co_consts))

    def _built_in(self, of: types.BuiltinFunctionType) -> str:
        """A function in another language: of a module, or bound to an object."""
        if of.__self__ is not None and not isinstance(of.__self__, types.ModuleType):
            return self._all(of.__qualname__, [of.__self__])
        file = getattr(sys.modules.get(of.__module__ or ""), "__file__", None)
        return _digest(_called(of), _bytes(file) if file and self._counts(of.__module__) else "")

    def _object(self, of: Any) -> str:
        """An object: its contents, or what Python would copy of it."""
        if type(of) in {list, tuple}:
            return self._all(_kind(of), of)
        if type(of) is dict:
            return self._all(_kind(of), [part for pair in of.items() for part in pair])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if hasattr(of, "__array_interface__"):
                    whole = of.tolist() if of.dtype.hasobject else of.tobytes()
                    return self._all(_kind(of), [str(of.dtype), str(of.shape), whole])
                if isinstance(getattr(of, "__wrapped__", None), types.FunctionType):  # as functools.cache has it
                    return self._all(_kind(of), [of.__wrapped__])
                reduced = copyreg.dispatch_table.get(type(of))
                copied: Any = reduced(of) if reduced else of.__reduce_ex__(2)
        except Exception:  # whatever its class does
            self._note(f"what an object of {_kind(of)} holds")
            return self.token(type(of))
        parts = [copied] if isinstance(copied, str) else [*copied[:3], *(list(it or ()) for it in copied[3:5])]
        return self._all(self.token(type(of)), parts)

    def _note(self, what: str) -> None:
        if what not in self.notes:
            self.notes.append(what)


def is_users(module: str) -> bool:
    """Whether code of a module is neither perhop's, nor the standard library's, nor an installed package's."""
    found, top = sys.modules.get(module), module.partition(".")[0]
    place = getattr(found, "__file__", None) or next(iter(getattr(found, "__path__", ())), None)
    if top == "perhop" or (place is None and top in sys.stdlib_module_names):
        return False
    above = Path(place).absolute().parents if place else ()
    return not any(it.name in INSTALLED or it in STANDARD for it in above)


def _generators() -> list[Any]:
    """Those that all of Python shares."""
    numpy = sys.modules.get("numpy.random.mtrand")
    return [random.seed.__self__, *([numpy._rand] if numpy else [])]  # type: ignore[attr-defined]


def _plain(of: Any) -> str:
    whole = hex(of) if type(of) is int else repr(of)
    return whole if len(whole) < 100 else _digest(whole)


def _digest(*parts: str) -> str:
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        found.update(b"%d " % len(encoded) + encoded)
    return found.hexdigest()


def _called(of: Any) -> str:
    return f"{getattr(of, '__module__', '')}.{of.__qualname__}"


def _kind(of: Any) -> str:
    return _called(type(of))


def _module(of: types.FunctionType) -> str:
    """Where it is written; its `__module__` may be that of what it wraps."""
    return str(of.__globals__.get("__name__", ""))


def _cells(of: types.FunctionType) -> list[tuple[str, Any]]:
    """The names that it closes over, as far as they have values."""
    cells = zip(of.__code__.co_freevars, of.__closure__ or (), strict=True)
    return [(name, cell.cell_contents) for name, cell in cells if cell != types.CellType()]


def _held(of: types.FunctionType) -> list[Any]:
    """What a function holds; of modules it closes over it takes something by name."""
    closed = [it for _, it in _cells(of) if not isinstance(it, types.ModuleType)]
    return [closed, of.__defaults__, of.__kwdefaults__, vars(of)]


@cache
def _bytes(file: str) -> str:
    """Of a file, as first seen."""
    return hashlib.blake2b(Path(file).read_bytes(), digest_size=16).hexdigest()


class Lines(NamedTuple):
    """The text of a class or function."""

    text: str
    numbers: range


@cache
def _lines(of: Any) -> Lines | None:
    """The text of a class or of code, as first seen, as a file may change; None where it is missing."""
    try:
        lines, first = inspect.getsourcelines(of)
    except (OSError, TypeError):
        return None
    return Lines("".join(lines), range(first, first + len(lines)))


def _written(of: type | types.FunctionType) -> str:
    """The text of a class or function; nothing where it is another class of the name, or is missing."""
    lines = _lines(of if isinstance(of, type) else of.__code__)
    if lines is None:
        return ""
    if isinstance(of, type):
        file, within = inspect.getsourcefile(of), f"{of.__qualname__}."
        own = [
            it for it in vars(of).values() if isinstance(it, types.FunctionType) and it.__qualname__.startswith(within)
        ]
        places = [(it.__code__.co_filename, it.__code__.co_firstlineno) for it in own]
        if any(place[0] == file and place[1] not in lines.numbers for place in places):
            return ""
    return lines.text


def _inner(code: types.CodeType) -> list[types.CodeType]:
    return [it for it in code.co_consts if isinstance(it, types.CodeType)]


@cache
def _instructions(code: types.CodeType) -> list[dis.Instruction]:
    return [it for it in dis.get_instructions(code) if it.opname not in BETWEEN]


@cache
def _chains(code: types.CodeType) -> set[Chain]:
    """The names that code loads, each with the attributes that are taken of it at once; what stands within it too."""
    found, steps = set[Chain](), _instructions(code)
    for at, step in enumerate(steps):
        if step.opname in LOADS:
            end = at + 1
            while end < len(steps) and steps[end].opname in ATTRIBUTES:
                end += 1
            found.add((step.argval, *(it.argval for it in steps[at + 1 : end])))
    return found.union(*map(_chains, _inner(code)))


class Imported(NamedTuple):
    """An import within a function."""

    module: str
    level: int
    names: Chain

    def within(self, package: str) -> str:
        """The module's full name, seen from a package."""
        if self.level == 0:
            return self.module
        above = package.split(".")[: len(package.split(".")) - self.level + 1]
        return ".".join([*above, *([self.module] if self.module else [])])


@cache
def _imports(code: types.CodeType) -> set[Imported]:
    steps = _instructions(code)
    here = [at for at, step in enumerate(steps) if step.opname == "IMPORT_NAME"]
    found = {Imported(steps[at].argval, steps[at - 2].argval, steps[at - 1].argval or ()) for at in here}
    return found.union(*map(_imports, _inner(code)))


def _member(module: types.ModuleType, name: str) -> Any:
    """What `from module import name` gives.

    Raises:
        ImportError: there is none.
    """
    return vars(module)[name] if name in vars(module) else importlib.import_module(f"{module.__name__}.{name}")
