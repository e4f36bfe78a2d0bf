#!/usr/bin/env bash
# Takes the pictures of README and docs from two finished runs: scripts/screenshots.sh QUICKSTART_DIR RESNET_DIR
# The first of configs/quickstart.json, the second of configs/resnet-dummy.json or its -quick form.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
usage="usage: scripts/screenshots.sh QUICKSTART_DIR RESNET_DIR"
node "$root/tests/report/screenshots.mjs" "${1:?$usage}" "$root/docs/images" report resident rounds flames
node "$root/tests/report/screenshots.mjs" "${2:?$usage}" "$root/docs/images" resnet lower-bounds
