#!/usr/bin/env bash
# What a release publishes, made and tried: the crates, an sdist, and from it a wheel for every Linux with glibc 2.17 or newer.
# usage: tests/release.sh, with the tools of requirements-release.lock on the PATH
set -euo pipefail
cd "$(dirname "$0")/.."
glibc=2.17 # the oldest that Rust's standard library runs with

# In a place of its own each time: cargo keeps what it unpacks of crates by the place, and takes that of the last time for this one's.
mkdir -p target
place=$(mktemp -d -p target)
trap 'rm -rf "$place"' EXIT
cargo publish --workspace --dry-run --target-dir "$place"
rm -rf dist
python -m build --no-isolation -C glibc=$glibc --outdir dist
twine check --strict dist/*
# auditwheel looks at the extension module and at the program, maturin at the first alone.
audit=$(auditwheel show dist/*.whl | tr '\n' ' ')
[[ $audit == *"platform tag: \"manylinux_${glibc/./_}_$(uname -m)\""* ]] || { echo "$audit" >&2; exit 1; }

tests/wheel.sh dist/*.whl
tests/installers.sh dist/*.whl
if [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null; then
    tests/debian.sh dist/*.whl
else
    echo "not tried on Debian stable and oldstable: that needs root and debootstrap" >&2
fi
# Its code is that of the wheel: whether it builds does not depend on how fast the result is.
CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 tests/wheel.sh dist/*.tar.gz
echo "dist/ can be published"
