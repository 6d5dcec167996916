"""Today's record, on every core."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from . import calls, record
from .program import Asker, listed
from .record import Record
from .texts import Text, tree
from .verbs import LINES, OF_LINES

VERDICTS = ("taken", "approximated", "not modelled")


def hashes(asker: Asker, text: Text) -> dict[str, str]:
    """Of all answers about a text."""
    os.chdir(asker.base)
    answers = [*asker.answers(text), *calls.answers(text)]
    made = {verb: record.of_answer(it.code, it.out, it.err) for verb, it in answers}
    return {**lines(asker, text), **made}


def lines(asker: Asker, text: Text) -> dict[str, str]:
    """How many lines of a configuration are modelled, if it is read."""
    if not text.kind.endswith("configuration"):
        return {}
    account = asker.value(text, OF_LINES).get("account", [])
    verdicts = Counter(line["verdict"] for line in account)
    return {LINES: ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS)} if account else {}


def collect(asker: Asker, texts: Iterable[Text]) -> Record:
    """Today's record of these texts."""
    every = list(texts)
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        made = pool.map(partial(hashes, asker), every)
        return {text.called: of for text, of in zip(every, made, strict=True)}


def of_tree(asker: Asker) -> list[Text]:
    """All texts of the tree, and the pages of `perhop list`."""
    return [*tree(), *listed(asker)]
