#!/usr/bin/env bash
# Starts a Slurm cluster of two nodes on this machine, for trying and testing: munge, slurmctld and two slurmd, each with a part of
# its memory. As root. Its files are in DIR; afterwards:  export SLURM_CONF=DIR/slurm.conf  and  scripts/slurm/down.sh DIR
#   scripts/slurm/up.sh DIR [LINE…]      each LINE goes into slurm.conf, e.g. MaxArraySize=100
set -euo pipefail
directory=$(mkdir -p "${1:?usage: up.sh DIR}" && cd "$1" && pwd)
for program in munged slurmctld slurmd sbatch; do
  command -v "$program" >/dev/null || { echo "up.sh: $program is missing: apt-get install munge slurmctld slurmd slurm-client" >&2; exit 3; }
done

host=$(hostname -s)
memory=$(($(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo) / 1024 / 2 - 256))
mkdir -p "$directory"/{state,spool-n1,spool-n2}
cat > "$directory/slurm.conf" <<CONF
ClusterName=memduel
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$directory/munge.socket
StateSaveLocation=$directory/state
SlurmdSpoolDir=$directory/spool-%n
SlurmctldPidFile=$directory/slurmctld.pid
SlurmdPidFile=$directory/slurmd-%n.pid
SlurmctldLogFile=$directory/slurmctld.log
SlurmdLogFile=$directory/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
MpiDefault=none
NodeName=n[1-2] NodeHostname=$host NodeAddr=127.0.0.1 Port=[17001-17002] CPUs=1 RealMemory=$memory State=UNKNOWN
PartitionName=all Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP
CONF
printf '%s\n' "${@:2}" >> "$directory/slurm.conf"

# A key and a socket of its own, so that a munge of the machine is left alone.
dd if=/dev/urandom of="$directory/munge.key" bs=1024 count=1 status=none
chmod 0400 "$directory/munge.key"
munged --force --key-file="$directory/munge.key" --socket="$directory/munge.socket" --pid-file="$directory/munged.pid" \
  --log-file="$directory/munged.log" --seed-file="$directory/munged.seed"
export SLURM_CONF=$directory/slurm.conf
slurmctld
slurmd -N n1
slurmd -N n2
for _ in $(seq 300); do
  if [ "$(sinfo --noheader --format=%t --Node 2>/dev/null | grep -c idle)" = 2 ]; then
    echo "two idle nodes; export SLURM_CONF=$SLURM_CONF"
    exit 0
  fi
  sleep 0.2
done
echo "up.sh: the nodes did not become idle; see the logs in $directory" >&2
exit 1
