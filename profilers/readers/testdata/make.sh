#!/usr/bin/env bash
# Records the files of this folder anew (all but memray's) with Debian 12's tools, in DIR, whose name ends up inside them:
#   make.sh [DIR]      default /opt/heap_shapes; needs memduel in PATH, golang-go google-perftools libgoogle-perftools-dev libjemalloc-dev heaptrack
# The numbers in the readers' tests are what heaptrack_print, google-pprof, go tool pprof and jeprof say of them (totals.txt).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
place=${1:-/opt/heap_shapes}
mkdir -p "$place" && cd "$place"
cp "$here"/*.cpp "$here"/*.go .
build() { g++ -g -O1 -fno-inline -fno-optimize-sibling-calls -fno-omit-frame-pointer heap_shapes.cpp "$@"; }

build -o shapes
memduel record --exact -o shapes.mdp -- ./shapes
heaptrack -r -o raw ./shapes >/dev/null
zstd -dc raw.raw.zst | /usr/lib/heaptrack/libexec/heaptrack_interpret 2>raw.stats | gzip -9n >heaptrack.gz
mv raw.raw.zst heaptrack.raw.zst
heaptrack_print -f heaptrack.gz -F heaptrack.folded --flamegraph-cost-type peak >/dev/null

build -ltcmalloc -o shapes_gperftools
HEAPPROFILE=$place/exact ./shapes_gperftools 2>/dev/null
HEAPPROFILE=$place/cut ./shapes_gperftools branch 2>/dev/null
build -DDUMP dump_gperftools.cpp -ltcmalloc -o shapes_sampled
TCMALLOC_SAMPLE_PARAMETER=100000 ./shapes_sampled >sampled.heap

build -ljemalloc -o shapes_jemalloc
MALLOC_CONF=prof:true,prof_accum:true,prof_final:true,lg_prof_sample:14,prof_prefix:$place/je ./shapes_jemalloc

GOCACHE=$place/cache go build -o shapes_go heap_shapes.go
./shapes_go
mv cpu.pb.gz go_cpu.pb.gz
mv heap.pb.gz go_heap.pb.gz

mv "$(ls exact.*.heap | tail -1)" gperftools.heap
gzip -9nc "$(ls cut.*.heap | tail -1)" >gperftools-cut.heap.gz
mv je.*.heap jemalloc.heap
{
  echo "== heaptrack_print heaptrack.gz"; heaptrack_print -f heaptrack.gz | tail -7
  echo "== heaptrack_interpret of heaptrack.raw.zst"; cat raw.stats
  for kind in inuse_space inuse_objects alloc_space alloc_objects; do
    echo "== google-pprof --text --$kind gperftools.heap"; google-pprof --text --show_bytes --$kind shapes_gperftools gperftools.heap 2>/dev/null
    echo "== google-pprof --text --$kind sampled.heap"; google-pprof --text --show_bytes --$kind shapes_sampled sampled.heap 2>/dev/null
    echo "== jeprof --text --$kind jemalloc.heap"; jeprof --text --show_bytes --$kind shapes_jemalloc jemalloc.heap 2>/dev/null
  done
  echo "== google-pprof --text --inuse_space gperftools-cut.heap.gz"; gzip -dc gperftools-cut.heap.gz >cut.heap
  head -1 cut.heap; google-pprof --text --show_bytes --inuse_space shapes_gperftools cut.heap 2>/dev/null | head -4
  for kind in inuse_space inuse_objects alloc_space alloc_objects; do
    echo "== go tool pprof -top -sample_index=$kind go_heap.pb.gz"; go tool pprof -top -unit=b -sample_index=$kind go_heap.pb.gz 2>/dev/null
  done
  echo "== go tool pprof -top go_cpu.pb.gz"; go tool pprof -top go_cpu.pb.gz 2>/dev/null
} >totals.txt
cp go_cpu.pb.gz go_heap.pb.gz heaptrack.folded heaptrack.gz heaptrack.raw.zst shapes.mdp gperftools.heap gperftools-cut.heap.gz sampled.heap jemalloc.heap totals.txt "$here/"
# Small enough to keep: its names, for the functions that jeprof lists.
objcopy --strip-debug shapes_jemalloc "$here/shapes_jemalloc"
