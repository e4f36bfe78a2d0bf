#!/usr/bin/env bash
# Builds the tool with its libraries inside and packs it: an archive, a Debian package and a Python wheel.
#   scripts/package.sh [DIR]        (default: dist)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$(realpath -m "${1:-$root/dist}")

"$root/scripts/setup.sh" --tool --packages
"$root/scripts/build.sh" tool
build=$root/build/tool
mkdir -p "$out"
for kind in TGZ DEB; do
  (cd "$build" && cpack -G "$kind" -B "$out" >/dev/null)
done
rm -rf "$out/_CPack_Packages"
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$build" --prefix "$prefix" >/dev/null
"$root/scripts/build-wheel.sh" "$prefix" "$out" >/dev/null
ls -sh1 "$out"
