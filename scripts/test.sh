#!/usr/bin/env bash
# Installs what is missing, builds the tool and the laboratory, and tests them.
#   scripts/test.sh          all but what takes long
#   scripts/test.sh --all    also clang-tidy, fuzz targets, browsers, long jobs, and the packages: what CI runs
#   scripts/test.sh --tool   the tool alone, all but what takes long
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=release
parts=(--tool --tests --laboratory)
which=(-LE slow)
case "${1:-}" in
  "") ;;
  --all) which=() parts+=(--packages) ;;
  --tool) preset=tool-tests parts=(--tool --tests) ;;
  *) echo "usage: test.sh [--all | --tool]" >&2; exit 2 ;;
esac

"$root/scripts/setup.sh" "${parts[@]}"
if [ -n "${CI:-}" ]; then "$root/scripts/setup.sh" --jobs; fi
"$root/scripts/build.sh" "$preset"
cd "$root"
if [ "${1:-}" = --all ]; then
  scripts/build.sh fuzz
  scripts/package.sh build/packages
  tests/package/portable.sh build/packages
  ctest --preset fuzz -L fuzz -j2
else
  echo "test: leaves out what takes long; scripts/test.sh --all runs it too."
fi
ctest --preset "$preset" -j2 "${which[@]}"
