"""The worked examples of docs/guides: add-a-marker.md, add-an-aqm.md, add-a-law.md, add-a-model.md, applied to a copy.

Each is a patch of one new file and one line. Copy and build stay in target/add-a-marker, so that a second run builds
nothing. The build begins with what the repository's own has made of the dependencies. It must not share the directory:
cargo gives the crates of both the same file names, and would take the patched ones for those of the repository.
"""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATCHES = {
    "add-a-marker": ("crates/core/src/conditioner", "every_nth"),
    "add-an-aqm": ("crates/core/src/aqm", "sojourn"),
    "add-a-law": ("crates/sim/src/transport/congestion", "aimd"),
    "add-a-model": ("crates/sim/src/traffic", "frames"),
}
"""Each with the folder of its list and the new file."""
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
CRATES = [tomllib.loads(path.read_text())["package"]["name"] for path in sorted(ROOT.glob("crates/*/Cargo.toml"))]
COPY, BUILD = TARGET / "add-a-marker/source", TARGET / "add-a-marker/build"
QUICK = [word for name in CRATES for word in ("--config", f"profile.dev.package.{name}.opt-level=0")]
"""The patched programs run once, so they are not optimised, except for the dependencies copied from the repository."""
POLICY = '[conditioner.all]\nkind = "every-nth"\nn = 4\ngreen = "mark AF11"\nred = "mark AF13"\n'

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("cargo") is None, reason="Rust is not installed: https://rustup.rs"),
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is not a git checkout"),
]


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    environment = {**os.environ, "CARGO_TARGET_DIR": str(BUILD), "GIT_CEILING_DIRECTORIES": str(cwd.parent)}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def put(source: Path, target: Path) -> None:
    """Copies a file unless its like is there: cargo goes by the time of change."""
    if not target.exists() or target.read_bytes() != source.read_bytes():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


@pytest.fixture(scope="module")
def patched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository as it is now, with all patches."""
    stage = tmp_path_factory.mktemp("stage")
    for name in run("git", "ls-files", "--cached", "--others", "--exclude-standard").splitlines():
        if (ROOT / name).is_file():
            put(ROOT / name, stage / name)
    run("git", "apply", *(ROOT / f"docs/guides/{name}.patch" for name in PATCHES), cwd=stage)
    names = {path.relative_to(stage) for path in stage.rglob("*") if path.is_file()}
    for path in [p for p in COPY.rglob("*") if p.is_file() and p.relative_to(COPY) not in names]:
        path.unlink()
    for path in names:
        put(stage / path, COPY / path)
    return COPY


def lend_dependencies() -> None:
    """Copies the repository's build without its programs: only times and names matter to cargo."""
    if BUILD.exists() or not (TARGET / "debug").exists():
        return
    for part in (".fingerprint", "build", "deps"):
        wanted = ("*.rlib", "*.rmeta", "*.so", "*.d") if part == "deps" else ("*",)
        for path in (p for pattern in wanted for p in (TARGET / "debug" / part).rglob(pattern) if p.is_file()):
            target = BUILD / path.relative_to(TARGET)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)


@pytest.fixture(scope="module")
def built(patched: Path) -> dict[str, Path]:
    """The patched programs, by name: `perhop` and the writer of the docs."""
    lend_dependencies()
    command = ("cargo", "build", "-p", "perhop", "--bin", "perhop", "--example", "docs", "--message-format", "json")
    messages = [json.loads(line) for line in run(*command, *QUICK, cwd=patched).splitlines()]
    return {m["target"]["name"]: Path(m["executable"]) for m in messages if m.get("executable")}


@pytest.mark.parametrize("name", PATCHES)
def test_the_patch_is_one_file_and_one_line(name: str) -> None:
    patch, (folder, new) = ROOT / f"docs/guides/{name}.patch", PATCHES[name]
    changes = [line.split("\t") for line in run("git", "apply", "--numstat", patch).splitlines()]
    changed = {name: (int(added), int(removed)) for added, removed, name in changes}
    assert set(changed) == {f"{folder}/{new}.rs", f"{folder}/mod.rs"}
    assert changed[f"{folder}/mod.rs"] == (2, 0), "the line and its comment"
    assert patch.read_text().count("new file mode") == 1
    run("git", "apply", "--check", patch, cwd=ROOT)


@pytest.mark.parametrize("name", PATCHES)
def test_the_page_shows_code_of_the_patch(name: str) -> None:
    """Word for word; the head's equation and table, in brackets, are not in full."""
    guide = ROOT / "docs/guides" / name
    added = [line[1:] for line in guide.with_suffix(".patch").read_text().splitlines() if line.startswith("+")]
    shown = re.findall(r"^```rust\n(.*?)^```", guide.with_suffix(".md").read_text(), re.MULTILINE | re.DOTALL)
    lines = {line.strip() for line in added}
    missing = [line for block in shown for line in block.splitlines() if line.strip() not in lines]
    assert [line for line in missing if line and not line.startswith("//! (")] == []


def test_the_tests_in_the_patches_pass(built: dict[str, Path], patched: Path) -> None:
    assert built
    new = [new for _, new in PATCHES.values()]
    done = run("cargo", "test", "-p", "perhop-core", "-p", "perhop-sim", "--lib", *QUICK, "--", *new, cwd=patched)
    assert done.count("2 passed") == 2


def test_it_is_listed(built: dict[str, Path]) -> None:
    assert "every-nth       One packet in n is green." in run(built["perhop"], "list")
    page = run(built["perhop"], "list", "every-nth")
    assert "RFC 5475" in page
    assert "One packet in n is green. (a whole number; default 10)" in page
    assert "AIMD(1, 1/2)" in run(built["perhop"], "list", "aimd")
    assert "every T a frame of N packets" in run(built["perhop"], "list", "frames")


def test_check_knows_its_keys(built: dict[str, Path], tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY.replace("n = 4", "n = 0"))
    done = subprocess.run([built["perhop"], "check", policy], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "error[E201] `n` is 0" in done.stdout
    assert "above 0" in done.stdout


def test_it_runs(built: dict[str, Path], tmp_path: Path) -> None:
    marker = 'dumbbell.marker={ kind = "every-nth", n = 4 }'
    arguments = ("run", ROOT / "examples/dumbbell.toml", "-s", marker, "--out", tmp_path)
    printed = run(built["perhop"], *arguments)
    rates = {row.split()[4]: float(row.split()[5]) for row in printed.splitlines() if row.startswith("E1 -> E2")}
    # all packets but the three-way handshakes' have one size
    assert rates["green"] / (rates["green"] + rates["red"]) == pytest.approx(0.25, abs=0.001)


def test_the_aqm_runs(built: dict[str, Path], tmp_path: Path) -> None:
    """No packet that has waited longer than the bound leaves; waits are recorded to three digits."""
    queue = 'dumbbell.queue={ aqm = "sojourn", bound = "10ms", limit = "1000p" }'
    printed = run(built["perhop"], "run", ROOT / "examples/dumbbell.toml", "-s", queue, "--out", tmp_path)
    port = next(row for row in printed.splitlines() if row.startswith("E1 -> E2"))
    longest = float(port.split()[-2])
    assert 8.0 <= longest <= 10.0 * 1.001
    drops = dict(part.split() for part in printed.split("all ports and replications: ")[1].splitlines()[0].split(", "))
    assert int(drops["early"]) > 0
    assert (drops["forced"], drops["overflow"]) == ("0", "0")


def test_the_idea_of_two_minutes_is_the_same_in_rust(built: dict[str, Path], tmp_path: Path) -> None:
    """The threshold of docs/guides/an-idea-in-two-minutes.md: hashes of the results that its picture is made of."""
    guide = (ROOT / "docs/guides/an-idea-in-two-minutes.md").read_text()
    (tmp_path / "idea.toml").write_text(guide.split("```toml\n")[1].split("```")[0])
    rust = ("-s", 'queue.mine={ aqm = "sojourn", bound = "20ms", limit = "100p" }')
    hashes = []
    for name, more in {"formula": (), "rust": rust}.items():
        said = ("sweep", "idea.toml", "--name", name, "--vary", "dumbbell.flows=2,5,10,20", *more, "--json")
        lines = run(built["perhop"], *said, cwd=tmp_path).splitlines()
        hashes.append([json.loads(line).get("result_hash") for line in lines])
    assert hashes[0] == hashes[1]
    assert len(set(hashes[0]) - {None}) >= 4


LINK = '[scenario]\nduration = "20s"\nwarmup = "2s"\n[links]\n"a - b" = { rate = "5Mbit/s", delay = "10ms" }\n'
BULK = '[traffic.bulk]\nmodel = "ftp"\nfrom = "a"\nto = "b"\ntcp = "host"\n'
HOST = '[tcp.host]\nrecovery = "rack"\ncongestion = "aimd"\ndecrease = 0.25\nwindow = 60\nsegment = "1448B"\n'
FRAMES = '[traffic.video]\nmodel = "frames"\npackets = 10\nsize = "1000B"\nevery = "40ms"\nfrom = "a"\nto = "b"\n'


def answer(program: Path, *arguments: str | Path) -> tuple[int, str]:
    """Exit code and what is printed, errors included."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_law_and_model_run(built: dict[str, Path], tmp_path: Path) -> None:
    """The model offers 10 x 8 kbit every 40 ms, 2 Mbit/s, give or take a frame in 18 s; the law gets the rest."""
    file = tmp_path / "both.toml"
    file.write_text(LINK + FRAMES + BULK + HOST)
    assert answer(built["perhop"], "check", file) == (0, f"{file}: no errors, no warnings\n")
    printed = run(built["perhop"], "run", file, "--out", tmp_path / "runs")
    delivered = {row.split()[0]: float(row.split()[2]) for row in printed.splitlines() if " unmarked " in row}
    assert delivered["video"] == pytest.approx(2.0, abs=0.01)
    assert delivered["bulk"] == pytest.approx(5.0 - 2.0, abs=0.02)


def test_law_and_model_are_checked_and_explained(built: dict[str, Path], tmp_path: Path) -> None:
    """What checks, `explain` and translations say of them, they know from the file alone."""
    file = tmp_path / "both.toml"
    file.write_text(LINK + FRAMES + BULK + HOST)
    program = built["perhop"]
    assert "video: 1 x frames over UDP, packets of at most 1000B" in answer(program, "explain", file)[1]
    code, said = answer(program, "explain", "--as", "tc", file)
    assert (code, 'Linux 6.12 has no congestion law "aimd"' in said) == (2, True)
    file.write_text(LINK + FRAMES)
    code, said = answer(program, "explain", "--as", "tc", file)
    assert (code, "ip netns add n0" in said) == (0, True)
    file.write_text(LINK + FRAMES.replace('"40ms"', '"0s"') + BULK + HOST.replace("0.25", "0"))
    code, said = answer(program, "check", file)
    assert code == 2
    assert "error[E201] `every` is 0s" in said
    assert "error[E201] `decrease` is 0" in said


def test_it_marks_a_capture(built: dict[str, Path], tmp_path: Path) -> None:
    policy, marked = tmp_path / "policy.toml", tmp_path / "marked.pcap"
    policy.write_text(POLICY)
    capture = ROOT / "tests/captures/udp-ns.pcap"
    report = json.loads(run(built["perhop"], "mark", capture, "-o", marked, "--policy", policy, "--json"))
    packets = {row["after"]: row["packets"] for row in report["conditioners"][0]["colours"]}
    total = sum(packets.values())
    assert (packets["green"], packets["red"]) == (total // 4, total - total // 4)
    assert marked.stat().st_size == capture.stat().st_size
    assert marked.read_bytes() != capture.read_bytes()


def test_it_is_in_docs_and_schema(built: dict[str, Path], patched: Path) -> None:
    run(built["docs"], cwd=patched)
    page = (patched / "docs/reference/algorithms/every-nth.md").read_text()
    assert "# `every-nth`" in page
    assert "| `n` | One packet in n is green. | a whole number | `10` |" in page
    assert "[`every-nth`](every-nth.md)" in (patched / "docs/reference/algorithms/index.md").read_text()
    schema = json.loads((patched / "docs/reference/scenario.schema.json").read_text())
    kinds = [one["properties"]["kind"]["const"] for one in schema["$defs"]["conditioner"]["oneOf"]]
    assert "every-nth" in kinds
