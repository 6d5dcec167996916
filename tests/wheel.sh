#!/usr/bin/env bash
# The wheel in an empty environment elsewhere, without Rust: the README's first minute, mark, reproduce. An sdist is built there first.
# usage: tests/wheel.sh [WHEEL | SDIST]
set -euo pipefail
home=$(cd "$(dirname "$0")/.." && pwd)
wheel=$(realpath "${1:-$(ls -t "$home"/dist/perhop-*.whl | head -1)}")
python=${PYTHON:-python3}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"

"$python" -m venv venv
case $wheel in
*.whl) path=$place/venv/bin ;;
*) path=$PATH ;; # An sdist needs Rust.
esac
from=$SECONDS
# The oldest major of DuckDB that is allowed; `make test` has the newest.
PATH=$path "$place/venv/bin/python" -m pip install -q --disable-pip-version-check "$wheel" 'duckdb<2'
echo "installed in $((SECONDS - from)) s"
# Nothing but the environment's own programs is on the PATH: no Rust, no compiler.
alone() { env -i HOME="$place" PATH="$place/venv/bin" "$@"; }

data=$(alone python -c 'import perhop.files; print(perhop.files.data())')
alone perhop --version
ln -s "$data/examples" examples
alone python "$home/tests/first_minute.py"
alone perhop check "$data/examples/af-bottleneck.toml"
alone perhop run "$data/examples/af-bottleneck.toml" --replications 2 --duration 20s
alone perhop report runs/af-bottleneck
alone perhop mark "$home/tests/captures/tcp.pcap" -o out.pcap --policy "$data/examples/mark-af.toml"
{ alone perhop lab "$data/examples/dumbbell.toml" || true; } 2>&1 | grep -q "needs a checkout of perhop"
alone perhop reproduce pam-fsam --quick --out reproduction
ln -s "$home/tests" tests
alone python "$home/tests/python/walkthrough.py" "$home"/docs/guides/{an-idea-in-two-minutes,a-congestion-control-of-your-own,a-knob-in-your-hand}.md
# A package that offers an algorithm: the native program hands its files over.
site=$(alone python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
mkdir "$site/half-1.0.dist-info"
printf 'Metadata-Version: 2.1\nName: half\nVersion: 1.0\n' >"$site/half-1.0.dist-info/METADATA"
printf '[perhop.algorithms]\nhalf = half:Half\n' >"$site/half-1.0.dist-info/entry_points.txt"
cat >"$site/half.py" <<'END'
import perhop


class Half(perhop.Aqm):
    """Drops what finds `most` packets waiting."""

    def __init__(self, most: int = 10):
        self.most = most

    def on_arrival(self, at, packet, rng):
        return "drop" if at.backlog.packets >= self.most else "pass"
END
alone perhop run examples/dumbbell.toml -s 'dumbbell.queue={ aqm = "half", limit = "50p" }' --duration 10s 2>handed
grep -q '`half` is a Python class' handed
if alone perhop bench 2>/dev/null || [ -e venv/bin/perhop-bench ]; then
    echo "bench is for a checkout only" >&2; exit 1
fi
for file in report.html out.pcap reproduction/results.json reproduction/report.html; do
    [ -s "$file" ] || { echo "$file is missing" >&2; exit 1; }
done
echo "$(basename "$wheel") works"
