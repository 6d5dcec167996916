"""Makes the site of the documentation: collects its pages, then calls Sphinx, for which every fault is an error.

usage: pages.py [FROM [TO]], by default this checkout and target/site; TO/pages is what Sphinx reads, TO/html the site.

docs/index.md is the first page and the one list: its sections are those of the navigation. A page is below another if
that one links to it and is its folder's index.md, or has its folder's name (diagnostics.md). A page of docs that is
below none is an orphan. Besides docs the site has the diagnostics' pages, which are beside the checks in crates, the
notebooks, and the project's pages, such as CHANGELOG.md.
Decision: docs/decisions/125-the-site-is-sphinx.md
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Repository"]

FIRST = PurePosixPath("index.md")
DIAGNOSTICS = "crates/**/[EWN][0-9][0-9][0-9].md"
PROJECT = ("*.md", "[!._]*/README.md", "tests/reference/*/README.md")
"""Pages outside docs."""

LINKS = re.compile(
    r"^ *(?P<fence>`{3,}|~{3,}).*?^ *(?P=fence) *$"  # a block of code
    r"|(?<!`)(?P<span>`+)(?!`)(?:(?!\n\n).)+?(?<!`)(?P=span)(?!`)"  # code in a line
    r"|\]\((?P<target>[^)\s]+)\)",
    re.MULTILINE | re.DOTALL,
)
"""The target of each link, and the code that is to be passed over."""
ANCHOR = re.compile(r'^<a id="([\w-]+)"></a>', re.MULTILINE)
DARK = re.compile(r"<style[^<]*prefers-color-scheme[^<]*</style>")
"""What makes a picture dark by itself; on a page of the site static/style.css does it, for those of every origin."""

Pages = dict[str, PurePosixPath]
"""The place in the site of each page, and of each folder that a page is the index of, by its path in the checkout."""


def collect(root: Path, out: Path) -> None:
    """Write all pages of a checkout below `out`."""
    shutil.rmtree(out, ignore_errors=True)
    pages = places(root)
    texts = {place: rewritten(text_of(root, path, out / place), path, root, pages) for path, place in sources(root)}
    texts |= {place: listed(place, texts) for place in pages.values() if place not in texts}
    taken: set[PurePosixPath] = {FIRST}
    texts[FIRST] = with_navigation(texts, taken)
    for place in sorted(texts, key=lambda place: (len(place.parts), place)):
        if place != FIRST:
            texts[place] += navigation("", below(place, texts[place], texts), place, taken)
    for place, text in texts.items():
        written(out / place).write_text(text, encoding="utf-8")
    for picture in root.glob("docs/**/*.svg"):
        light = DARK.sub("", picture.read_text(encoding="utf-8"))
        written(out / picture.relative_to(root / "docs")).write_text(light, encoding="utf-8")
    for picture in root.glob("docs/**/*.png"):
        shutil.copyfile(picture, written(out / picture.relative_to(root / "docs")))


def written(place: Path) -> Path:
    """A path whose folder exists."""
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


def sources(root: Path) -> Iterator[tuple[str, PurePosixPath]]:
    """Each page's path in the checkout, and its place in the site."""
    for path in sorted([*root.glob("docs/**/*.md"), *root.glob("docs/**/*.ipynb")]):
        yield path.relative_to(root).as_posix(), place_of(path.relative_to(root / "docs")).with_suffix(".md")
    for path in sorted(root.glob(DIAGNOSTICS)):
        yield path.relative_to(root).as_posix(), PurePosixPath("reference/diagnostics", path.name)
    for path in sorted(path for pattern in PROJECT for path in root.glob(pattern)):
        yield path.relative_to(root).as_posix(), "project" / place_of(path.relative_to(root))


def place_of(path: Path) -> PurePosixPath:
    """A path of this machine as one of the site."""
    return PurePosixPath(path.as_posix())


def places(root: Path) -> Pages:
    """Where pages go, and which page stands for a folder; folders of notebooks have none, and get one."""
    pages = dict(sources(root))
    folders = {str(PurePosixPath(path).parent) for path in pages if path.endswith(("/index.md", ".ipynb"))}
    return pages | {folder: PurePosixPath(folder).relative_to("docs") / "index.md" for folder in folders}


def text_of(root: Path, path: str, place: Path) -> str:
    """A page as Markdown; a notebook's pictures are written beside its place."""
    text = (root / path).read_text(encoding="utf-8")
    if path.endswith(".ipynb"):
        text = "\n\n".join(cells(json.loads(text), place))
        text += f"\n\nTo run it in Jupyter: [{path}]({REPOSITORY}/blob/main/{path}).\n"
    return ANCHOR.sub(r"(\1)=\n", text)


def cells(notebook: dict[str, Any], place: Path) -> Iterator[str]:
    """Each cell of a notebook, and what it shows, as it is recorded."""
    for number, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"])
        yield source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```"
        for output in cell.get("outputs", []):
            shown = output.get("data", {"text/plain": output.get("text")})
            data = {kind: "".join(text) for kind, text in shown.items()}
            if "image/png" in data:
                picture = written(place.with_name(f"{place.stem}-{number}.png"))
                picture.write_bytes(base64.b64decode(data["image/png"]))
                yield f"![What the code above draws]({picture.name})"
            elif "text/html" in data:
                table = re.sub(r"<style.*?</style>", "", data["text/html"], flags=re.DOTALL)
                table = re.sub(r"<table[^>]*>", '<table class="docutils">', table)
                yield "\n".join(line for line in table.splitlines() if line.strip())
            else:
                yield f"```text\n{data['text/plain'].rstrip()}\n```"


def rewritten(text: str, path: str, root: Path, pages: Pages) -> str:
    """A page whose links lead into the site, or to the repository; what does not exist stays, for Sphinx to report."""
    folder, here = root / PurePosixPath(path).parent, pages[path].parent

    def link(found: re.Match[str]) -> str:
        target = found["target"]
        if target is None or re.match(r"[a-z]+:|#", target):
            return found[0]
        name, _, part = target.partition("#")
        file = Path(os.path.normpath(folder / name))
        inside = file.relative_to(root).as_posix() if file.is_relative_to(root) else ""
        if inside in pages:
            return f"]({os.path.relpath(pages[inside], here)}{part and '#'}{part})"
        if file.suffix in (".svg", ".png") and inside.startswith("docs/"):
            return f"]({os.path.relpath(PurePosixPath(inside).relative_to('docs'), here)})"
        if inside and file.exists():
            return f"]({REPOSITORY}/{'tree' if file.is_dir() else 'blob'}/main/{inside}{part and '#'}{part})"
        return found[0]

    return LINKS.sub(link, text)


def title(text: str) -> str:
    """The first heading of a page."""
    return text.partition("\n")[0].lstrip("# ")


def listed(place: PurePosixPath, texts: dict[PurePosixPath, str]) -> str:
    """The page of a folder without one: a list of its pages."""
    inside = [f"- [{title(text)}]({other.name})\n" for other, text in texts.items() if other.parent == place.parent]
    return f"# {place.parent.name.capitalize()}\n\n{''.join(inside)}"


def below(place: PurePosixPath, text: str, texts: dict[PurePosixPath, str]) -> list[PurePosixPath]:
    """The pages that a page links to and is above of, in its order."""
    folder = place.parent if place.name == "index.md" else place.with_suffix("")
    targets = (found["target"] for found in LINKS.finditer(text) if found["target"])
    linked = (PurePosixPath(os.path.normpath(place.parent / target.partition("#")[0])) for target in targets)
    return [other for other in linked if other in texts and other.is_relative_to(folder)]


def with_navigation(texts: dict[PurePosixPath, str], taken: set[PurePosixPath]) -> str:
    """The first page, with a tree behind each section, and a section of the project's pages that it does not list."""
    parts = re.split(r"^(?=## )", texts[FIRST], flags=re.MULTILINE)
    for number, part in enumerate(parts[1:], 1):
        caption = title(part).partition(":")[0]
        parts[number] += navigation(caption, below(FIRST, part, texts), FIRST, taken)
    rest = [place for place in texts if place.parts[0] == "project" and place not in taken]
    links = "".join(f"- [{title(texts[place])}]({place}): `{place.relative_to('project')}`\n" for place in rest)
    return "".join(parts) + f"\n## Project: how perhop is made\n\n{links}" + navigation("Project", rest, FIRST, taken)


def navigation(caption: str, pages: list[PurePosixPath], of: PurePosixPath, taken: set[PurePosixPath]) -> str:
    """A tree of those pages that no other has, hidden, because the page has their links."""
    entries = [page for page in dict.fromkeys(pages) if page not in taken]
    taken.update(entries)
    lines = [f":caption: {caption}"] if caption else []
    lines += [":hidden:", "", *(os.path.relpath(entry, of.parent) for entry in entries)]
    return "\n".join(["\n```{toctree}", *lines, "```\n\n"]) if entries else ""


def main(root: Path = ROOT, out: Path = ROOT / "target/site") -> int:
    """Collect the pages and build the site from nothing: what Sphinx keeps from before has no faults to report."""
    collect(root.resolve(), out / "pages")
    for left in ("html", "doctrees"):
        shutil.rmtree(out / left, ignore_errors=True)
    strict = ["-q", "-W", "--keep-going", "-j", "auto"]
    folders = ["-c", str(Path(__file__).parent), "-d", str(out / "doctrees"), str(out / "pages"), str(out / "html")]
    return subprocess.run([sys.executable, "-m", "sphinx", *strict, *folders], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
