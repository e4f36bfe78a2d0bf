#!/usr/bin/env bash
# CBraMod's fine-tunings: minutes. Arguments are passed on to `memduel run`.
scripts=$(dirname "${BASH_SOURCE[0]}") && exec "$scripts/run.sh" --config "$scripts/../configs/cbramod-quick.json" "$@"
