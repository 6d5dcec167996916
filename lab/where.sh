# Sourced by build.sh and run: what is built, and where it is kept. A kernel is named by its version and a hash of its configuration
# and of the edits of its source. With KERNEL_MORE=1 it is the one that has kernel-more.config, too, beside the first.
lab=$(cd "$(dirname "$0")" && pwd)
version=6.12
archive=/usr/src/linux-source-$version.tar.xz
more=${KERNEL_MORE:+$lab/kernel-more.config}
key=$(cat "$lab/kernel.config" ${more:+"$more"} "$lab/edits.sh" | sha256sum | cut -c1-12)
cache=${PERHOP_LAB:-${XDG_CACHE_HOME:-$HOME/.cache}/perhop/lab}
kernel=$cache/$version-$key/linux

packages="linux-source-$version make gcc flex bison bc xz-utils iproute2 ethtool busybox-static util-linux"

# Why the lab cannot run on this machine; nothing if it can.
lacking() {
    case $(uname -sm) in "Linux x86_64") ;; *) echo "user-mode Linux needs Linux on x86-64, this is $(uname -sm)"; return ;; esac
    for tool in ip tc ethtool busybox taskset timeout "$@"; do
        command -v "$tool" >/dev/null || { echo "$tool is missing (Debian: apt install $packages)"; return; }
    done
    [ -x /usr/bin/python3 ] || echo "/usr/bin/python3 is missing (Debian: apt install python3)"
}
