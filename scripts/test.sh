#!/usr/bin/env bash
# Installs what is missing, builds and runs every test.
#   scripts/test.sh          the tool and the laboratory, then the fuzz targets
#   scripts/test.sh --tool   the tool alone
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=release
parts=(--tool --tests --laboratory)
if [ "${1:-}" = --tool ]; then
  preset=tool-tests
  parts=(--tool --tests)
elif [ $# -gt 0 ]; then
  echo "usage: test.sh [--tool]" >&2
  exit 2
fi

"$root/scripts/setup.sh" "${parts[@]}"
if [ -n "${CI:-}" ]; then "$root/scripts/setup.sh" --jobs; fi
"$root/scripts/build.sh" "$preset"
"$root/scripts/build.sh" fuzz
cd "$root"
ctest --preset fuzz -L fuzz -j2
ctest --preset "$preset" -j2
