#!/usr/bin/env bash
# `cargo check` for browsers, wasm32-unknown-unknown, of the crates that need no disk, thread or clock.
# Prints "not run" and a reason where there is no compiler for that target (scripts/wasm_toolchain.sh).
set -euo pipefail
cd "$(dirname "$0")/.."

# What a page is made of; the verbs need each of them, with the features that it has in a browser.
CHECKED=(perhop-{app,capture,config,core,edge,results,scenario,sim})

tools=$(scripts/wasm_toolchain.sh) || case $? in
3)
    echo "not run: wasm-check, because $tools"
    exit 0
    ;;
*) exit 1 ;;
esac

libraries=$(printf '%s:' "$tools"/usr/lib/*-linux-gnu* "$tools"/usr/lib/llvm-*/lib)
export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:-}"
export RUSTC="$tools/usr/bin/rustc" RUSTC_BOOTSTRAP=1 RUSTFLAGS="-D warnings"
browser=(--locked --target wasm32-unknown-unknown -p perhop-app)
cargo check --quiet -Zbuild-std=std,panic_abort --target-dir target/wasm "${browser[@]}"
needed=$(cargo tree "${browser[@]}" -e normal --prefix none --no-dedupe | cut -d' ' -f1 | sort -u)
for package in "${CHECKED[@]}"; do
    grep -qx "$package" <<<"$needed" || { echo "wasm-check: the verbs do not need $package in a browser any more" >&2; exit 1; }
    echo "$package: checked for wasm32-unknown-unknown"
done
