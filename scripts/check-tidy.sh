#!/usr/bin/env bash
# clang-tidy-19 over every room that does not include LibTorch. A file is checked again when it or any header changed.
#   scripts/check-tidy.sh BUILD_DIR               the checks of .clang-tidy
#   scripts/check-tidy.sh BUILD_DIR --analyze     and clang's static analyzer
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
stamps=$build/tidy
checks=
if [ "${2:-}" = --analyze ]; then checks=clang-analyzer-\* stamps=$build/tidy-analyze; fi
mkdir -p "$stamps"
scripts/plain_commands.py "$build" > "$stamps/compile_commands.json"

headers=$(git ls-files -z -- '*.h' .clang-tidy | xargs -0 sha256sum | sha256sum)
check() {
  local file=$1 stamp
  stamp=$stamps/$({ sha256sum "$file"; echo "$headers"; } | sha256sum | cut -c1-32)
  [ -e "$stamp" ] && return 0
  if clang-tidy-19 -p "$stamps" --quiet "--checks=$checks" "$file" 2>/dev/null; then touch "$stamp"; else echo "clang-tidy: $file" >&2; return 1; fi
}
export -f check
export stamps headers checks

# Files outside this build (another preset's, or the recorder's target programs) have no compile command.
git ls-files -- 'base/*.cpp' 'analysis/*.cpp' 'profilers/*.cpp' 'experiment/*.cpp' 'reports/*.cpp' 'training/*.cpp' 'cli/*.cpp' |
  grep -v -E '_(test|fuzz)\.cpp$' |
  while read -r file; do grep -qF "/$file\"" "$stamps/compile_commands.json" && printf '%s\0' "$file" || true; done |
  xargs -0 -P 2 -I{} bash -c 'check "$1"' _ {}
