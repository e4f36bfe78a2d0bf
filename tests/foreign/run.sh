#!/usr/bin/env bash
# Programs that know nothing of memduel, each number held to an independent source (docs/agreement.md has the table).
#   tests/foreign/run.sh [--out FILE.md] [JOB ...]        exit 77: none of their programs is installed
set -euo pipefail
exec /usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/check.py" "$@"
