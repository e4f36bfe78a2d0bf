#!/usr/bin/env bash
# APPFL on CIFAR-10: a quarter of an hour; scripts/fetch-datasets.sh cifar10 brings the images. Arguments are passed on to `memduel run`.
scripts=$(dirname "${BASH_SOURCE[0]}") && exec "$scripts/run.sh" --config "$scripts/../configs/cifar10-quick.json" "$@"
