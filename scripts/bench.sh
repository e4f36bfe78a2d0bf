#!/usr/bin/env bash
# Runs the benchmarks of memduel's own work and of each switch of the replays, and puts their numbers into the tables of the docs.
#   scripts/bench.sh --quick        minutes
#   scripts/bench.sh --all          each benchmark for two seconds, five times: half an hour
#   scripts/bench.sh --check        whether every table says how it was made; runs nothing
# Two runs are judged by `memduel compare A.json B.json`: build/bench/ has the last ones.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case "${1:-}" in
  --quick) options=(--benchmark_min_time=0.2) ;;
  --all) options=(--benchmark_min_time=2 --benchmark_repetitions=5) ;;
  --check) exec python3 "$root/scripts/bench_tables.py" --check ;;
  *) echo "usage: bench.sh --quick | --all | --check" >&2; exit 2 ;;
esac

"$root/scripts/setup.sh" --tool --tests --fl
"$root/scripts/build.sh" release
cmake --build "$root/build/release" --target memduel-bench-tool memduel-bench-replay
bin=$root/build/release/bin
out=$root/build/bench
mkdir -p "$out"
# A program with many stacks, recorded whole.
PYTHONMALLOC=malloc "$bin/memduel" record --exact --alone -o "$out/sample.mdp" -- python3 -S -c 'x = [[i] * (i % 50) for i in range(100000)]'
for name in tool replay; do
  echo "bench: memduel-bench-$name"
  MEMDUEL_BENCH_PROFILE=$out/sample.mdp "$bin/memduel-bench-$name" "${options[@]}" --benchmark_out="$out/$name.json" --benchmark_out_format=json >"$out/$name.txt"
done
exec python3 "$root/scripts/bench_tables.py" --how "scripts/bench.sh $1" "$out/tool.json" "$out/replay.json"
