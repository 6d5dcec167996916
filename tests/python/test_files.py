"""What Python writes: whole or not at all, in its place and with its rights, and over none of what it reads."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import perhop
from perhop import files, plot, report

EXAMPLE = files.data() / "examples" / "msvb.toml"


def test_a_link_stays_and_what_it_points_to_is_written(tmp_path: Path) -> None:
    old, link, dangling = tmp_path / "old", tmp_path / "link", tmp_path / "dangling"
    old.write_text("old")
    old.chmod(0o640)
    link.symlink_to("old")
    dangling.symlink_to("new")
    files.write(link, "new")
    files.write(dangling, "new")
    assert (old.read_text(), old.stat().st_mode & 0o777, link.is_symlink()) == ("new", 0o640, True)
    assert ((tmp_path / "new").read_text(), dangling.is_symlink()) == ("new", True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dangling", "link", "new", "old"]


def test_standard_output_is_written_on(tmp_path: Path) -> None:
    """Where it is a file, what is printed comes behind; in /proc no mistake can replace the name itself."""
    script = (
        "from perhop import files\nfrom pathlib import Path\n"
        "files.write(Path('/proc/self/fd/1'), 'page\\n')\nprint('done')"
    )
    with (tmp_path / "out").open("wb") as out:
        subprocess.run([sys.executable, "-c", script], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "page\ndone\n"
    assert {"/dev/stdout": 1, "/dev/fd/1": 1, "/dev/stderr": 2}.items() <= files.STREAMS.items()


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    """A limit on the size of a process's files takes the place of a full disk."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    (tmp_path / "old.svg").write_text("old")
    script = (
        "import sys\nfrom pathlib import Path\nfrom matplotlib.figure import Figure\n"
        "from perhop.plots import style\nstyle.save(Figure(), Path(sys.argv[1]))"
    )
    for name in ["old.svg", "new.svg", "new.png", "new.pdf"]:
        command = [sys.executable, "-c", script, str(tmp_path / name)]
        done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, check=False)
        assert done.returncode, done.stdout
        assert "File too large" in done.stderr, done.stderr
        assert [p.name for p in tmp_path.iterdir()] == ["old.svg"]
    assert (tmp_path / "old.svg").read_text() == "old"


def _aliases(file: Path, folder: Path, ending: str) -> list[Path]:
    """The file by other names: a symbolic link, a hard link."""
    links = [folder / f"symbolic{ending}", folder / f"hard{ending}"]
    links[0].symlink_to(file)
    os.link(file, links[1])
    return links


def test_what_was_tuned_is_not_drawn_over(tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.svg"
    scenario.write_text(EXAMPLE.read_text())
    tuned = perhop.tune("msvb", scenario)
    for path in [scenario, *_aliases(scenario, tmp_path, ".svg")]:
        with pytest.raises(ValueError, match=r"error\[E025\] .* is .*scenario\.svg, which is read"):
            tuned.plot(path)
    assert scenario.read_text() == EXAMPLE.read_text()


def test_what_a_page_or_a_plot_is_made_from_is_not_replaced(tmp_path: Path) -> None:
    text = (
        perhop.Scenario.build("small", duration="1s", warmup="100ms")
        .link("a - b", rate="1Mbit/s", delay="1ms")
        .traffic("one", model="cbr", rate="100kbit/s", size="100B", **{"from": "a", "to": "b"})
    )
    text.scenario().run(out=tmp_path, name="one")
    runs = tmp_path / "small"
    manifest = next(runs.rglob("manifest.json"))
    before = manifest.read_bytes()
    for output in [manifest, *_aliases(manifest, tmp_path, ".html")]:
        for place in [runs, runs / "one"]:
            with pytest.raises(ValueError, match=r"error\[E025\]"):
                report.report({"runs": [str(place)], "where": [], "output": str(output)})
    look = {"title": None, "width": None, "height": None, "log_y": False}
    drawn = {
        "runs": [str(runs)],
        "kind": None,
        "y": None,
        "x": None,
        "by": [],
        "where": [],
        "list": False,
    } | look
    for output in _aliases(manifest, tmp_path, ".svg"):
        with pytest.raises(ValueError, match=r"error\[E025\]"):
            plot.plot(drawn | {"output": str(output)})
    assert manifest.read_bytes() == before


#: Where files are opened for writing, and why that need not be whole.
WRITERS = {
    "python/perhop/files.py": "whole itself",
    "python/perhop_lab/verb.py": "a new directory, which --keep leaves",
}


def test_nothing_else_writes_a_file() -> None:
    """All of Python's files go through `whole`."""
    root = Path(__file__).parents[2]
    words = (".write_text(", ".write_bytes(", 'open("w', '"wb"', "to_csv(", "to_parquet(", "np.save")
    found = {
        str(path.relative_to(root))
        for folder in ("python/perhop", "python/perhop_lab")
        for path in (root / folder).rglob("*.py")
        if "data" not in path.parts and any(word in path.read_text(encoding="utf-8") for word in words)
    }
    assert found == set(WRITERS)


def test_a_file_of_another_kind_is_not_replaced(tmp_path: Path) -> None:
    """A page replaces a page; what is no file, and standard output, are written to."""
    other, page = tmp_path / "scenario.toml", tmp_path / "old.HTML"
    for path in (other, page):
        path.write_text("old")
    for path in (page, tmp_path / "new", Path("/dev/null"), Path("/dev/stdout")):
        files.keep_others(path, (".html",))
    with pytest.raises(ValueError, match=r"error\[E026\] .*scenario.toml exists"):
        files.keep_others(other, (".html",))
