#!/usr/bin/env bash
# Installs what is missing, builds, and runs the main job: federated rounds on MNIST, original against optimized.
# Arguments are passed on to `memduel run` (for instance --out DIR or --repeats 5).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$root/scripts/setup.sh"
"$root/scripts/build.sh" release
exec "$root/build/release/bin/memduel" run "$root/configs/quickstart.json" "$@"
