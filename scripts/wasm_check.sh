#!/usr/bin/env bash
# `cargo check` for browsers, wasm32-unknown-unknown, of the crates that need no disk, thread or clock.
# Prints "not run" and a reason where there is no compiler for that target (scripts/wasm_toolchain.sh).
set -euo pipefail
cd "$(dirname "$0")/.."

# Each by itself, with the features that it has in a browser.
CHECKED=(
    "perhop-core"
    "perhop-sim"
    "perhop-edge"
    "perhop-capture"
    "perhop-scenario --no-default-features"
    "perhop-results"
    "perhop-config"
    "perhop-app"
)

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
for package in "${CHECKED[@]}"; do
    # shellcheck disable=SC2086
    cargo check --locked --quiet -Zbuild-std=std,panic_abort --target wasm32-unknown-unknown --target-dir target/wasm -p $package
    echo "$package: checked for wasm32-unknown-unknown"
done
