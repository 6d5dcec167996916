#!/usr/bin/env bash
# The wheel by uvx and by pipx, which have to be on the PATH. usage: tests/installers.sh WHEEL
set -euo pipefail
home=$(cd "$(dirname "$0")/.." && pwd)
wheel=$(realpath "$1")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
export PIPX_HOME=$place/pipx PIPX_BIN_DIR=$place/bin UV_CACHE_DIR=$place/uv

# `check` ends with 1 if it has warnings.
finds() { "$@" check "$home/examples/branch.sh" >found || [ $? = 1 ]; grep -q '^warning\[W' found; }
finds uvx --from "$wheel" perhop
echo "uvx runs $(basename "$wheel")"
pipx install -q "$wheel"
finds "$place/bin/perhop"
"$place/bin/perhop" predict "$home/examples/branch.sh" --interface eth0 -o branch.svg >/dev/null
[ -s branch.svg ]
echo "pipx installs $(basename "$wheel")"
