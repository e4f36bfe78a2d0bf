#!/usr/bin/env bash
# Installs what is missing, builds the tool and the FL workloads, and tests them.
#   scripts/test.sh            everything that a change needs, among it one of each kind of test: what CI runs
#   scripts/test.sh --all      also Flower, NVFlare and APPFL from PyPI, fuzzing, clang-tidy of all files, other distributions, all foreign jobs, long runs and hostile circumstances
#   scripts/test.sh --weekly   also half an hour of hostile circumstances and half an hour of failing system calls, from other seeds each week
#   scripts/test.sh --tool     the tool only, without LibTorch and packages
# If CI is set, and with --all and --weekly, it also installs servers that tests measure (scripts/setup.sh --jobs). Without them those tests are skipped.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=release
parts=(--tool --tests --fl --packages)
left_out='^(all|weekly)$'
fuzz=
case "${1:-}" in
  "") ;;
  --all) left_out='^weekly$' fuzz=yes parts+=(--long --jobs) ;;
  --weekly) left_out='^$' fuzz=yes parts+=(--long --jobs) ;;
  --tool) preset=tool-tests parts=(--tool --tests) ;;
  *) echo "usage: test.sh [--all | --weekly | --tool]" >&2; exit 2 ;;
esac
if [ -n "${CI:-}" ] && [ "$preset" = release ]; then parts+=(--jobs); fi

"$root/scripts/setup.sh" "${parts[@]}"
# PyPI has memray, and Debian does not. Without it CTest lists its tests as not run.
memray=$root/build/memray
if [ -n "$fuzz" ] && [ ! -x "$memray/bin/python" ]; then
  /usr/bin/python3 -m venv "$memray" && "$memray/bin/pip" install -q memray==1.20.0 || rm -rf "$memray"
fi
if [ -n "$fuzz" ]; then
  for example in "$root"/examples/*/setup.sh; do
    "$example" || echo "test.sh: ${example#"$root"/} failed; the tests that start its framework are skipped" >&2
  done
fi
"$root/scripts/build.sh" "$preset"
cd "$root"
status=0
if [ -n "$fuzz" ]; then
  scripts/build.sh fuzz
  ctest --preset fuzz -L fuzz -j2 || status=$?
fi
rm -rf "build/$preset/tests/cases"
# Tests that measure programs on a busy machine err now and then: one that fails is run once more.
ctest --preset "$preset" -j2 -LE "$left_out" --repeat until-pass:2 || status=$?
scripts/test_cases.py "build/$preset/tests/cases" || status=$?
exit "$status"
