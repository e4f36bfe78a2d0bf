#!/usr/bin/env bash
# APPFL on MNIST: a minute. Arguments are passed on to `memduel run`.
scripts=$(dirname "${BASH_SOURCE[0]}") && exec "$scripts/run.sh" --config "$scripts/../configs/mnist-quick.json" "$@"
