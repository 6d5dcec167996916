"""The command line: `python -m same_texts --check`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from . import calls, corpora, record
from .collect import collect, of_tree
from .comparison import Comparison, lines
from .program import Asker
from .texts import named

PROGRAM = Path(sys.executable).with_name("perhop")


def answer(asker: Asker, name: str, verb: str) -> list[str]:
    """What is hashed of a text of the tree."""
    os.chdir(asker.base)
    text = named(name)
    return lines(calls.answer(text, verb) if calls.is_call(verb) else asker.answer(text, verb))


def check(asker: Asker, against: Path | None = None) -> bool:
    """Whether the tree's texts are as on record."""
    return Comparison(asker, of_tree(asker), record.read("texts"), against).none_differs()


def check_public(asker: Asker, against: Path | None = None) -> bool:
    """Whether the public files that are here are as on record; prints how many are."""
    recorded, here = record.read("corpora"), corpora.known(asker.base)
    same = Comparison(asker, here, corpora.of_those(recorded, here), against).none_differs()
    print(f"public files: {len(here)} of {len(recorded)} on record are in {asker.base} and were compared")
    return same


def write_public(asker: Asker) -> None:
    """Records the public files of a directory."""
    here = corpora.new(asker.base)
    made = collect(asker, here)
    record.write(
        "corpora", {it.name: {corpora.CONTENT: corpora.content(asker.base, it), **made[it.name]} for it in here}
    )


def main(arguments: Iterable[str] | None = None) -> int:
    """Carries out the command line."""
    parser = argparse.ArgumentParser(prog="same_texts", description="printed texts against those on record")
    parser.add_argument("--check", action="store_true", help="compare (default)")
    parser.add_argument("--write", action="store_true", help="record the current answers")
    parser.add_argument("--answer", nargs=2, metavar=("TEXT", "VERB"), help="print what is hashed")
    parser.add_argument("--program", type=Path, default=PROGRAM, help="the program perhop; beside Python by default")
    parser.add_argument("--against", type=Path, metavar="PERHOP", help="another build, asked for what differs")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="also the public files in this directory")
    chosen = parser.parse_args(arguments if arguments is None else list(arguments))
    asker = Asker(chosen.program.absolute())
    public = chosen.corpus and replace(asker, base=chosen.corpus.absolute())
    if chosen.answer:
        print("\n".join(answer(asker, *chosen.answer)))
        return 0
    if chosen.write:
        record.write("texts", collect(asker, of_tree(asker)))
        if public:
            write_public(public)
        return 0
    same = [check(asker, chosen.against), *([check_public(public, chosen.against)] if public else [])]
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
