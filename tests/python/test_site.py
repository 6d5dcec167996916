"""The site of the documentation, as `make site` leaves it: each page near, no link broken, nothing from elsewhere.

Decision: docs/decisions/125-the-site-is-sphinx.md
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from matplotlib import image

from conftest import ROOT
from waits import WAIT_S

SITE = ROOT / "target/site/html"
FIRST = SITE / "index.html"
MAKER = ROOT / "site/pages.py"
CODES = sorted(path.stem for path in ROOT.glob("crates/**/[EWN][0-9][0-9][0-9].md"))
LINK = re.compile(r'<a\b[^>]*\shref="([^"]*)"')
FETCHED = re.compile(r'<(?:script|link|img|iframe|source|object|embed)\b[^>]*\s(?:src|href|srcset|data)="([^"]*)"')
PAGES_OWN = "search.html", "genindex.html", "404.html"
"""Pages that no text leads to."""


@pytest.fixture(scope="module")
def pages() -> dict[Path, str]:
    """The built pages, if they are those of this checkout's texts."""
    if not FIRST.exists():
        pytest.skip("the site is not built: make site")
    built = FIRST.stat().st_mtime
    sources = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "site").rglob("*.*"), *ROOT.glob("crates/**/[EWN]*.md")]
    newer = [path for path in sources if path.stat().st_mtime > built and path.suffix != ".pyc"]
    if newer:
        pytest.skip(f"the site is older than {newer[0].relative_to(ROOT)}: make site")
    return {path: path.read_text(encoding="utf-8") for path in sorted(SITE.rglob("*.html"))}


def content(page: str) -> str:
    """What is a page's own, without navigation."""
    return page[page.index("<article") : page.index("</article>")]


def followed(page: Path, link: str) -> tuple[Path, str] | None:
    """The file that a link leads to, and the place in it; none for one that leaves the site."""
    if re.match(r"[a-z]+:|//", link):
        return None
    name, _, part = unescape(link).partition("#")
    return (page.parent / name.partition("?")[0]).resolve() if name else page, part


def test_every_page_is_within_two_clicks_of_the_first(pages: dict[Path, str]) -> None:
    reached, ahead = {FIRST}, {FIRST}
    for _ in range(2):
        found = {to[0] for page in ahead for link in LINK.findall(content(pages[page])) if (to := followed(page, link))}
        ahead = found & pages.keys() - reached
        reached |= ahead
    assert [page.relative_to(SITE).as_posix() for page in pages.keys() - reached if page.name not in PAGES_OWN] == []


def test_no_link_is_broken(pages: dict[Path, str]) -> None:
    places = {page: set(re.findall(r'\sid="([^"]+)"', text)) for page, text in pages.items()}
    broken = []
    for page, text in pages.items():
        for link in {*LINK.findall(text), *FETCHED.findall(text)}:
            to = followed(page, link)
            if to is not None and not (to[0].exists() and (not to[1] or to[1] in places[to[0]])):
                broken.append(f"{page.relative_to(SITE)}: {link}")
    assert broken == []


def test_nothing_is_fetched_from_elsewhere(pages: dict[Path, str]) -> None:
    away = re.compile(r"^(?:[a-z]+:)?//")
    fetched = {link: page.name for page, text in pages.items() for link in FETCHED.findall(text)}
    assert {link: page for link, page in fetched.items() if away.match(link)} == {}
    named = re.compile(r"url\(\s*[\"']?(?:https?:)?//|@import")
    assert [sheet.name for sheet in SITE.rglob("*.css") if named.search(sheet.read_text(encoding="utf-8"))] == []


def words(html: str) -> str:
    """The text of a page's content."""
    return unescape(re.sub(r"<[^>]+>", "", html))


def test_each_diagnostic_has_a_page_with_its_title_and_parts(pages: dict[Path, str]) -> None:
    assert len(CODES) > 200
    for code in CODES:
        source = next(ROOT.glob(f"crates/**/{code}.md")).read_text(encoding="utf-8")
        page = words(content(pages[SITE / f"reference/diagnostics/{code}.html"]))
        assert source.splitlines()[0].removeprefix("# ").replace("`", "") in page
        parts = re.findall(r"^## (.*)", source, re.MULTILINE)
        assert {"Example", "Fix"} <= set(parts)
        assert [part for part in parts if part not in page] == []


def test_the_index_of_words_has_each_code(pages: dict[Path, str]) -> None:
    text = (SITE / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    found = {code: index["titleterms"].get(code.lower(), []) for code in CODES}
    places = {code: [index["docnames"][n] for n in ([at] if isinstance(at, int) else at)] for code, at in found.items()}
    assert pages
    assert [code for code, names in places.items() if f"reference/diagnostics/{code}" not in names] == []


def chromium(*words: str, folder: Path) -> str:
    """What the browser prints. It knows no name of another machine, so that a request to one fails and is said."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("chromium is not installed: apt install chromium")
    calm = ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    plain = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile", *calm]
    command = [program, *plain, "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=20000", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=True, env=os.environ)
    return done.stdout


def opened(address: str, folder: Path) -> tuple[str, set[str]]:
    """A page's elements once its scripts have run, and what it asked the network for; the browser itself asks, too."""
    log = folder / "net.json"
    shown = chromium("--dump-dom", f"--log-net-log={log}", address, folder=folder)
    events = (event.get("params", {}) for event in json.loads(log.read_text(encoding="utf-8"))["events"])
    return shown, {of["url"] for of in events if of.get("initiator", "not an origin") != "not an origin"}


def test_what_a_page_asks_the_network_for_is_seen(tmp_path: Path) -> None:
    away = "https://elsewhere.example/a.js"
    (tmp_path / "page.html").write_text(f'<script src="{away}"></script>', encoding="utf-8")
    assert opened((tmp_path / "page.html").as_uri(), tmp_path)[1] == {away}


@pytest.mark.parametrize("typed", ["W301", "e001", " E310 "])
def test_a_code_that_is_typed_finds_its_page(pages: dict[Path, str], tmp_path: Path, typed: str) -> None:
    box = re.search(r"<form[^>]*>.*?</form>", pages[FIRST], re.DOTALL)
    assert box
    assert 'method="get" action="search.html"' in box[0]
    assert 'name="q"' in box[0]
    shown, asked = opened(f"{SITE.as_uri()}/search.html?{urlencode({'q': typed})}", tmp_path)
    results = LINK.findall(shown[shown.index('id="search-results"') :])
    assert results[:1] == [f"reference/diagnostics/{typed.strip().upper()}.html"]
    assert asked == set()


@pytest.mark.parametrize("name", ["index.html", "reference/diagnostics/W301.html"])
def test_a_page_asks_the_network_for_nothing(pages: dict[Path, str], tmp_path: Path, name: str) -> None:
    shown, asked = opened((SITE / name).as_uri(), tmp_path)
    assert re.findall(r"<title>(.*?)</title>", shown) == re.findall(r"<title>(.*?)</title>", pages[SITE / name])
    assert asked == set()


@pytest.mark.parametrize("kind", [".svg", ".png"])
@pytest.mark.parametrize(
    ("page_and_system", "dark"),
    [("auto light", False), ("auto dark", True), ("dark light", True), ("light dark", False)],
)
def test_pictures_follow_the_page(
    pages: dict[Path, str], tmp_path: Path, kind: str, page_and_system: str, dark: bool
) -> None:
    chosen, system = page_and_system.split()
    tags = ((page, tag) for page, text in pages.items() for tag in re.findall("<img [^>]*>", content(text)))
    page, picture = next((page, tag) for page, tag in tags if kind in tag)
    text = pages[page].replace(content(pages[page]), f'<article style="position: fixed; inset: 0">{picture}')
    assert '|| "auto"' in text
    text = text.replace("<head>", f'<head><base href="{page.as_uri()}">').replace('|| "auto"', f'&& "" || "{chosen}"')
    alone, shot = tmp_path / "page.html", tmp_path / "shot.png"
    alone.write_text(text, encoding="utf-8")
    mode = f"--blink-settings=preferredColorScheme={int(system == 'light')}"
    chromium(mode, "--window-size=700,500", f"--screenshot={shot}", alone.as_uri(), folder=tmp_path)
    middle = image.imread(shot)[20:200, 20:500, :3]
    assert (float(np.median(middle)) < 0.2) == dark
    assert float(middle.std()) > 0.02, "the picture is there"


def test_no_picture_turns_dark_a_second_time(pages: dict[Path, str]) -> None:
    pictures = [*SITE.rglob("_images/*.svg")]
    assert pages
    assert len(pictures) > 10
    assert [path.name for path in pictures if "prefers-color-scheme" in path.read_text(encoding="utf-8")] == []


SMALL = {
    "docs/index.md": "# First\n\n## Guides: do it\n\n[One](guides/one.md), [all](guides/all/index.md)\n\n"
    "## Reference\n\n[Diagnostics](reference/diagnostics.md)\n",
    "docs/guides/one.md": "# One\n\n![lines](lines.svg) [a file](../../examples/a.toml), [words](#words)\n\n## Words\n",
    "docs/guides/lines.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
    "docs/guides/all/index.md": "# All\n\n[Two](two.md)\n",
    "docs/guides/all/two.md": "# Two\n\n[There](../one.md#words), [changes](../../../CHANGELOG.md)\n",
    "docs/reference/diagnostics.md": "# Diagnostics\n\n[E001](../../crates/a/E001.md)\n",
    "crates/a/E001.md": "# E001: no file\n\n```toml\n=\n```\n\n```console\n$ cat [x](gone.md)\n```\n",
    "CHANGELOG.md": "# Changes\n\n[First](docs/index.md)\n",
    "examples/a.toml": "",
}
"""A small documentation without a fault."""


@pytest.mark.parametrize(
    ("path", "more", "said"),
    [
        ("docs/guides/one.md", "", ""),
        ("docs/guides/one.md", "[gone](gone.md)", "gone.md"),
        ("docs/guides/one.md", "[gone](#gone)", "gone"),
        ("docs/guides/one.md", "[gone](all/two.md#gone)", "gone"),
        ("docs/guides/one.md", "[gone](../../examples/gone.toml)", "gone.toml"),
        ("docs/guides/one.md", "![gone](gone.svg)", "gone.svg"),
        ("crates/a/E001.md", "[gone](../b/E002.md)", "E002.md"),
        ("CHANGELOG.md", "[gone](docs/gone.md)", "docs/gone.md"),
        ("docs/guides/orphan.md", "# Nothing leads here", "orphan.md"),
        ("docs/guides/all/orphan.md", "# Nothing leads here", "orphan.md"),
    ],
)
def test_a_broken_link_or_an_orphan_fails_the_build(tmp_path: Path, path: str, more: str, said: str) -> None:
    if importlib.util.find_spec("furo") is None:
        pytest.skip("the site's tools are not installed: make site")
    for name, text in SMALL.items():
        file = tmp_path / "from" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    with (tmp_path / "from" / path).open("a", encoding="utf-8") as opened:
        opened.write(f"\n{more}\n")
    command = [sys.executable, str(MAKER), str(tmp_path / "from"), str(tmp_path / "to")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert bool(done.returncode) == bool(said), done.stderr
    warnings = [line for line in done.stderr.splitlines() if "WARNING" in line]
    assert len(warnings) == bool(said), done.stderr
    assert said in "".join(warnings)
