#!/usr/bin/env bash
# Duels whose answer is known: 200 MiB ± 0.5 % against 2 % more, and against itself, each N times with default settings.
# Prints how often each verdict was given; fails when `regressed` is found in fewer than 18 of 20, or equal programs are told apart more than
# once in 20.
#   research/verdicts/hog_duels.sh [N]        (default 20)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=$root/build/${PRESET:-release}/bin
count=${1:-20}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

duels() {  # NAME A B: prints one verdict per duel on all.peak_rss_bytes
  local name=$1 a=$2 b=$3 i status
  for i in $(seq "$count"); do
    status=0
    "$bin/memduel" compare --a "$a" --b "$b" --calibrate --quiet --out "$work/$name-$i" >/dev/null 2>"$work/log" || status=$?
    if [ "$status" -gt 1 ]; then cat "$work/log" >&2; exit "$status"; fi
    python3 - "$work/$name-$i/results.json" <<'P'
import json, sys
rows = json.load(open(sys.argv[1]))["comparisons"]
print(next(r["verdict"] for r in rows if r["role"] == "all" and r["metric"] == "peak_rss_bytes"))
P
    rm -rf "$work/$name-$i"
  done | sort | uniq -c | awk '{ print $2, $1 }'
}

hog=$bin/memduel-hog
planted=$(duels planted "$hog 200 0.5" "$hog 204 0.5")
null=$(duels null "$hog 200 0.5" "$hog 200 0.5")
echo "2 % planted, $count duels:"; echo "$planted"
echo "same program, $count duels:"; echo "$null"

found=$(awk '$1 == "regressed" { print $2 }' <<<"$planted")
false_verdicts=$(awk '$1 == "regressed" || $1 == "improved" { n += $2 } END { print n + 0 }' <<<"$null")
[ $((${found:-0} * 10)) -ge $((count * 9)) ] && [ $((false_verdicts * 20)) -le "$count" ]
