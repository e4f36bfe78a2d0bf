#!/usr/bin/env bash
# Stops the cluster that up.sh started in DIR.
#   scripts/slurm/down.sh DIR
set -euo pipefail
directory=$(cd "${1:?usage: down.sh DIR}" && pwd)
for daemon in slurmd-n1 slurmd-n2 slurmctld munged; do
  pid=$(cat "$directory/$daemon.pid" 2>/dev/null) || continue
  kill "$pid" 2>/dev/null || continue
  for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
done
