#!/usr/bin/env bash
# Prints the folder of a Rust compiler for wasm32-unknown-unknown with the source of its standard library.
#
# It is Debian's compiler for browsers. Its package conflicts with rustup, so it is unpacked and not installed, once for each
# version. The names of the other packages follow from what `rustc-web` depends on.
#
# Ends with 3 and prints the reason where Debian has none.
set -euo pipefail
cd "$(dirname "$0")/.."

none() {
    echo "$*"
    exit 3
}

depends() { # PACKAGE BEGINNING: the first of its dependencies that begins so
    apt-cache depends "$1" | sed -n "s/^ *Depends: \($2.*\)/\1/p" | head -1
}

unpack() { # FOLDER
    local std library llvm source
    std=$(depends rustc-web libstd-)
    library=$(depends "$std" libstd-)
    llvm=$(depends "$library" libllvm)
    source=${std#libstd-}
    source=${source%-dev}-src
    mkdir -p "$(dirname "$1")"
    partial=$(mktemp -d "$1.XXXXXX")
    trap 'rm -rf "$partial"' EXIT
    (
        cd "$partial"
        apt-get download -q -o APT::Sandbox::User=root rustc-web "$std" "$library" "$llvm" "lld-${llvm#libllvm}" "$source"
        # Of the compiler's own source only the standard library is built.
        dpkg-deb --fsys-tarfile "$source"_*.deb | tar -x --wildcards './usr/lib' './usr/src/*/library'
        rm "$source"_*.deb
        for package in *.deb; do dpkg-deb -x "$package" .; done
        rm -- *.deb
        chmod 755 .
    ) >&2
    # Another may have been quicker.
    mv -T "$partial" "$1" 2>/dev/null || [ -d "$1" ]
}

command -v apt-get >/dev/null || none "there is no apt-get"
version=$(apt-cache policy rustc-web | sed -n 's/^ *Candidate: *//p')
[ "${version:-(none)}" != "(none)" ] || none "apt has no rustc-web"
oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
dpkg --compare-versions "$version" ge "$oldest" || none "apt's rustc-web $version is older than Rust $oldest"

folder="${XDG_CACHE_HOME:-$HOME/.cache}/perhop/wasm/$version"
[ -d "$folder" ] || unpack "$folder"
echo "$folder"
