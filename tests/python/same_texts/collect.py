"""Today's record, on every core."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from . import calls, record
from .program import Asker, listed
from .record import Record
from .texts import Text, tree


def hashes(asker: Asker, text: Text) -> dict[str, str]:
    """Of all answers about a text."""
    os.chdir(asker.base)
    answers = [*asker.answers(text), *calls.answers(text)]
    return {verb: record.of_answer(it.code, it.out, it.err) for verb, it in answers}


def collect(asker: Asker, texts: Iterable[Text]) -> Record:
    """Today's record of these texts."""
    every = list(texts)
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        made = pool.map(partial(hashes, asker), every)
        return {text.called: of for text, of in zip(every, made, strict=True)}


def of_tree(asker: Asker) -> list[Text]:
    """All texts of the tree, and the pages of `perhop list`."""
    return [*tree(), *listed(asker)]
