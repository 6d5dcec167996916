"""The report of a run: its answer first, digits that say something, nothing too wide, words for each picture."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from conftest import ROOT, SCENARIO, Command
from perhop import Runs, Scenario, measured, report, stats, units
from perhop.answer import Answer, Between, answers
from perhop.plots import dark
from perhop.reporting import first
from perhop.reporting.tables import tabled
from perhop.reporting.warned import Warned
from waits import WAIT_S

SHORT = {"scenario.duration": "6s", "scenario.warmup": "1s"}
SERIES = {"scenario.sample": "100ms"}
PHONE = 390
"""CSS pixels."""


@pytest.fixture(scope="module")
def af() -> Runs:
    """Two classes with a contract each."""
    return Scenario.from_toml(ROOT / "examples" / "af-queue.toml", SHORT).run(3)


@pytest.fixture(scope="module")
def tutorial() -> Runs:
    """Voice, business, best effort and a blaster, sampled."""
    return Scenario.from_toml(ROOT / "examples" / "tutorial.toml", SHORT | SERIES).run(2)


class Reader(HTMLParser):
    """A page's elements, the text outside pictures and listings, what it would load."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.pictures: list[str | None] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        if tag not in ("meta", "link", "br", "path", "use", "rect"):
            self.open.append(tag)
        if "id" in found:
            self.ids.append(found["id"] or "")
        if found.get("role") == "img":
            self.pictures.append(found.get("aria-label"))
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "srcset", "data") and not (value or "").startswith(("#", "data:")):
                self.loads.append(f"{tag} {name}={value}")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not {"svg", "pre", "style"} & set(self.open):
            self.text += f" {data}"


def test_the_report_is_whole_and_loads_nothing(tutorial: Runs) -> None:
    page = Reader(report.html(tutorial))
    assert page.loads == []
    assert "script" not in page.tags
    assert page.tags.count("svg") == 1 + len(report.DETAILS)
    assert len(set(page.ids)) == len(page.ids), "ids are unique, those of pictures too"
    assert page.tags.count("details") == len(report.DETAILS) + 5 + 1, "pictures, tables, the scenario"
    assert page.tags.index("table") < page.tags.index("svg") < page.tags.index("details"), "the answer comes first"
    assert "nav" in page.tags


def test_every_picture_has_words(tutorial: Runs) -> None:
    page = Reader(report.html(tutorial))
    assert len(page.pictures) == page.tags.count("svg")
    assert all(page.pictures)
    assert re.search(r"business: delivered [\d.]+ of [\d.]+ Mbit/s \(green .*contract 20", page.pictures[0] or "")


def test_the_first_table_by_hand(af: Runs) -> None:
    near, far = answers(af)
    assert (near.name, far.name) == ("near", "far")
    arrived = af.totals("summary", "arrived_bytes", where={"hop": "n1 -> E1"})[()]
    assert near.offered == stats.interval(arrived * 8 / 5.0)
    dropped = af.totals("summary", "dropped_packets", where={"class": "near"})[()]
    delivered = af.totals("arrivals", "delivered_packets", where={"class": "near"})[()]
    assert near.lost == measured.interval(units.LOST, 100 * dropped / (dropped + delivered))
    assert near.delivered == stats.interval(
        af.totals("arrivals", "delivered_bytes", where={"class": "near"})[()] * 8 / 5.0
    )
    assert [(c["hop"], c["rate_bit_s"]) for c in far.contracts] == [("E2 -> C1", 2_000_000)]
    assert (near.contract_bit_s, far.contract_bit_s) == (2_000_000, 2_000_000)
    assert far.green == af.means("arrivals", "throughput_bit_s", {"class": "far", "colour": "green"})[()]
    colours = af.values("arrivals", "delay_p99_ms", where={"class": "far"}, by=["colour"], missing=float("nan"))
    assert far.p99 is not None
    assert far.p99.low == measured.interval(units.DELAY, np.nanmin(list(colours.values()), axis=0))
    assert far.p99.high == measured.interval(units.DELAY, np.nanmax(list(colours.values()), axis=0))


def test_what_was_offered_is_what_was_delivered_and_lost(af: Runs, tutorial: Runs) -> None:
    """The difference is what was waiting or on a wire at the ends of the measured time."""
    waiting = 8 * 1500 * 400 / 5.0
    for answer in [*answers(af), *answers(tutorial)]:
        assert isinstance(answer, Answer)
        assert answer.lost is not None
        kept = answer.offered.mean * (1 - answer.lost.mean / 100)
        assert abs(kept - answer.delivered.mean) < waiting, answer.name


def test_a_shared_contract_belongs_to_no_class_alone() -> None:
    runs = Scenario.from_toml(ROOT / "examples" / "f-sam.toml", SHORT).run(1)
    by_name = {answer.name: answer for answer in answers(runs)}
    assert [c["rate_bit_s"] for c in by_name["tcp"].contracts] == [500_000]
    assert by_name["tcp"].contract_bit_s is None
    assert by_name["background"].contracts == []
    assert "contract at E1 -&gt; E2, with udp" in report.html(runs)


def test_what_is_in_contract_stands_beside_the_contract(af: Runs, tutorial: Runs) -> None:
    table = report.page(af).answer
    at = table.headings.index("of it green, Mbit/s")
    assert table.headings[at - 1] == "delivered, Mbit/s"
    assert [row.contracts[0].rate for row in table.rows] == ["2", "2"]
    assert all(abs(float(row.numbers[at - table.names - 1].split()[0]) - 2.0) < 0.3 for row in table.rows)
    greens = {answer.name: answer.green for answer in answers(tutorial)}
    assert greens["home"] is None, "no conditioner marks it"
    assert greens["voice"] is not None, "a policer's green"
    assert "green at the end of their path" in Reader(report.html(tutorial)).text


def test_nothing_of_a_class_that_is_all_dropped_is_in_contract() -> None:
    policed = {"conditioner.business.green": "drop"}
    runs = Scenario.from_toml(ROOT / "examples" / "tutorial.toml", SHORT | policed).run(1)
    (business,) = (answer for answer in answers(runs) if answer.name == "business")
    assert business.green is not None
    assert business.green.mean == 0.0
    assert business.delivered.mean == 0.0


def test_warnings_of_the_scenario_are_on_top(tutorial: Runs) -> None:
    assert report.page(tutorial).warned == []
    assert "warned" not in re.sub(r"<style>.*?</style>", "", report.html(tutorial), flags=re.DOTALL)
    policed = SHORT | {"conditioner.business.red": "drop"}
    scenario = Scenario.from_toml(ROOT / "examples" / "tutorial.toml", policed)
    cbs = "conditioner.business.cbs"
    runs = scenario.sweep({cbs: ["2000B", "4000B", "2MB"]}, replications=1)
    found = [it for it in report.page(runs).warned if it.code == "W301"]
    assert [it.where for it in found] == ["cbs 2000B", "cbs 4000B"]
    assert all("`business` will hold TCP below its contract: " in it.text for it in found)
    page = report.html(runs)
    assert page.index("W301") < page.index('class="scroll answer"')
    assert '<details class="warned">' not in page


def test_many_warnings_are_folded(tutorial: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    every = [Warned(f"W30{i}", f"text {i}", "") for i in range(4)]
    for number, folded in ((3, 0), (4, 1)):
        monkeypatch.setattr(report, "warned", lambda _runs, n=number: every[:n])
        page = report.html(tutorial)
        assert page.count('<details class="warned"') == folded
        assert page.count("<b>warning W30") == number


def test_without_contract_the_page_says_so(tmp_path: Path) -> None:
    runs = Scenario.from_toml(ROOT / "examples" / "dumbbell.toml", SHORT).run(1)
    page = Reader(report.html(runs))
    assert "there is no contract to compare with" in page.text
    assert "contract, Mbit/s" not in page.text


def test_contracts_that_change_are_those_of_the_start() -> None:
    runs = Scenario.from_toml(ROOT / "examples" / "timed-change.toml").run(1)
    assert "at the start: the scenario has timed changes" in Reader(report.html(runs)).text


def test_numbers_have_sensible_digits(af: Runs, tutorial: Runs, swept: Runs) -> None:
    for runs in (af, tutorial, swept):
        text = Reader(report.html(runs)).text
        assert not re.search(r"\d[eE][+-]\d", text), "no exponents"
        assert not re.search(r"\d\.0*[1-9]\d{6}", text), "no long tails"
        assert not re.search(r"\bnan\b|\binf\b", text)


def test_idle_ports_are_hidden_and_counted(af: Runs) -> None:
    links, ports = tabled(af, "links"), tabled(af, "summary")
    shown = {row[0] for row in links.rows}
    assert {"E1 -> C1", "E2 -> C1", "C1 -> C2"} <= shown
    every = {str(hop) for hop in af.table("links")["hop"]}
    assert f"{len(every - shown)} idle ports are hidden" in links.note
    assert links.note == ports.note
    hidden = every - shown
    assert hidden
    dropped = af.totals("summary", "dropped_packets", by=["hop"])
    assert all(not dropped[hop,].any() for hop in hidden if (hop,) in dropped)


def test_columns_without_values_are_omitted(af: Runs) -> None:
    assert not any("marked" in heading for heading in tabled(af, "summary").headings), "no ECN here"
    assert any("dropped, %" in heading for heading in tabled(af, "summary").headings)


def test_rates_are_in_the_unit_that_fits() -> None:
    goodput, delay = units.column("traffic", "goodput_bit_s"), units.column("arrivals", "delay_p99_ms")
    assert goodput.scaled(2.5e6) == ("Mbit/s", 1e-6)
    assert goodput.scaled(999e3) == ("kbit/s", 1e-3)
    assert delay.scaled(0.2) == ("us", 1e3)
    assert delay.scaled(2500.0) == ("s", 1e-3)
    assert units.column("traffic", "jain").scaled(0.9) == ("", 1.0)
    assert goodput.scaled(0.0) == ("Mbit/s", 1e-6)


def test_a_sweep_says_what_was_swept(swept: Runs) -> None:
    page = report.page(swept)
    (changes,) = page.changes
    assert changes.headings == ["swept", "values"]
    assert changes.rows == [["dumbbell.flows", "2, 10"], ["dumbbell.marker", "token-bucket, pam"]]
    assert page.answer.headings[:3] == ["flows", "marker", "class"]
    assert [row.names[:2] for row in page.answer.rows] == [list(p.labels.values()) for p in swept.points]


def test_runs_side_by_side_say_what_differs(tmp_path: Path) -> None:
    for name, flows in (("a", 4), ("b", 8)):
        Scenario.from_toml(SCENARIO, {"dumbbell.flows": flows}).run(1, out=tmp_path / name)
    from perhop.results import opened

    (changes,) = report.page(opened([tmp_path / "a", tmp_path / "b"])).changes
    assert changes.headings[0] == "differs"
    assert any(row[1:] == ["4", "8"] for row in changes.rows), changes.rows


def test_what_differs_is_folded_after_five_rows(tmp_path: Path) -> None:
    from perhop.results import opened

    Scenario.from_toml(SCENARIO).run(1, out=tmp_path / "a")
    Scenario.from_toml(ROOT / "examples" / "af-queue.toml", SHORT).run(1, out=tmp_path / "b")
    runs = opened([tmp_path / "a", tmp_path / "b"])
    (changes,) = report.page(runs).changes
    assert len(changes.rows) > 20
    listed, answered = report.html(runs).split('<div class="scroll answer">')[0], changes.rows
    open_, folded = listed.split("<details>")
    assert f"<summary>{len(answered) - 5} more</summary>" in folded
    assert (open_.count('<th scope="row"'), folded.count('<th scope="row"')) == (15, 3 * (len(answered) - 5))


def test_the_picture_of_a_long_sweep_comes_before_its_table(swept: Runs, tutorial: Runs) -> None:
    flows = {"dumbbell.flows": list(range(1, 14))}
    long = Scenario.from_toml(SCENARIO, {"scenario.duration": "2s"}).sweep(flows, replications=1)
    for runs, before in ((long, "svg"), (swept, "table"), (tutorial, "table")):
        page = report.html(runs).split('id="answer"')[1]
        places = {"svg": page.index("<svg"), "table": page.index('class="scroll answer"')}
        assert min(places, key=lambda name: places[name]) == before, runs.name
        assert page.count('class="first"') == 1


def test_overrides_are_shown_with_old_and_new_values(
    tmp_path: Path, scenario_file: Path, perhop: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["--vary", "queue.rio.limit=40p,60p", "-s", "queue.rio.in.max-p=0.05", "--replications", 1]
    assert perhop("sweep", scenario_file, *arguments, "--out", "runs").returncode == 0
    swept, changed = report.page(Runs.open("runs/small")).changes
    assert swept.rows == [["queue.rio.limit", "40p, 60p"]]
    assert changed.headings == ["changed", f"in {scenario_file}", "in this run"]
    assert ["queue.rio.profiles.green.max-p", "0.02", "0.05"] in changed.rows or any(
        row[1:] == ["0.02", "0.05"] for row in changed.rows
    ), changed.rows
    assert ["scenario.replications", "3", "1"] in changed.rows
    scenario_file.unlink()
    _, listed = report.page(Runs.open("runs/small")).changes
    assert listed.headings == ["set", "value"]
    assert ["queue.rio.in.max-p", "0.05"] in listed.rows


def test_the_report_shows_the_means(runs: Runs) -> None:
    expected = runs.means("traffic", "goodput_bit_s")[()]
    goodput = units.column("traffic", "goodput_bit_s")
    mean, half = str(expected.scaled(goodput.scaled(expected.mean).factor)).split(" ")
    assert f'{mean} <span class="half">{half}</span>' in report.html(runs)


def test_names_are_escaped_in_the_report(runs: Runs) -> None:
    page = report.html(replace(runs, name="a <b> & c \x1b[2J \u202e"))
    assert "a &lt;b&gt; &amp; c \\x1b[2J \\u202e" in page
    assert "<b>" not in page
    assert "\x1b" not in page


def test_dark_pages_have_dark_pictures(tutorial: Runs) -> None:
    page = report.html(tutorial)
    assert page.count("prefers-color-scheme") >= 2
    used = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", page))
    for source in sorted((ROOT / "python" / "perhop_studies").rglob("*.py")):
        used |= set(re.findall(r'"(#[0-9a-f]{6})"', source.read_text(encoding="utf-8")))
    unclear = {colour for colour in used if _luminance(colour) < 0.15}
    assert unclear <= dark.COLOURS.keys(), "every colour that is dark on white has a light variant"
    assert all(_luminance(dark.COLOURS[colour]) > 0.2 for colour in unclear)
    assert re.search(r"dark\)\{svg\{fill:#f2f4f6\}", page), "what has no colour is black"


def _luminance(colour: str) -> float:
    """Relative luminance, WCAG 2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def chromium(page: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """The page's elements after it was shown, and what the browser said."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("chromium is not installed: apt install chromium")
    plain = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0"]
    profile = f"--user-data-dir={page.parent}/profile"
    command = [program, *plain, *flags, profile, "--dump-dom", page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=True, env=os.environ)


def test_the_report_in_a_browser(tmp_path: Path, perhop: Command) -> None:
    Scenario.from_toml(SCENARIO, SERIES).run(2, out=tmp_path)
    assert perhop("report", "small", "-o", "r.html").returncode == 0
    done = chromium(tmp_path / "r.html")
    assert done.stdout.count("<svg") == 1 + len(report.DETAILS)
    assert not re.search(r"CONSOLE|ERR_", done.stderr), done.stderr


@pytest.mark.parametrize("kind", ["one point", "a sweep"])
def test_nothing_is_wider_than_a_phone(tmp_path: Path, tutorial: Runs, swept: Runs, kind: str) -> None:
    page = report.html(tutorial if kind == "one point" else swept)
    frame = f'<iframe width="{PHONE}" height="800" style="border: 0" srcdoc="{escape(page)}"></iframe>'
    measure = """<script>onload = () => {
      const inner = document.querySelector('iframe').contentWindow, shown = inner.document;
      shown.querySelectorAll('details').forEach(d => d.open = true);
      document.title = [inner.innerWidth, shown.documentElement.scrollWidth].join(' ');
    }</script>"""
    path = tmp_path / "phone.html"
    path.write_text(f"<!doctype html><title></title>{frame}{measure}", encoding="utf-8")
    done = chromium(path, "--virtual-time-budget=20000")
    measured = re.search(r"<title>(\d+) (\d+)</title>", done.stdout)
    assert measured, done.stderr
    inner, wide = map(int, measured.groups())
    assert inner == PHONE
    assert wide <= inner


def test_the_first_table_has_the_loss_of_each_colour(af: Runs, tutorial: Runs) -> None:
    for runs in (af, tutorial):
        for answer in answers(runs):
            by_colour = runs.values("classes", "loss_percent", {"class": answer.name}, ["colour"], missing=float("nan"))
            known = {colour: measured.known(units.LOST, found) for (colour,), found in by_colour.items()}
            assert answer.losses == {of: lost for of, lost in known.items() if lost and of != "all"}
    table = first.table(af, answers(af))
    assert table.headings[table.names + 1 + table.lost] == "lost, %"
    near = answers(af)[0].losses
    assert table.rows[0].losses == ", ".join(f"{of} {first._digits(lost.mean)}" for of, lost in near.items())
    assert f'<span class="sub">{table.rows[0].losses}</span>' in report.html(af)
    assert [first._digits(value) for value in (0.0, 46.0, 0.0354, 100.0)] == ["0", "46.0", "0.0354", "100"]


def test_a_class_of_one_colour_has_one_loss() -> None:
    runs = Scenario.from_toml(ROOT / "examples" / "drop-tail.toml", SHORT).run(1)
    assert [row.losses for row in first.table(runs, answers(runs)).rows] == [""]
    assert "those of its colours" not in report.html(runs)


def test_a_backup_beside_a_call_leaves_delays_in_milliseconds(af: Runs) -> None:
    def heads(*delays: float) -> list[str]:
        exact = [Between(*[stats.Interval(ms, ms, ms, 3)] * 2) for ms in delays]
        table = first.table(af, [replace(answers(af)[0], p50=at, p99=at) for at in exact])
        return [head for head in table.headings if head.startswith("delay")]

    assert heads(17.0, 1900.0) == ["delay p50, ms", "delay p99, ms"]
    assert heads(450.0, 1900.0) == ["delay p50, s", "delay p99, s"]
    assert heads(0.3, 0.9) == ["delay p50, us", "delay p99, us"]
