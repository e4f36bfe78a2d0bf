#!/usr/bin/env bash
# NVFlare's allocators, arenas and cleanups: minutes. Arguments are passed on to `memduel run`.
scripts=$(dirname "${BASH_SOURCE[0]}") && exec "$scripts/run.sh" --config "$scripts/../configs/nvflare-matrix-quick.json" "$@"
