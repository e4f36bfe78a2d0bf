#!/usr/bin/env bash
# Makes the virtual environments build/examples/flower and build/examples/flower-1.37, and build/examples/flower-patched: a copy of
# the package of 1.42 with release-body.patch. Does nothing for an environment that is up to date.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$here/../.." && pwd)/build/examples
python=${PYTHON:-python3}

make_environment() {
  local environment=$build/$1 requirements=$here/$2 hash
  hash=$(cat "$requirements" "$here/requirements-common.txt" | sha256sum)
  if [[ -f $environment/stamp && $(<"$environment/stamp") == "$hash" ]]; then
    echo "$environment is up to date"
    return
  fi
  "$python" -m venv --clear "$environment" || {
    echo "setup.sh: $python cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv" >&2
    exit 1
  }
  "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements" || {
    echo "setup.sh: pip could not install $requirements; check the connection to the package index, or name another one in PIP_INDEX_URL" >&2
    exit 1
  }
  echo "$hash" > "$environment/stamp"
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "setup.sh: Flower 1.42 needs Python 3.11 or later; name one in PYTHON, for example PYTHON=python3.12 $0" >&2
  exit 1
}
command -v patch > /dev/null || {
  echo "setup.sh: the program patch is missing; on Debian and Ubuntu: apt-get install patch" >&2
  exit 1
}
make_environment flower requirements.txt
make_environment flower-1.37 requirements-1.37.txt

# A process with this folder in its PYTHONPATH imports the patched package.
rm -rf "$build/flower-patched" "$build/flower-patched.new"
mkdir "$build/flower-patched.new"
cp -a "$build"/flower/lib/python3*/site-packages/flwr "$build/flower-patched.new"
patch --quiet --strip 1 --directory "$build/flower-patched.new" < "$here/release-body.patch"
mv "$build/flower-patched.new" "$build/flower-patched"
