#!/usr/bin/env bash
# What a CI job runs: builds the base and the head of a change on this machine, duels them, and leaves what people and services read.
#   scripts/ci-memory.sh [--base REV] [--head REV] [--out DIR] [OPTIONS OF memduel compare]… -- PROGRAM ARGS…
# BASE: --base, else the base of the pull or merge request (GITHUB_BASE_SHA, CI_MERGE_REQUEST_DIFF_BASE_SHA), else the parent of the head.
# OUT (memory-report) gets summary.md, junit.xml, log.txt, and where trials were run report.html, results.json, run/ with everything else.
# The summary is also added to $GITHUB_STEP_SUMMARY. MEMDUEL names the program (default: build/tool/bin/memduel of this checkout, else in PATH).
# Adds --gate default if neither OPTIONS nor a config name a gate, and --on-inconclusive fail. Exits as memduel does: 0 no gate failed, or both
# commits have the same files, or there is nothing to compare with; 1 a gate failed; 2 bad usage; 3 could not measure, for instance because the
# base does not build; 4 a file failed; 5 a gate is inconclusive. See docs/ci.md.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

base=${GITHUB_BASE_SHA:-${CI_MERGE_REQUEST_DIFF_BASE_SHA:-}}
head=HEAD out=memory-report
inconclusive=(--on-inconclusive fail)
gates=(--gate default)
options=()
while [ $# -gt 0 ]; do
  case "$1" in
    --base | --head | --out)
      [ $# -gt 1 ] || { echo "ci-memory: $1 needs a value" >&2; exit 2; }
      printf -v "${1#--}" %s "$2"
      shift 2
      ;;
    --on-inconclusive | --on-inconclusive=*) inconclusive=() options+=("$1"); shift ;;
    --gate | --gate=*) gates=() options+=("$1"); shift ;;
    --) break ;;
    *) options+=("$1"); shift ;;
  esac
done
if [ $# -lt 2 ]; then sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; fi
# A config that names gates keeps them. One that only seems to is refused by memduel: no gate would decide.
if [ $# -eq 2 ] && [[ $2 == *.json && -e $2 ]] && tr '\n' ' ' <"$2" | grep -Eq '"gates"[[:space:]]*:[[:space:]]*\[[[:space:]]*"'; then gates=(); fi

memduel=${MEMDUEL:-$here/../build/tool/bin/memduel}
if [ ! -x "$memduel" ]; then memduel=$(command -v memduel || true); fi
if [ -z "$memduel" ]; then echo "ci-memory: no memduel: scripts/build.sh tool builds it, MEMDUEL names it" >&2; exit 2; fi

if [ -e "$out/run" ]; then echo "ci-memory: $out holds an earlier report: give another --out" >&2; exit 2; fi
mkdir -p "$out"

escaped() { sed -e 's/[^[:print:]\t]//g' -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g' -e 's/"/\&quot;/g'; }

# without_run STATUS TITLE FILE: what there is to read when no trial was run.
without_run() {
  local status=$1 title=$2 text=$3 cases='tests="1" failures="0" errors="0" skipped="0"' inner=
  if [ "$status" -ne 0 ]; then
    cases='tests="1" failures="0" errors="1" skipped="0"'
    inner="<error message=\"$(escaped <<<"$title")\">$(escaped <"$text")</error>"
  fi
  { printf '<!-- memduel:compare -->\n### memduel: %s\n\n<pre>\n' "$title"; escaped <"$text"; printf '</pre>\n'; } >"$out/summary.md"
  printf '<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="memduel" %s>\n  <testcase classname="memduel" name="%s">%s</testcase>\n</testsuite>\n' \
    "$cases" "$(escaped <<<"$title")" "$inner" >"$out/junit.xml"
}

finish() {
  local status=$1
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"; fi
  exit "$status"
}

"$memduel" doctor --ci

# A branch that was just pushed has zeros for its base, and a first commit has no parent: there is nothing to compare with.
if [[ $base =~ ^0*$ ]]; then
  base=
  if git rev-parse --verify --quiet "$head^1^{commit}" >/dev/null; then base=$head^1; fi
fi
if [ -z "$base" ]; then
  echo "$(git rev-parse "$head") is the first commit: there is no base to compare it with." >"$out/log.txt"
  cat "$out/log.txt"
  without_run 0 "nothing to compare with" "$out/log.txt"
  finish 0
fi

if ! git rev-parse --verify --quiet "$base^{commit}" >/dev/null; then
  echo "The base $base is not in this clone: fetch all history (fetch-depth: 0, GIT_DEPTH: 0)." >"$out/log.txt"
  cat "$out/log.txt" >&2
  without_run 3 "could not measure: no base" "$out/log.txt"
  finish 3
fi

# What the change itself does, without what came to the base meanwhile.
if merge_base=$(git merge-base "$base" "$head" 2>/dev/null); then base=$merge_base; fi

set +e
"$memduel" compare --ref-a "$base" --ref-b "$head" --out "$out/run" --export markdown "$out/summary.md" --export junit "$out/junit.xml" ${inconclusive[@]+"${inconclusive[@]}"} ${gates[@]+"${gates[@]}"} ${options[@]+"${options[@]}"} "$@" \
  2>&1 >"$out/stdout.txt" | tee "$out/stderr.txt" >&2
status=${PIPESTATUS[0]}
set -e
cat "$out/stdout.txt"
cat "$out/stderr.txt" "$out/stdout.txt" >"$out/log.txt"

run=$out/run
if [ -e "$run/run.sqlite" ]; then
  # Of a run that ended early.
  [ -e "$out/summary.md" ] || "$memduel" report "$run" --format markdown >"$out/summary.md"
  [ -e "$out/junit.xml" ] || "$memduel" report "$run" --format junit >"$out/junit.xml"
  "$memduel" report "$run" --format html >/dev/null
  cp "$run/report.html" "$out/"
  if [ -e "$run/results.json" ]; then cp "$run/results.json" "$out/"; fi
  if [ "$status" -gt 1 ] && [ "$status" -ne 5 ]; then
    { printf '\n<pre>\n'; tail -n 20 "$out/stderr.txt" | escaped; printf '</pre>\n'; } >>"$out/summary.md"
  fi
elif [ "$status" -eq 0 ]; then
  without_run 0 "nothing was built differently" "$out/stdout.txt"
else
  without_run "$status" "could not measure (exit code $status)" "$out/stderr.txt"
fi
rm -f "$out/stdout.txt" "$out/stderr.txt"
finish "$status"
