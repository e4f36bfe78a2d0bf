#!/usr/bin/env bash
# Tries memduel without LibTorch: builds the tool alone, then duels two commands, to a verdict and a report.
#   scripts/try.sh                          two ways to sort the same lines, one with a buffer ten times as large
#   scripts/try.sh --a 'CMD' --b 'CMD' ...   your own two, with the options of memduel compare
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

if [ ! -x "$root/build/tool/bin/memduel" ]; then
  echo "try: builds the tool first, a few minutes on two cores."
fi
"$root/scripts/setup.sh" --tool
"$root/scripts/build.sh" tool
memduel=$root/build/tool/bin/memduel
if [ $# -gt 0 ]; then exec "$memduel" compare "$@"; fi
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
seq 400000 -1 1 >"$lines"
echo "try: duels sort -S 4M with sort -S 40M, a few seconds."
# The larger buffer fails the gate: that is the answer, not an error.
"$memduel" compare --a "sort -S 4M -o /dev/null $lines" --b "sort -S 40M -o /dev/null $lines" || [ $? -eq 1 ]
