#!/bin/sh
# Builds user-mode Linux with virtual time, once: about 8 minutes on two cores. Prints the path of the kernel; how far it is goes to
# standard error, a line each half minute. Where it cannot be built it says why in one line and exits with 3. KERNEL_MORE=1: see where.sh.
set -eu
. "$(dirname "$0")/where.sh"

# An edit has found its line: the source of another version may have none.
edited() { grep -q "$2" "$1" || { echo "edits.sh found nothing to edit in $1: \`$2\` is not there" >&2; exit 1; }; }

# What is built in the folder $2.
if [ "${1:-}" = --in ]; then
    cd "$2"
    tar xf "$archive"
    cd "linux-source-$version"
    "$lab/edits.sh"
    edited arch/um/Kconfig 'default 1000$'
    edited arch/um/include/linux/time-internal.h '^#define TIMER_MULTIPLIER 1$'
    edited arch/um/include/linux/time-internal.h '^#define TIMER_MIN_DELTA 1$'
    for line in 'static char whole' 'iov_base = whole;' 'iov_len = sizeof(whole);' '^#include <string.h>'; do
        edited arch/x86/um/os-Linux/registers.c "$line"
    done
    make -s ARCH=um defconfig
    scripts/kconfig/merge_config.sh -m .config "$lab/kernel.config" ${more:+"$more"}
    make -s ARCH=um olddefconfig
    make -s ARCH=um -j"$(nproc)" linux
    make -s ARCH=um kernelrelease >../release
    cp linux ..
    cd ..
    rm -rf "linux-source-$version"
    exit
fi

if [ -x "$kernel" ]; then echo "$kernel"; exit; fi
why=$(lacking make gcc flex bison bc xz sha256sum flock setsid)
[ -n "$why" ] || [ -f "$archive" ] || why="$archive is missing (Debian: apt install $packages)"
[ -z "$why" ] || { echo "lab: $why" >&2; exit 3; }

box= building=
end() {
    if [ -n "$building" ]; then kill -- "-$building" 2>/dev/null || :; wait "$building" 2>/dev/null || :; fi
    [ -z "$box" ] || rm -rf "$box"
}
trap end EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
# A wait that a signal cuts short.
patiently() { "$@" & wait $!; }

mkdir -p "$cache"
exec 9>"$cache/lock"
flock -n 9 || { echo "lab: waiting for another build of the kernel" >&2; patiently flock 9; }
if [ -x "$kernel" ]; then echo "$kernel"; exit; fi

box=$(mktemp -d "$cache/build.XXXXXX")
log=$cache/$version-$key.log
echo "lab: building Linux $version in $box, about 8 minutes on two cores; its log is $log" >&2
setsid "$lab/build.sh" --in "$box" >"$log" 2>&1 9>&- &
building=$!
seconds=0
while kill -0 "$building" 2>/dev/null; do
    patiently sleep 1 9>&-
    seconds=$((seconds + 1))
    [ $((seconds % 30)) -ne 0 ] || echo "lab: building for $seconds s: $(find "$box" -name '*.o' | wc -l) files compiled" >&2
done
status=0
wait "$building" || status=$?
building=
[ "$status" = 0 ] || { echo "lab: the kernel's build failed; the end of $log:" >&2; tail -5 "$log" >&2; exit 1; }
chmod 755 "$box"
rm -rf "${kernel%/*}"
mv "$box" "${kernel%/*}"
box=
echo "$kernel"
