"""Samples that tests make up or take from a few runs, as claims ask for them; a line with a meter to take them from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from perhop_studies import Study
from perhop_studies.samples import Sample, Samples

LINE = """
[scenario]
name = "line"
duration = "{duration}"
warmup = "{warmup}"
[links]
"A - B" = {{ rate = "10Mbit/s", delay = "1ms" }}
"A -> B" = {{ queue = "long" }}
[queue.long]
limit = "100000p"
[conditioner.{name}]
at = "A -> B"
kind = "token-bucket"
cir = "{cir}"
cbs = "3kB"
[traffic.p]
model = "poisson"
rate = "5Mbit/s"
size = "1000B"
from = "A"
to = "B"
"""
"""A link of 10 Mbit/s behind a meter, half full of Poisson's packets."""


def by_set(samples: Iterable[Sample]) -> dict[str, Samples]:
    """The samples of each run set's name, all its variants together."""
    found: dict[str, list[Sample]] = {}
    for sample in samples:
        found.setdefault(sample.runs, []).append(sample)
    return {name: Samples(rows) for name, rows in found.items()}


def samples_of(study: Study, runs: Mapping[str, Samples]) -> Samples:
    """Those of a study's runs, combined."""
    return Samples(sample for name in study.sets for sample in runs[name].all)
