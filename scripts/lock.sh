#!/bin/sh
# Takes the newest versions that pyproject.toml allows and writes them to requirements-dev.lock. usage: lock.sh PYTHON
set -e
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$1" -m venv "$place"
"$1" - > "$place/wanted" <<'END'
import tomllib
project = tomllib.load(open("pyproject.toml", "rb"))["project"]
extras = project["optional-dependencies"]
wanted = [*project["dependencies"], *extras["cluster"], *extras["dev"]]
print(*(it for it in wanted if it != "perhop[cluster]"), sep="\n")
END
"$place/bin/python" -m pip install -q --disable-pip-version-check -r "$place/wanted"
{
    echo "# Versions that \`make install\` takes. Made by \`make lock\`."
    "$place/bin/python" -m pip freeze
} > requirements-dev.lock
