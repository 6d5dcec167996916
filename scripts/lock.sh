#!/bin/sh
# Takes the newest versions that pyproject.toml allows and writes them to requirements-dev.lock and, for the tools of a release, which
# are installed beside those, to requirements-release.lock. usage: lock.sh PYTHON [release]
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
project = tomllib.load(open("pyproject.toml", "rb"))["project"]
parts = {"dependencies": project["dependencies"], **project["optional-dependencies"]}
print(*(it for part in sys.argv[1:] for it in parts[part] if it != "perhop[cluster]"), sep="\n")
END
    "$place/bin/python" -m pip install -q --disable-pip-version-check -r "$place/wanted" -c "$constraints"
    {
        echo "# Versions that \`$use\` takes. Made by \`make lock\`."
        "$place/bin/python" -m pip freeze
    } > "$file"
}

[ "$2" = release ] || lock requirements-dev.lock "make install" /dev/null dependencies cluster dev
lock requirements-release.lock "make release-check" requirements-dev.lock release
