#!/usr/bin/env bash
# Installs the Debian packages that building and testing memduel need and that are missing; says which before it does.
#   scripts/setup.sh                 the tool, its tests and the FL workloads
#   scripts/setup.sh --tool          to build the tool: no LibTorch, no gRPC, no browser
#   scripts/setup.sh --tests         to test it
#   scripts/setup.sh --fl            to build and test the replays
#   scripts/setup.sh --packages      to make a wheel of it
#   scripts/setup.sh --long          for the tests of scripts/test.sh --all and --weekly: other distributions, failing system calls, a JVM, frameworks of PyPI
#   scripts/setup.sh --jobs          the servers that tests/foreign duels and the Slurm of tests/slurm; they may start, so nobody gets them unasked
# Several of these may be given.
set -euo pipefail

tool_packages=(
  ca-certificates cmake g++ git ninja-build pkg-config
  libboost-math-dev libbz2-dev libcli11-dev libdw-dev libelf-dev libfmt-dev libiberty-dev liblzma-dev libpcre2-dev libsqlite3-dev
  libssl-dev libzstd-dev nlohmann-json3-dev robin-map-dev zlib1g-dev
)
test_packages=(
  ccache make
  libbenchmark-dev libgmock-dev libgtest-dev librapidcheck-dev
  clang-19 clang-format-19 clang-tidy-19 libclang-rt-19-dev llvm-19
  chromium faketime fonts-dejavu-core python3 python3-yaml
  libjemalloc2 libmimalloc2.0 libtcmalloc-minimal4
  fish heaptrack libgoogle-perftools4 mawk sqlite3 valgrind zsh
)
fl_packages=(
  libblosc-dev libedf-dev libgrpc++-dev libopenblas0-pthread libprotobuf-dev libtorch-dev libzfp-dev protobuf-compiler protobuf-compiler-grpc
  python3-torch
)
wheel_packages=(binutils dpkg-dev python3-pip python3-venv python3-wheel)
foreign_jobs=(redis-server redis-tools nginx-light apache2-utils postgresql munge slurm-client slurmctld slurmd)

packages=()
if [ $# -eq 0 ]; then set -- --tool --tests --fl; fi
for part in "$@"; do
  case "$part" in
    --tool) packages+=("${tool_packages[@]}") ;;
    --tests) packages+=("${test_packages[@]}") ;;
    --fl) packages+=("${fl_packages[@]}") ;;
    --packages) packages+=("${wheel_packages[@]}") ;;
    --long)
      packages+=(debootstrap patch python3-venv strace)
      command -v java >/dev/null || packages+=(default-jre-headless)
      ;;
    --jobs) packages+=("${foreign_jobs[@]}") ;;
    *) echo "usage: setup.sh [--tool] [--tests] [--fl] [--packages] [--long] [--jobs]" >&2; exit 2 ;;
  esac
done
# The viewer inside the report is bundled with Node.js: any with npm will do, Debian's where there is none.
command -v node >/dev/null && command -v npm >/dev/null || packages+=(nodejs npm)

installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p' | sort -u)
missing=$(comm -23 <(printf '%s\n' "${packages[@]}" | sort -u) <(printf '%s\n' "$installed"))
if [ -z "$missing" ]; then exit 0; fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi

# apt_get ARGUMENT...: runs apt-get and waits up to ten minutes while another program holds one of its locks. DPkg::Lock::Timeout covers
# the lock of dpkg, but not those of the package lists and of the archives.
apt_get() {
  local errors deadline=$((SECONDS + 600)) waiting=
  until errors=$("${as_root[@]}" env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get "$@" 2>&1 >/dev/null); do
    if [[ $errors != *"Could not get lock"* ]] || [ "$SECONDS" -ge "$deadline" ]; then
      echo "$errors" >&2
      return 1
    fi
    if [ -z "$waiting" ]; then echo "setup: waiting for another package manager (up to 10 minutes): $(grep -m 1 'Could not get lock' <<<"$errors")"; fi
    waiting=yes
    sleep 2
  done
}

echo "setup: installing with apt-get:" $missing
apt_get update -qq
apt_get install -y -qq --no-install-recommends $missing
