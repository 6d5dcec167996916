#!/bin/sh
# Takes the newest versions that pyproject.toml allows and writes them to requirements.lock (what perhop runs and is built with), and
# what is installed beside those to requirements-dev.lock (tests), requirements-site.lock and requirements-release.lock.
# usage: lock.sh PYTHON [release]
set -e
python=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

# lock FILE MADE-FOR CONSTRAINTS PART..
lock() {
    file=$1 use=$2 constraints=$3
    shift 3
    "$python" -m venv --clear "$place"
    "$python" - "$@" > "$place/wanted" <<'END'
import sys, tomllib
pyproject = tomllib.load(open("pyproject.toml", "rb"))
project = pyproject["project"]
parts = {
    "dependencies": project["dependencies"], "build": pyproject["build-system"]["requires"], **project["optional-dependencies"]
}
print(*(it for part in sys.argv[1:] for it in parts[part] if it != "perhop[cluster]"), sep="\n")
END
    "$place/bin/python" -m pip install -q --disable-pip-version-check -r "$place/wanted" -c "$constraints"
    {
        echo "# Versions that \`$use\` takes. Made by \`make lock\`."
        "$place/bin/python" -m pip freeze
    } > "$file"
}

if [ "$2" != release ]; then
    lock requirements.lock "make install" /dev/null dependencies build
    lock requirements-dev.lock "make test and make lint" requirements.lock dependencies build cluster dev
    lock requirements-site.lock "make site" requirements-dev.lock site
fi
lock requirements-release.lock "make release-check" requirements-dev.lock release
