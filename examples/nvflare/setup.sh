#!/usr/bin/env bash
# Makes a virtual environment with NVIDIA FLARE in build/examples/nvflare and exports the jobs there, beside a patched copy of
# the package for cycle-fix.json. A second run does nothing, unless a file changed that it reads.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
build=../../build/examples/nvflare
stamp=$build/stamp
hash=$(cat requirements.txt export_jobs.py client.py cycle-fix.patch setup.sh | sha256sum)

if [[ -f $stamp && $(<"$stamp") == "$hash" ]]; then
  echo "$build is up to date"
  exit 0
fi

python3 -c 'import ensurepip, venv' 2>/dev/null || {
  echo "setup.sh: Python has no venv module; install it first: apt-get install python3-venv" >&2
  exit 1
}
command -v patch >/dev/null || {
  echo "setup.sh: the program patch is missing; install it first: apt-get install patch" >&2
  exit 1
}
rm -rf "$build"
mkdir -p "$build"
python3 -m venv "$build/env"
"$build/env/bin/pip" install --quiet --disable-pip-version-check --retries 2 --requirement requirements.txt || {
  echo "setup.sh: pip could not install requirements.txt; check that the package index answers (PIP_INDEX_URL names another one)" >&2
  exit 1
}
"$build/env/bin/python" export_jobs.py "$build/jobs"
# A process with this folder in its PYTHONPATH imports the patched package.
mkdir "$build/patched.new"
cp -a "$build"/env/lib/python3*/site-packages/nvflare "$build/patched.new"
patch --quiet --strip 1 --directory "$build/patched.new" < cycle-fix.patch
mv "$build/patched.new" "$build/patched"
echo "$hash" > "$stamp"
