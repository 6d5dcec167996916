#!/usr/bin/env bash
# The wheel on Debian's stable and oldstable: new systems by debootstrap that have Python and its venv, no compiler and no Rust. In an
# empty environment there pip installs the wheel, which then runs the README's first commands.
# usage, as root: tests/debian.sh WHEEL [SUITE..]
set -euo pipefail
home=$(cd "$(dirname "$0")/.." && pwd)
wheel=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- stable oldstable
place=$(mktemp -d)
trap 'umount "$place"/*/proc 2>/dev/null || true; rm -rf --one-file-system "$place"' EXIT

for suite; do
    root=$place/$suite
    debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates "$suite" "$root" >"$place/log" ||
        { tail -20 "$place/log" >&2; exit 1; }
    # The way to the packages is this machine's.
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
    mount -t proc proc "$root/proc"
    mkdir -p "$root/perhop/tests/python"
    cp "$wheel" "$home/README.md" "$root/perhop"
    cp "$home/tests/first_minute.py" "$root/perhop/tests"
    cp "$home/tests/python/walkthrough.py" "$root/perhop/tests/python"
    chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/bin:/bin PIP_CERT=/etc/ssl/certs/ca-certificates.crt /bin/sh -ec '
        . /etc/os-release
        ! command -v cc cargo
        echo "$PRETTY_NAME, $(python3 -V), $(ldd --version | head -1)"
        cd /perhop && python3 tests/first_minute.py --wheel perhop-*.whl'
    umount "$root/proc"
    rm -rf --one-file-system "$root"
done
