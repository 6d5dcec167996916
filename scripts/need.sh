#!/bin/sh
# One line for each tool that is missing, with the way to get it; exit 1 if any is.
# usage: need.sh PYTHON
python=${1:-python3}
missing=0
lack() { echo "perhop needs $1: $2" >&2; missing=1; }

command -v cargo >/dev/null || lack "cargo (Rust 1.91 or newer)" "install it from https://rustup.rs"
command -v cc >/dev/null || lack "a C compiler and linker (cc)" "Debian: apt install gcc libc6-dev; macOS: xcode-select --install"
if ! command -v "$python" >/dev/null; then
    lack "Python 3.11 or newer ($python is not there)" "Debian: apt install python3 python3-venv; or: make PYTHON=/path/to/python3"
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    lack "Python 3.11 or newer ($python is $("$python" -V 2>&1))" "name another one: make PYTHON=python3.12"
elif ! command -v uv >/dev/null && ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    lack "Python's venv module" "Debian: apt install python3-venv"
fi
exit $missing
