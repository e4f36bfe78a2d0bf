#!/usr/bin/env bash
# APPFL's ResNet18 on dummy images: ten minutes. Arguments are passed on to `memduel run`.
scripts=$(dirname "${BASH_SOURCE[0]}") && exec "$scripts/run.sh" --config "$scripts/../configs/resnet-dummy-quick.json" "$@"
