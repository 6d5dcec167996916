"""Axes of a sweep as the core takes them: those of `--vary`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from perhop import in_force
from perhop.arguments import fits, shown

Key = str | tuple[str, ...]
"""A key, or several that change together."""
Values = Iterable[object] | Mapping[str, object]
"""Values, rows of values for several keys, or a table with `values`, `labels` and `as` as in `[sweep]`."""


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
