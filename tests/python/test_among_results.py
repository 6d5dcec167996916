"""What else lies among results and where pages go: links in circles, pipes, full devices, names that are not UTF-8."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from conftest import SCENARIO, Command
from perhop import Runs, Scenario, ScenarioError, files, report

SHORT = SCENARIO.replace('"6s"', '"2s"')
BYTES = os.fsdecode(b"o\xff")
"""A name that is not UTF-8."""


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Results of a file, which is there."""
    (tmp_path / "small.toml").write_text(SHORT)
    Scenario.from_toml(tmp_path / "small.toml").run(1, out=tmp_path / "runs")
    return tmp_path / "runs"


def _one_error(perhop: Command, *words: str) -> str:
    """What a verb says that ends with one error and its help."""
    done = perhop(*words)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("error") == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("loop", "Too many levels of symbolic links"),
        ("/dev/full", "No space left on device"),
        ("directory", "Is a directory"),
        ("file/x", "Not a directory"),
        ("gone/x", "No such file or directory"),
        ("x" * 300, "File name too long"),
    ],
)
def test_what_cannot_be_written_is_one_error(made: Path, perhop: Command, place: str, why: str) -> None:
    (made.parent / "file").write_text("mine")
    for ending in (".html", ".svg", ".png"):
        (made.parent / f"loop{ending}").symlink_to(f"loop{ending}")
        (made.parent / f"directory{ending}").mkdir()
        (made.parent / f"full{ending}").symlink_to("/dev/full")
    verbs = [
        (["report", "runs"], ".html"),
        (["plot", "runs"], ".svg"),
        (["plot", "runs"], ".png"),
    ]
    before = sorted(made.parent.iterdir())
    for verb, ending in verbs:
        output = "full" + ending if place == "/dev/full" else place + ending
        said = _one_error(perhop, *verb, "-o", output)
        assert said.startswith(f"error[E020] cannot write {output}: {why}\n   help: "), said
    assert sorted(made.parent.iterdir()) == before


def test_an_error_of_writing_is_of_the_systems_class(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match=r"error\[E020\] cannot write .*loop: Too many levels") as raised:
        files.write(tmp_path / "loop", "page")
    assert raised.value.errno == errno.ELOOP
    with pytest.raises(IsADirectoryError):
        files.write(tmp_path, "page")
    with pytest.raises(NotADirectoryError, match="E020"):
        files.directory(Path("/dev/null/x"))


def test_links_in_circles_are_gone_through_once(made: Path, perhop: Command) -> None:
    for name, to in {"old.parquet": "/nowhere", "a": "..", "b": "..", "c": "c"}.items():
        (made / "small" / name).symlink_to(to)
    (made.parent / "x.html").write_text("")
    done = perhop("report", "runs/small", "-o", "x.html")
    assert (done.returncode, done.stdout, done.stderr) == (0, "x.html\n", "")
    done = perhop("plot", "runs/small/a/small/b", "-o", "x.svg")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_that_has_become_a_pipe_is_not_waited_for(made: Path, perhop: Command) -> None:
    """A manifest names the scenario's file, which a report reads again."""
    file = made.parent / "small.toml"
    file.unlink()
    os.mkfifo(file)
    assert perhop("report", "runs", "-o", "x.html").returncode == 0
    with pytest.raises(OSError, match="it is not a regular file"):
        files.regular(file)


def test_a_scenario_from_a_pipe_and_one_without_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(SHORT))
    writer.start()
    assert Scenario.from_toml(pipe).name == "small"
    writer.join()
    with pytest.raises(ScenarioError, match=r"error\[E007\] cannot read the file: it has more than 64 MiB"):
        Scenario.from_toml("/dev/zero")


def test_names_that_are_not_utf_8(tmp_path: Path, perhop: Command) -> None:
    scenario = Scenario.from_toml(SHORT)
    refusal = "error\\[E022\\] the path `.*o\N{REPLACEMENT CHARACTER}%s` is not UTF-8"
    with pytest.raises(ValueError, match=refusal % ""):
        scenario.run(1, out=tmp_path / BYTES)
    scenario.run(1, out=tmp_path / "plain", events=True)
    (tmp_path / "plain").rename(tmp_path / BYTES)
    run = Runs.open(tmp_path / BYTES)
    assert len(run) == 1
    with pytest.raises(ValueError, match=refusal % "/small/.*"):
        run.events()
    # one in a directory that is: its name is shown as far as it is text
    (point,) = (tmp_path / BYTES / "small").iterdir()
    (tmp_path / "runs").mkdir()
    point.rename(tmp_path / "runs" / BYTES)
    opened = Runs.open(tmp_path / "runs")
    assert opened.points[0].name == "o\N{REPLACEMENT CHARACTER}"
    report.report({"runs": [str(tmp_path / "runs")], "where": [], "output": str(tmp_path / "x.html")})
    for verb in (["report", BYTES], ["plot", BYTES], ["compare", BYTES, BYTES], ["report", "runs", "-o", BYTES]):
        assert _one_error(perhop, *verb).startswith("error[E022] the path `o\N{REPLACEMENT CHARACTER}` is not UTF-8")
    done = perhop("runs", "runs", "--json")
    assert (done.returncode, "o\N{REPLACEMENT CHARACTER}" in done.stdout) == (0, True)
