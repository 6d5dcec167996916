"""A scenario written in Python, section by section, in the words of its file. What they mean is decided by the core.

Decision: docs/decisions/097-dictionaries-become-toml.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any, Generic, TypeVar

from perhop import in_force
from perhop.arguments import checked, fits, shown

Read = TypeVar("Read")
Tree = dict[str, Any]
Key = str | tuple[str, ...]
"""A key, or several that change together."""
Values = Iterable[object] | Mapping[str, object]
"""Values, rows of values for several keys, or a table with `values`, `labels` and `as` as in `[sweep]`."""


class Builder(Generic[Read]):
    """The sections stated so far. Each method returns a new builder with one more; `scenario()` reads them all.

    A key is written as in the file, with `_` for `-`, and a `_` after a word that Python keeps for itself:
    `max_p=0.1`, `from_="a"`. Keys of nested tables are texts, exactly as in the file.
    """

    def __init__(self, read: Callable[[Tree], Read], tree: Mapping[str, Any]) -> None:
        """For a function that reads a whole tree; see `Scenario.build`."""
        self._read = read
        self._tree = dict(tree)

    @checked
    def link(self, name: str, /, **keys: Any) -> Builder[Read]:
        """A line of `[links]`: `"A - B"`, or one direction, `"A -> B"`."""
        return self._with(("links", name), keys)

    @checked
    def node(self, name: str, /, **keys: Any) -> Builder[Read]:
        """`[nodes.NAME]`."""
        return self._with(("nodes", name), keys)

    @checked
    def conditioner(self, name: str, /, **keys: Any) -> Builder[Read]:
        """`[conditioner.NAME]`; those at one port act in the order in which they are stated."""
        return self._with(("conditioner", name), keys)

    @checked
    def queue(self, name: str, /, **keys: Any) -> Builder[Read]:
        """`[queue.NAME]`."""
        return self._with(("queue", name), keys)

    @checked
    def traffic(self, name: str, /, **keys: Any) -> Builder[Read]:
        """`[traffic.NAME]`."""
        return self._with(("traffic", name), keys)

    @checked
    def tcp(self, name: str, /, **keys: Any) -> Builder[Read]:
        """`[tcp.NAME]`."""
        return self._with(("tcp", name), keys)

    def dumbbell(self, **keys: Any) -> Builder[Read]:
        """`[dumbbell]`."""
        return self._with(("dumbbell",), keys)

    @checked
    def change(self, at: str, **sections: Any) -> Builder[Read]:
        """A `[[change]]`: `change("12s", conditioner={"gold": {"cir": "2Mbit/s"}})`."""
        listed = [*self._tree.get("change", []), {"at": at} | stated(sections)]
        return Builder(self._read, self._tree | {"change": deepcopy(listed)})

    @checked
    def sweep(self, axes: Mapping[str, Any]) -> Builder[Read]:
        """`[sweep]`, keys in the words of the file: `sweep({"conditioner.gold.cir": ["2Mbit/s", "5Mbit/s"]})`."""
        return self._with(("sweep",), {}, axes)

    def scenario(self) -> Read:
        """Reads and checks what is stated.

        Raises:
            ScenarioError: with everything that is wrong in it.
        """
        return self._read(self.to_dict())

    def to_dict(self) -> Tree:
        """What is stated, as `Scenario.from_dict` takes it."""
        return deepcopy(self._tree)

    def _with(self, path: tuple[str, ...], keys: Tree, verbatim: Mapping[str, Any] | None = None) -> Builder[Read]:
        tree = self.to_dict()
        at, last = tree, path[-1]
        for part in path[:-1]:
            at = at.setdefault(part, {})
        if last in at:
            raise ValueError(f"{in_force.dotted(path)} is stated already: name another one, or state it once")
        at[last] = deepcopy(stated(keys) | dict(verbatim or {}))
        return Builder(self._read, tree)

    def __repr__(self) -> str:
        return f"Builder({self._tree['scenario']['name']!r}: {', '.join(self._tree)})"


def stated(keys: Mapping[str, Any]) -> Tree:
    """Keys as the file writes them: `max_p` is `max-p`, `from_` is `from`."""
    return {key.removesuffix("_").replace("_", "-"): value for key, value in keys.items()}


def axis(key: Key, values: Values) -> str:
    """`key=[a, b, c]`, or `[a, b]=[[1, 2], [3, 4]]`.

    Raises:
        ValueError: for an empty axis.
        TypeError: for a text in place of a list, and for values that a scenario cannot hold.
    """
    if not fits(key, Key):
        raise TypeError(f"axes: {shown(key)} is not a key: a text, or a tuple of texts")
    name = key if isinstance(key, str) else f"[{', '.join(key)}]"
    if isinstance(values, Mapping):
        return f"{name}={in_force.toml(values, (name,))}"
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"axis `{name}`: {values!r} is not a list of values")
    listed = list(values)
    if not listed:
        raise ValueError(f"axis `{name}` has no values")
    return f"{name}={in_force.toml(listed, (name,))}"
