#!/usr/bin/env bash
# KD-GAT's trainings on graphs: minutes. Arguments are passed on to `memduel run`.
scripts=$(dirname "${BASH_SOURCE[0]}") && exec "$scripts/run.sh" --config "$scripts/../configs/kdgat-quick.json" "$@"
