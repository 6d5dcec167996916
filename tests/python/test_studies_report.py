"""`perhop reproduce`: the contract of results.json, the files around it, and the page in a browser."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from perhop import _core, stats
from perhop.hands import Work, span
from perhop_studies import maps, measures, records, summary, tally
from perhop_studies import reproduce as verb
from perhop_studies import runs as simulation
from perhop_studies.criteria import Criterion
from perhop_studies.outcome import Outcome
from perhop_studies.pam_fsam.method import METHOD, quantities
from perhop_studies.papers import PAPERS, paper
from perhop_studies.runs import Budget
from perhop_studies.samples import Sample, Samples
from perhop_studies.sequential import Looks
from perhop_studies.verdict import Finding, Part, positive
from waits import WAIT_S

pytestmark = pytest.mark.slow

PAPER = paper("pam-fsam")
CRITERIA = PAPER.criteria()
MAPS = maps.load(PAPER)
FIGURES = 3 + len(MAPS)
"""Of the two studies, and the maps."""
ONE = ["pf-fig4", "pf-fig2"]
"""Studies of one paper."""
ARGUMENTS = {
    "what": ONE,
    "quick": False,
    "seeds": 2,
    "seed": 1,
    "jobs": 2,
    "strict": False,
    "list": False,
    "readings": False,
    "set": [],
    "mutants": False,
    "causes": False,
    "setting": "frozen",
}
SHORT = ["scenario.duration=8s"]
TWO = ["pf-fig2", "redp-udp"]
"""Studies of two papers."""


@pytest.fixture(scope="session")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two studies of short runs, reproduced once for all tests here."""
    return _reproduced(tmp_path_factory.mktemp("reproduction"), jobs=2)


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study each of two papers."""
    return _reproduced(tmp_path_factory.mktemp("papers"), jobs=2, what=TWO)


def _reproduced(out: Path, jobs: int, what: list[str] = ONE) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulation.RunSet, "overrides", _shorter(simulation.RunSet.overrides))
        patch.setattr(simulation.RunSet, "replications", lambda self, budget: budget.seeds)
        assert verb.reproduce({**ARGUMENTS, "what": what, "out": str(out), "jobs": jobs}) == 0
    return out


def _shorter(overrides: Callable[..., list[str]]) -> Callable[..., list[str]]:
    return lambda self, reading: [*overrides(self, reading), *SHORT]


def listed(out: Path) -> list[dict[str, Any]]:
    """As any reader of the file sees them."""
    found: list[dict[str, Any]] = json.loads((out / "results.json").read_text(), parse_constant=pytest.fail)
    return found


def test_records_have_the_fields_of_the_contract(out: Path) -> None:
    for entry in listed(out):
        assert tuple(entry) == records.KEYS
        assert entry["kind"] in ("hard", "soft", "report")
        assert entry["verdict"] in ("reproduced", "not reproduced", "undecided", "reported")
        assert (entry["verdict"] == "reported") == (entry["kind"] == "report")
        assert isinstance(entry["seeds"], int)
        assert entry["seeds"] >= 2
        assert entry["criterion"]
        assert entry["note"]
        assert entry["measured"] is not None


def test_what_was_written_is_read_and_written_again(out: Path, tmp_path: Path) -> None:
    records.write(tmp_path / "results.json", records.read(out / "results.json"))
    assert (tmp_path / "results.json").read_bytes() == (out / "results.json").read_bytes()


def test_every_criterion_every_printed_cell_and_what_a_referee_adds_has_one_record(out: Path) -> None:
    names = [(r["study"], r["claim"]) for r in listed(out)]
    stated = [(c.study, c.claim) for c in CRITERIA.claims if c.study in ("pf-fig2", "pf-fig4")]
    stated += [(c.study, c.claim) for c in paper("pam-fsam").referee().added("pf-fig4")]
    stated += [(c.study, c.criterion.claim) for c in CRITERIA.table("pf-fig2")]
    assert sorted(names) == sorted(stated)
    assert len(set(names)) == len(names)


def test_an_interval_is_a_pair_around_what_was_measured(out: Path) -> None:
    pairs = [r for r in listed(out) if isinstance(r["measured"], float) and r["ci95"]]
    assert len(pairs) > 10
    assert all(r["ci95"][0] <= r["measured"] <= r["ci95"][1] for r in pairs)


def test_the_same_seed_gives_the_same_bytes_on_one_thread_and_on_two(out: Path, tmp_path: Path) -> None:
    again = _reproduced(tmp_path, jobs=1)
    for name in ("results.json", "samples-pam-fsam.parquet"):
        assert (again / name).read_bytes() == (out / name).read_bytes(), name


def rows(query: str) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection:
        return connection.execute(query).fetchall()


def test_samples_are_all_there_as_parquet(out: Path) -> None:
    grouped = "SELECT runs, count(DISTINCT (arrivals, marker, n, replication)) FROM '{}' GROUP BY 1 ORDER BY 1"
    query = grouped.format(out / "samples-pam-fsam.parquet")
    assert rows(query) == [("pf-fig2", 3 * 4 * 2), ("pf-fig4", 4 * 6 * 2)]
    nulls = f"SELECT count(*) FROM '{out}/samples-pam-fsam.parquet' WHERE runs = 'pf-fig2' AND n IS NOT NULL"
    assert rows(nulls) == [(0,)]


def test_each_figure_is_there_as_svg_and_png(out: Path) -> None:
    vectors = sorted(p.stem for p in (out / "figures").glob("*.svg"))
    assert [name for name in vectors if not name.startswith("map-")] == ["pf-fig2-phases", "pf-fig2-shares", "pf-fig4"]
    assert [name for name in vectors if name.startswith("map-")] == sorted(f"map-{one.id}" for one in MAPS)
    assert sorted(p.stem for p in (out / "figures").glob("*.png")) == vectors
    assert all((out / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG") for name in vectors)


def test_the_page_is_whole_and_needs_no_network(out: Path) -> None:
    page = (out / "report.html").read_text()
    assert page.count("<figure") == page.count("</figure>") == FIGURES
    wanted = re.findall(r"""(?:src|href)="([^"#][^"]*)\"""", page)
    assert all(link.startswith(("figures/", "data:,", "known-pam-fsam.html")) for link in wanted), wanted
    assert all((out / link).is_file() for link in wanted if link != "data:,")
    assert "<script" not in page
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(set(ids)) == len(ids)
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)


def ids_of(page: Path) -> list[str]:
    return re.findall(r'\bid="([^"]+)"', page.read_text())


def test_several_papers_have_a_page_each_and_a_summary(papers: Path) -> None:
    """Every link of every page leads to a file and a place that are there."""
    pages = {page.name: page for page in papers.glob("*.html")}
    assert set(pages) == {"report.html", "pam-fsam.html", "redp.html", "known-pam-fsam.html", "known-redp.html"}
    ids = {page: ids_of(page) for page in pages.values()}
    for page in pages.values():
        assert len(set(ids[page])) == len(ids[page])
        links = re.findall(r'href="(?!data:)([^"]*)"', page.read_text())
        assert len(links) > (1 if page.name.startswith("known-") else 10)
        for link in links:
            name, _, place = link.partition("#")
            target = papers / (name or page.name)
            assert target.is_file(), link
            assert not place or place in ids[target], link
    for study in TWO:
        assert f'#{study}"' in (papers / "report.html").read_text()


def test_the_summary_counts_what_the_records_say(papers: Path) -> None:
    """The frozen count first; then what stands beside it, and the sum of both papers."""
    summary = (papers / "report.html").read_text()
    found = []
    for name in ("pam-fsam", "redp"):
        prefix = {"pam-fsam": "pf-", "redp": "redp-"}[name]
        mine = [r for r in records.read(papers / "results.json") if r.study.startswith(prefix)]
        found.append(tally.of(paper(name), mine, "frozen", 1))
        hard = [r for r in mine if r.kind == "hard" and not r.added]
        held = sum(r.verdict == "reproduced" for r in hard)
        row = summary[summary.index(f'<tr><th scope="row" class="name"><a href="{name}.html">') :]
        cells = re.findall(r'<td class="num">(?:<b>)?([^<]*)', row[: row.index("</tr>")])
        assert cells[0] == f"{held} of {len(hard)}"
        assert cells[: len(tally.COLUMNS)] == found[-1].cells
        assert all(f"<code>{r.name}</code>" in summary for r in mine if r.verdict == "undecided")
    row = summary[summary.index('<tr><th scope="row">in all</th>') :]
    assert re.findall(r'<td class="num">(?:<b>)?([^<]*)', row[: row.index("</tr>")]) == tally.total(found).cells


def test_the_terminal_has_the_same_counts(papers: Path) -> None:
    listed = records.read(papers / "results.json")
    outcomes = []
    for name in ("pam-fsam", "redp"):
        found, setting = paper(name), paper(name).settings()["frozen"]
        mine = [r for r in listed if r.study in {study.id for study in found.studies}]
        outcomes.append(Outcome(found, setting, [], found.criteria(), mine, Looks(found), Budget()))
    said = [line.split() for line in summary.text(outcomes, 1.0).splitlines()]
    for outcome in outcomes:
        assert [outcome.paper.name, "frozen", *" ".join(outcome.tally.cells).split()] in said
    assert ["in", "all", *" ".join(tally.total(o.tally for o in outcomes).cells).split()] in said


def test_every_open_reading_of_every_paper_is_in_one_table(papers: Path) -> None:
    summary = (papers / "report.html").read_text()
    for name in ("pam-fsam", "redp"):
        readings = paper(name).readings()
        assert len(readings) > 3
        for reading in readings:
            assert f'href="{name}.html#reading-{reading}"' in summary


PROBE = """<script>
addEventListener('load', () => {
  const box = (e) => e.getBoundingClientRect();
  const ok = [...document.querySelectorAll('figure')].map((f) => {
    const svg = f.querySelector('svg'), b = box(svg), drawn = svg.querySelectorAll('path').length;
    return b.width > 200 && b.height > 100 && drawn > 10 && getComputedStyle(svg).visibility === 'visible';
  });
  document.body.dataset.figures = ok.join(' ');
  document.body.dataset.wide = document.documentElement.scrollWidth > innerWidth;
});
</script></body>"""


@pytest.mark.parametrize("width", [1280, 420])
def test_the_page_opens_in_a_browser_with_every_figure_visible(out: Path, tmp_path: Path, width: int) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        reason = "chromium is not installed: the report was not opened (apt-get install chromium)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    page = out / f"probe-{width}.html"
    page.write_text((out / "report.html").read_text().replace("</body>", PROBE))
    flags = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--window-size={width},900",
        f"--user-data-dir={tmp_path}",
    ]
    flags += ["--enable-logging=stderr", "--v=0", "--virtual-time-budget=5000", "--dump-dom"]
    shown = subprocess.run([browser, *flags, page.as_uri()], capture_output=True, text=True, timeout=WAIT_S, check=True)
    assert f'data-figures="{" ".join(["true"] * FIGURES)}"' in shown.stdout
    assert 'data-wide="false"' in shown.stdout
    complaints = [line for line in shown.stderr.splitlines() if "CONSOLE" in line]
    assert complaints == []


def finding(values: list[float]) -> Finding:
    return Finding([positive("x", values)])


def test_what_was_tried_is_noted_only_where_a_claim_failed() -> None:
    criterion = Criterion("s", "c", "hard", "x > 0")
    assert "tried" not in records.record(criterion, finding([1.0, 1.1] * 5), "tried").note
    assert "tried" in records.record(criterion, finding([-1.0, -1.1] * 5), "tried").note


def test_a_report_is_never_judged() -> None:
    assert records.record(Criterion("s", "c", "report", "x"), finding([1.0, 1.1] * 5)).verdict == "reported"


def test_several_conditions_give_lists_and_no_number_is_null() -> None:
    endless = Part("y", stats.Interval(math.inf, math.nan, math.nan, 10), holds=False)
    entry = records.record(Criterion("s", "c", "hard", "x"), Finding([*finding([1.0, 3.0] * 5).parts, endless]))
    assert [found.mean for found in entry.estimates] == [2.0, None]
    assert entry.estimates[1].span is None
    assert entry.estimates[0].span == pytest.approx((1.245, 2.754), abs=1e-3)


def test_a_table_is_strict_json_in_the_means_place_and_read_as_it_was(tmp_path: Path) -> None:
    found = Finding(finding([1.0, 1.1] * 5).parts, table=[{"n": 5, "x": math.nan, "both": [1.0, 1 / 3], "by": "a"}])
    written = records.record(Criterion("s", "c", "report", "x"), found)
    records.write(tmp_path / "results.json", [written])
    [entry] = listed(tmp_path)
    assert entry["measured"] == [{"n": 5, "x": None, "both": [1.0, 0.333333], "by": "a"}]
    assert entry["ci95"] == list(written.estimates[0].span or ())
    records.write(tmp_path / "again.json", records.read(tmp_path / "results.json"))
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "results.json").read_bytes()


def lines(*of: tuple[str, str]) -> list[records.Record]:
    return [records.Record("s", "c", kind, "", None, (), 10, verdict, "") for kind, verdict in of]


def test_overall_needs_every_hard_line() -> None:
    def judged(*verdicts: str) -> str:
        return records.overall(lines(*zip(("hard", "hard", "soft"), verdicts, strict=True)))

    assert judged("reproduced", "reproduced", "reproduced") == "quantitatively reproduced"
    assert judged("reproduced", "reproduced", "not reproduced") == "reproduced"
    assert judged("reproduced", "undecided", "reproduced") == "undecided"
    assert judged("not reproduced", "undecided", "reproduced") == "not reproduced"


def test_what_is_asked_for_is_found_or_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert [s.id for _, s in verb.select(["pf-fig9", "pf-fig2"])] == ["pf-fig2", "pf-fig9"]
    counts = {name: len(verb.select([name])) for name in PAPERS}
    least = {"pam-fsam": 11, "pps": 21, "msvb-sio": 11, "redp": 12, "rtt-rto": 10}
    assert [name for name, n in least.items() if counts[name] < n] == []
    assert len(verb.select(["all"])) == sum(counts.values())
    with pytest.raises(LookupError, match="no study `pf-fig1`"):
        verb.select(["pf-fig1"])
    assert verb.studies({"json": False}) == 0
    assert "pf-udp" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "seeds"), [({"quick": True, "seeds": None}, 3), ({"seeds": None}, 10), ({"seeds": 4}, 4)]
)
def test_seeds_are_ten_three_or_as_stated(given: dict[str, object], seeds: int) -> None:
    assert verb.Options.of({**ARGUMENTS, "out": "x", **given}).budget.seeds == seeds


@pytest.mark.parametrize("given", [{"seeds": 0}, {"quick": True, "seeds": 5}])
def test_seeds_that_make_no_sense_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="--seeds"):
        verb.Options.of({**ARGUMENTS, "out": "x", **given})


def test_strict_fails_on_a_hard_claim_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = records.Record("pf-fig4", "fsam-gain", "hard", "x", None, (), 2, "not reproduced", "")
    monkeypatch.setattr(verb, "run", lambda p, s, b, t: Outcome(p, t, s, CRITERIA, [entry], Looks(p), b))
    monkeypatch.setattr("perhop_studies.report.write", lambda *_: tmp_path)
    assert verb.reproduce({**ARGUMENTS, "out": str(tmp_path), "strict": True}) == 1
    assert verb.reproduce({**ARGUMENTS, "out": str(tmp_path)}) == 0


def test_each_set_of_runs_is_simulated_once() -> None:
    sets = PAPER.runs()
    assert {s.name for s in sets} == {name for study in PAPER.studies for name in study.sets}
    assert len({(s.name, *s.at.items()) for s in sets}) == len(sets)
    assert [s.draws for s in sets if s.name == "pf-fig3"] == [None, 50, None]
    assert {s.replications(Budget(seeds=3)) for s in sets} == {3, 50}


def test_quantities_are_the_tables_columns() -> None:
    """Against the core's own tables: nothing is read from the wrong row."""
    text = (PAPER.directory / "pf-fig7.toml").read_text()
    scenario = _core.Scenario(text, "pf-fig7.toml", ["scenario.duration=8s"], ["traffic.bulk.flows=3"])
    result = Work(scenario).asking(replications=span(range(1))).run(None)[0]
    tables, found = result["tables"], quantities(result["tables"])
    flows = tables["flows"]
    bulk = [g for g, name in zip(flows["goodput_bit_s"], flows["traffic"], strict=True) if name == "bulk"]
    assert len(bulk) == 3
    assert found["bulk.goodput"] == pytest.approx(stats.mean(bulk))
    assert found["bulk.total"] == pytest.approx(sum(bulk))
    assert found["bulk.std"] == pytest.approx(math.sqrt(stats.mean((g - stats.mean(bulk)) ** 2 for g in bulk)))
    assert found["jain"] == pytest.approx(measures.jain(flows["goodput_bit_s"]))
    marked = tables["conditioners"]
    green = [
        p
        for c, out, p in zip(marked["conditioner"], marked["colour_out"], marked["packets"], strict=True)
        if (c, out) == ("marker", "green")
    ]
    assert found["bulk.in"] + found["rogue.in"] == sum(green)
    assert 0.5 < found["utilisation"] <= 1
    assert METHOD.labels(dict(scenario.points[0]["labels"])) == {"n": 3, "marker": "token-bucket"}


def test_values_of_one_variant_are_ordered_by_replication() -> None:
    models = ("strict", "jittered")
    rows = [Sample("r", {"arrivals": a, "n": 5}, i, {"q": float(i)}) for i in (2, 0, 1) for a in models]
    assert Samples(rows).at(arrivals="strict").values("q", n=5) == [0.0, 1.0, 2.0]


VARIED = """
[axes.size]
1000 = {}
500 = { set = { "tcp.host.segment" = "460B", "a.b" = 2 } }

[x]
scenario = "x-{scheme}.toml"
over = ["size"]
set = { "a.b" = 1, "c" = "d" }
[x.scheme.sender]
[x.scheme.receiver]
draws = 7
[x.size.500]
set = { "e" = 3 }
"""


def test_a_run_set_is_run_in_every_variant(tmp_path: Path) -> None:
    (tmp_path / "runs.toml").write_text(VARIED)
    sets = simulation.load(tmp_path, METHOD)
    places = [{"size": n, "scheme": s} for n in (1000, 500) for s in ("sender", "receiver")]
    assert [s.at for s in sets] == places
    assert [s.scenario.name for s in sets] == [f"x-{s['scheme']}.toml" for s in places]
    assert [s.draws for s in sets] == [None, 7, None, 7]
    assert sets[0].settings == {"a.b": 1, "c": "d"}
    assert sets[2].settings == {"a.b": 2, "c": "d", "tcp.host.segment": "460B", "e": 3}
    assert sets[0].overrides({"f": 4}) == ["a.b=1", 'c="d"', "f=4"]


def test_the_general_is_laid_before_the_special() -> None:
    settings = {"queue.x.min": "9p", "@red.min?": "5p", "conditioner.e.kind": "pam", "queue.x": {"aqm": "red"}}
    laid = simulation.assignments(settings)
    assert laid == ['conditioner.e.kind="pam"', 'queue.x={ aqm = "red" }', '@red.min?="5p"', 'queue.x.min="9p"']
