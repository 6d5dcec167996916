#!/usr/bin/env bash
# The wheel in an empty environment elsewhere, without Rust: run, mark, reproduce. usage: tests/wheel.sh [WHEEL]
set -euo pipefail
home=$(cd "$(dirname "$0")/.." && pwd)
wheel=$(realpath "${1:-$(ls -t "$home"/dist/perhop-*.whl | head -1)}")
python=${PYTHON:-python3}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"

"$python" -m venv venv
# The oldest major of DuckDB that is allowed; `make test` has the newest.
venv/bin/python -m pip install -q --disable-pip-version-check "$wheel" 'duckdb<2'
mkdir bin
for tool in sh env dirname uname; do ln -s "$(command -v "$tool")" bin/; done
export PATH="$place/venv/bin:$place/bin"
if command -v cargo || command -v rustc; then
    echo "Rust is on the PATH: this would prove nothing" >&2
    exit 1
fi

data=$(python -c 'import perhop.files; print(perhop.files.data())')
perhop --version
perhop check "$data/examples/af-bottleneck.toml"
perhop run "$data/examples/af-bottleneck.toml" --replications 2 --duration 20s
perhop report runs/af-bottleneck
perhop mark "$home/tests/captures/tcp.pcap" out.pcap --policy "$data/examples/mark-af.toml"
perhop reproduce pam-fsam --quick --out reproduction
for file in report.html out.pcap reproduction/results.json reproduction/report.html; do
    [ -s "$file" ] || { echo "$file is missing" >&2; exit 1; }
done
echo "the wheel works: $(basename "$wheel")"
