#!/usr/bin/env bash
# Configures and builds one preset of CMakePresets.json (default: release).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=${1:-release}

cd "$root"
log=$(cmake --preset "$preset" 2>&1) || { echo "$log" >&2; exit 1; }
cmake --build --preset "$preset"
