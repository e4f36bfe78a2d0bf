#!/usr/bin/env bash
# CSFL-simulator's cleanup policies: minutes. Arguments are passed on to `memduel run`.
scripts=$(dirname "${BASH_SOURCE[0]}") && exec "$scripts/run.sh" --config "$scripts/../configs/csfl-stability-quick.json" "$@"
