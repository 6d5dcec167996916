"""`perhop reproduce`: reruns the papers' tables and figures, with a verdict on each claim; `today` by its name."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from perhop import files
from perhop.cluster.client import reached
from perhop.progress import say, told
from perhop.unknown import UnknownError
from perhop_studies import Paper, Study, causes, maps, mutants, report, sentences, sequential, summary, trying
from perhop_studies import runs as simulation
from perhop_studies.map import run as map_all
from perhop_studies.outcome import Outcome
from perhop_studies.papers import ASKED, PAPERS, paper
from perhop_studies.records import Record, cell_record, record, write
from perhop_studies.runs import Budget
from perhop_studies.sequential import Looks
from perhop_studies.settings import FROZEN, Setting, chosen, in_sample
from perhop_studies.verdict import FULL, NOT_REPRODUCED

QUICK = 3
FIRST = (3, 5)
"""Numbers of seeds at which claims are looked at before all ten are run."""
FINE, FAILED = 0, 1
ALL, EVERYTHING = "all", "everything"


@dataclass(frozen=True)
class Options:
    """The command line's request."""

    what: list[str]
    budget: Budget
    out: Path
    setting: str
    strict: bool = False
    given: tuple[str, ...] = ()
    """Keys laid over every scenario."""

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Options:
        """From the verb's arguments.

        Raises:
            ValueError: `--seeds` below 1, or together with `--quick`.
        """
        seeds = arguments["seeds"]
        if seeds is not None and (seeds < 1 or arguments["quick"]):
            raise ValueError("--seeds is a positive number, and --quick means --seeds 3: give one of them")
        first = FIRST if seeds is None and not arguments["quick"] else ()
        seeds = QUICK if arguments["quick"] else FULL if seeds is None else seeds
        budget = Budget(seeds=seeds, seed=arguments["seed"], jobs=arguments["jobs"], first=first)
        what, out, setting = list(arguments["what"]), Path(arguments["out"]), arguments["setting"]
        if EVERYTHING in what and setting == FROZEN:
            setting = ALL
        return cls(what, budget, out, setting, arguments["strict"], tuple(arguments["set"]))


def reproduce(arguments: Mapping[str, Any]) -> int:
    """Carries out `perhop reproduce`."""
    if arguments["list"]:
        return studies(arguments)
    options = Options.of(arguments)
    with reached(arguments.get("cluster")) as cluster:
        return _asked(arguments, replace(options, budget=replace(options.budget, cluster=cluster)))


def _asked(arguments: Mapping[str, Any], options: Options) -> int:
    wanted = select(options.what)
    for tried, module in {"readings": trying, "mutants": mutants, "causes": causes}.items():
        if arguments[tried]:
            for found in _papers(wanted, tried):
                print(f"written: {module.run(found, options.budget, options.out, say)}")
            return FINE
    return _all(wanted, options)


def _papers(chosen: list[tuple[Paper, Study]], tried: str) -> list[Paper]:
    """The papers whose readings or mutants are tried.

    Raises:
        UnknownError: one is no paper.
    """
    names = list(dict.fromkeys(p.name for p, _ in chosen))
    if asked := [name for name in names if name in ASKED]:
        raise UnknownError(f"`{asked[0]}` is no paper and has no {tried}: give a paper ({', '.join(PAPERS)})")
    return [paper(name) for name in names]


def studies(arguments: Mapping[str, Any]) -> int:
    """Carries out `perhop list studies`: every study with its claims."""
    papers = [_facts(paper(name)) for name in (*PAPERS, *ASKED)]
    if arguments["json"]:
        print(json.dumps(papers))
        return FINE
    for found in papers:
        print(f"{found['paper']}: {found['title']}")
        for study in found["studies"]:
            print(f"  {study['study']}  {study['title']}")
            for it in study["claims"]:
                print(f"    {it['kind']:6} {it['claim']:36} {it['text']}")
            if study["cells"]:
                print(f"    report {study['cells']} printed table cells")
    return FINE


def _facts(found: Paper) -> dict[str, Any]:
    stated = found.criteria()

    def facts(study: Study) -> dict[str, Any]:
        claims = [{"kind": it.kind, "claim": it.claim, "text": it.text} for it in stated.of(study.id)]
        return {"study": study.id, "title": study.title, "claims": claims, "cells": len(stated.table(study.id))}

    return {"paper": found.name, "title": found.title, "studies": [facts(study) for study in found.studies]}


def select(what: list[str]) -> list[tuple[Paper, Study]]:
    """The studies of `all` papers, of some, or by their ids, each once; `everything` has `today`'s too.

    Raises:
        UnknownError: a name that is none of these.
    """
    names = (*PAPERS, *ASKED)
    every = [(found, study) for found in map(paper, names) for study in found.studies]
    known = {ALL, EVERYTHING, *names, *(study.id for _, study in every)}
    if unknown := [name for name in what if name not in known]:
        ids = ", ".join(study.id for _, study in every)
        raise UnknownError(
            f"no study `{unknown[0]}`: give all, everything, a paper ({', '.join(names)}) or studies ({ids})"
        )
    wanted = {*what} | ({*names} if EVERYTHING in what else {*PAPERS} if ALL in what else set())
    return [(p, s) for p, s in every if {p.name, s.id} & wanted]


def _all(studies: list[tuple[Paper, Study]], options: Options) -> int:
    files.directory(options.out)
    began = time.monotonic()
    papers = {found.name: found for found, _ in studies}
    asked = [(name, one) for name in papers for one in chosen(papers[name].settings(), options.setting)]
    parts = [(name, replace(setting, given=options.given)) for name, setting in asked]
    outcomes = []
    for number, (name, setting) in enumerate(parts, 1):
        with told(f"{name} ({number} of {len(parts)})"):
            wanted = [s for p, s in studies if p.name == name]
            outcomes.append(run(papers[name], wanted, options.budget, setting))
    records = [r for outcome in outcomes for r in outcome.records]
    write(options.out / "results.json", records)
    if EVERYTHING in options.what:
        map_all(maps.every(), replace(options.budget, seeds=maps.SEEDS), options.out / maps.DIRECTORY)
    page = report.write(outcomes, options.out, say)
    say("")
    print(summary.text(outcomes, time.monotonic() - began))
    print(f"\nreport  {page}\nresults {options.out / 'results.json'}")
    failed = any(r.kind == "hard" and r.verdict == NOT_REPRODUCED and not r.added for r in records)
    return FAILED if options.strict and failed else FINE


def run(found: Paper, studies: list[Study], budget: Budget, setting: Setting) -> Outcome:
    """Simulates what the studies need, each set of runs once, and judges every claim."""
    wanted, criteria = {name for study in studies for name in study.sets}, found.criteria()
    jobs = simulation.prepare([s for s in found.runs(setting) if s.name in wanted], budget)
    claims = [claim for study in studies for claim in criteria.of(study.id)]
    asked = [*claims, *found.referee().judged(claims)]
    looks = sequential.run(found, asked, jobs, budget, partial(simulation.progress, say))
    records = [replace(entry, setting=setting.title) for entry in judge(found, studies, looks, setting)]
    return Outcome(found, setting, studies, criteria, records, looks, budget)


def judge(found: Paper, studies: list[Study], looks: Looks, setting: Setting) -> list[Record]:
    """Every criterion of the studies, then their printed tables."""
    criteria, lines = found.criteria(), found.referee()
    notes = causes.Notes.of_paper(found, plain=setting.frozen and not setting.given)
    said, told_by, answers = sentences.load(found.directory), mutants.told(found), found.readings()
    records = []
    for study in studies:
        for criterion in [*criteria.of(study.id), *lines.added(study.id)]:
            finding = looks.finding(criterion)
            why = notes.of(criterion, finding) if finding.verdict == NOT_REPRODUCED else ""
            sentence = next((one.title for one in said if criterion.fits(one.claims)), "")
            broken = told_by.get((criterion.study, criterion.claim))
            entry = replace(record(criterion, finding, why), added=criterion.added, sentence=sentence)
            refereed = lines.told(criterion, looks.finding)
            fit = bool(in_sample(answers, criterion))
            records.append(replace(entry, referee=refereed, tells=broken.tells if broken else None, in_sample=fit))
        records += [cell_record(cell.criterion, looks.cell(cell)) for cell in criteria.table(study.id)]
    return records
