#!/usr/bin/env bash
# Fails when a C or C++ file differs from what clang-format-19 makes of it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
git ls-files -z -- '*.c' '*.cpp' '*.h' | xargs -0 clang-format-19 --dry-run -Werror
