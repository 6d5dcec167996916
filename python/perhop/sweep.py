"""Axes of a sweep as the core takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def axis(key: str, values: Sequence[object]) -> str:
    """`key=a,b,c`.

    Raises:
        ValueError: for an empty axis, and for a table or a text with a comma: these are written in `[sweep]`.
    """
    if not values:
        raise ValueError(f"axis `{key}` has no values")
    return f"{key}=" + ",".join(_plain(key, value) for value in values)


def _plain(key: str, value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, Mapping) or "," in text or "{" in text:
        raise ValueError(f"axis `{key}`: {value!r} cannot be given here; write it in the file's [sweep]")
    return text
