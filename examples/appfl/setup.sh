#!/usr/bin/env bash
# Makes build/examples/appfl and build/examples/appfl-1.11: the same environment with APPFL 1.12.0 and 1.11.0,
# and build/examples/appfl-patched: a copy of the package of 1.12.0 with release-model-bytes.patch.
set -euo pipefail
cd "$(dirname "$0")"
environments=../../build/examples
python=/usr/bin/python3 # Debian's, which sees Debian's packages

fail() {
  echo "setup.sh: $1" >&2
  exit 1
}

"$python" -c 'import torch' 2>/dev/null || fail "$python has no torch; the fix: apt-get install python3-torch"
"$python" -c 'import ensurepip' 2>/dev/null || fail "$python cannot make environments; the fix: apt-get install python3-venv"

command -v patch > /dev/null || fail "the program patch is missing; the fix: apt-get install patch"

install() {
  local environment=$environments/$1 requirements
  requirements=$(sed "s/^appfl==.*/appfl==$2/" requirements.txt)
  local stamp=$environment/requirements.sha256 hash
  hash=$(sha256sum <<< "$requirements")
  if [[ -f $stamp && $(< "$stamp") == "$hash" ]]; then
    echo "$environment is up to date"
    return
  fi
  rm -rf "$environment"
  "$python" -m venv --system-site-packages "$environment"
  "$environment/bin/pip" install --no-deps --requirement <(echo "$requirements") ||
    fail "pip cannot install $1; if the package index did not answer, check the network and run setup.sh again"
  echo "$hash" > "$stamp"
}

install appfl 1.12.0
install appfl-1.11 1.11.0

# A process with this folder in its PYTHONPATH imports the patched package.
patched=$environments/appfl-patched
rm -rf "$patched" "$patched.new"
mkdir "$patched.new"
cp -a "$environments"/appfl/lib/python3*/site-packages/appfl "$patched.new"
patch --quiet --strip 1 --directory "$patched.new" < release-model-bytes.patch
mv "$patched.new" "$patched"
