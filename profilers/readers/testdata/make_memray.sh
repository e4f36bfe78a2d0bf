#!/usr/bin/env bash
# Records memray's files of this folder anew, in DIR:  make_memray.sh [DIR]      default /opt/heap_shapes; needs memray (1.20.0) in PATH
# Debian has no package of memray: these are of the release v1.20.0, built from its sources with Cython 3.2.9 for Debian 12's Python 3.11.2 and libunwind 1.6.2.
# The numbers in the readers' tests are what memray says of its own recording (memray_totals.txt).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
place=${1:-/opt/heap_shapes}
mkdir -p "$place" && cd "$place"
cp "$here/heap_shapes.py" .
memray run --native -f -o memray.bin heap_shapes.py >/dev/null 2>&1
memray transform gprof2dot -f -o memray-gprof2dot.json memray.bin >/dev/null
memray stats --json -f -o memray-stats.json memray.bin >/dev/null
# As `memduel record --profiler memray` makes it, without native frames.
rm -rf captures && mkdir captures
MEMDUEL_PROFILER_DIR=captures PYTHONPATH=$here/../../external/memray:${PYTHONPATH:-} python3 heap_shapes.py
python3 "$here/../../external/memray/read_capture.py" captures/*[0-9] memray-capture.json
{
  echo "== memray --version"; memray --version
  echo "== memray stats memray.bin"; memray stats memray.bin
  echo "== memray summary memray.bin"; COLUMNS=140 memray summary -r 100 memray.bin
} >memray_totals.txt
cp memray-capture.json memray-gprof2dot.json memray-stats.json memray_totals.txt "$here/"
