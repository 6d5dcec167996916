#!/bin/sh
# Builds user-mode Linux with virtual time, once: about 8 minutes on two cores. Prints the path of the kernel.
# Where it cannot be built it says why in one line and exits with 3.
set -eu
. "$(dirname "$0")/where.sh"
if [ -x "$kernel" ]; then echo "$kernel"; exit; fi

why=$(lacking make gcc flex bison bc xz sha256sum)
[ -n "$why" ] || [ -f "$archive" ] || why="$archive is missing (Debian: apt install $packages)"
[ -z "$why" ] || { echo "lab: $why" >&2; exit 3; }

place=$(dirname "$kernel")
mkdir -p "$place"
log=$place/build.log
echo "lab: building Linux $version in $place; its log is build.log there" >&2
failed() { echo "lab: the kernel's build failed; the end of $log:" >&2; tail -5 "$log" >&2; }
trap failed EXIT
{
    cd "$place"
    tar xf "$archive"
    cd "linux-source-$version"
    "$lab/edits.sh"
    make -s ARCH=um defconfig
    scripts/kconfig/merge_config.sh -m .config "$lab/kernel.config"
    make -s ARCH=um olddefconfig
    make -s ARCH=um -j"$(nproc)" linux
    make -s ARCH=um kernelrelease >../release
    cp linux ../linux.part
    cd ..
    rm -rf "linux-source-$version"
    mv linux.part linux
} >"$log" 2>&1
trap - EXIT
echo "$kernel"
