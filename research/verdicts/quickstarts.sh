#!/usr/bin/env bash
# The main job, N times in a row: prints the exit code and the seconds of each, and fails when one of them is not 0.
#   research/verdicts/quickstarts.sh [N] [CONFIG]        (default 60, configs/quickstart.json)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
memduel=${MEMDUEL:-$root/build/release/bin/memduel}
count=${1:-60}
config=${2:-$root/configs/quickstart.json}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

failed=0
for i in $(seq "$count"); do
  begin=$SECONDS status=0
  "$memduel" run "$config" --quiet --out "$work/run" >"$work/log" 2>&1 || status=$?
  echo "$i: exit $status, $((SECONDS - begin)) s"
  if [ "$status" -ne 0 ]; then
    failed=$((failed + 1))
    cat "$work/log"
    "$memduel" report "$work/run" --format text | head -n 30 || true
  fi
  rm -rf "$work/run"
done
echo "$failed of $count ended with another exit code than 0"
[ "$failed" -eq 0 ]
