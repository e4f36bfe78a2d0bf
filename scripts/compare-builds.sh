#!/usr/bin/env bash
# Duels two builds of this repository's own workers, by default on the quickstart: the same rounds, once by each build.
#   scripts/compare-builds.sh REV_A [REV_B]            two revisions, each built with scripts/build.sh release (REV_B: HEAD)
#   scripts/compare-builds.sh BUILD_A BUILD_B          two build directories, such as build/release and another one
# Further arguments go to memduel compare: --gate G, --repeats N, --variant optimized, --out DIR; CONFIG=configs/resnet-dummy.json is another job.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
config=${CONFIG:-configs/quickstart.json}
memduel=${MEMDUEL:-build/release/bin/memduel}

if [ $# -eq 0 ] || [[ $1 == -* ]]; then sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; fi
a=$1 b=HEAD
shift
if [ $# -gt 0 ] && [[ $1 != -* ]]; then b=$1; shift; fi
if [ -d "$a" ] && [ -d "$b" ]; then a=$(realpath "$a") b=$(realpath "$b"); fi
cd "$root"
if [ -d "$a" ] && [ -d "$b" ]; then
  exec "$memduel" compare --build-a "$a" --build-b "$b" "$@" "$config"
fi
exec "$memduel" compare --ref-a "$a" --ref-b "$b" --build 'scripts/build.sh release' "$@" "$config"
