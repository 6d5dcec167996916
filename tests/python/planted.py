"""Samples that tests make up or take from a few runs, as claims ask for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from perhop_studies import Study
from perhop_studies.samples import Sample, Samples


def by_set(samples: Iterable[Sample]) -> dict[str, Samples]:
    """The samples of each run set's name, all its variants together."""
    found: dict[str, list[Sample]] = {}
    for sample in samples:
        found.setdefault(sample.runs, []).append(sample)
    return {name: Samples(rows) for name, rows in found.items()}


def samples_of(study: Study, runs: Mapping[str, Samples]) -> Samples:
    """Those of a study's runs, combined."""
    return Samples(sample for name in study.sets for sample in runs[name].all)
