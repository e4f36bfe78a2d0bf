#!/usr/bin/env bash
# The main job: federated rounds on MNIST, original against optimized, to a verdict and a report.
# Uses a memduel that is built already; else installs what is missing and builds it first.
#   scripts/run.sh                       configs/quickstart.json
#   scripts/run.sh --config FILE         another experiment, or a suite
# Other arguments are passed on to `memduel run` (for instance --out DIR or --repeats 5).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

config=$root/configs/quickstart.json
if [ "${1:-}" = --config ]; then
  if [ $# -lt 2 ]; then echo "run: found --config without a file" >&2; exit 2; fi
  config=$2
  shift 2
fi
preset=release
if [ ! -x "$root/build/release/bin/memduel-fl" ]; then
  preset=job
  if [ ! -x "$root/build/job/bin/memduel-fl" ]; then
    echo "run: builds memduel and the replays first: LibTorch, gRPC and about five minutes on two cores. scripts/try.sh needs neither."
  fi
fi
"$root/scripts/setup.sh" --tool --fl
"$root/scripts/build.sh" "$preset"
if [ "$config" = "$root/configs/quickstart.json" ]; then echo "run: runs the duel, about a minute and a half."; fi
exec "$root/build/$preset/bin/memduel" run "$config" "$@"
