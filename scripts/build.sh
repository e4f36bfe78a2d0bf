#!/usr/bin/env bash
# Configures and builds one preset of CMakePresets.json (default: release).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=${1:-release}

cd "$root"
cmake --preset "$preset" >"build-$preset.log" 2>&1 || { cat "build-$preset.log" >&2; rm -f "build-$preset.log"; exit 1; }
rm -f "build-$preset.log"
cmake --build --preset "$preset"
