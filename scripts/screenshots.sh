#!/usr/bin/env bash
# Takes the pictures of README and docs from a finished run: scripts/screenshots.sh RUN_DIR
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
exec node "$root/tests/report/screenshots.mjs" "${1:?usage: scripts/screenshots.sh RUN_DIR}" "$root/docs/images"
