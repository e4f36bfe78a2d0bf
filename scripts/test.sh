#!/usr/bin/env bash
# Installs what is missing, builds the tool and the laboratory, and tests them.
#   scripts/test.sh            everything that a change needs, among it one of each kind of test: what CI runs
#   scripts/test.sh --all      also fuzzing, clang-tidy of all files, other distributions, all foreign jobs, long runs and hostile circumstances
#   scripts/test.sh --weekly   also an hour of hostile circumstances and failing system calls, from another seed each week
#   scripts/test.sh --tool     the tool alone, without LibTorch and packages
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=release
parts=(--tool --tests --laboratory --packages)
left_out='^(all|weekly)$'
case "${1:-}" in
  "") ;;
  --all) left_out='^weekly$' parts+=(--long) ;;
  --weekly) left_out='^$' parts+=(--long) ;;
  --tool) preset=tool-tests parts=(--tool --tests) ;;
  *) echo "usage: test.sh [--all | --weekly | --tool]" >&2; exit 2 ;;
esac

"$root/scripts/setup.sh" "${parts[@]}"
if [ -n "${CI:-}" ]; then "$root/scripts/setup.sh" --jobs; fi
"$root/scripts/build.sh" "$preset"
cd "$root"
case "${1:-}" in
  --all | --weekly)
    scripts/build.sh fuzz
    ctest --preset fuzz -L fuzz -j2
    ;;
esac
status=0
rm -rf "build/$preset/tests/cases"
ctest --preset "$preset" -j2 -LE "$left_out" || status=$?
scripts/test_cases.py "build/$preset/tests/cases"
exit "$status"
