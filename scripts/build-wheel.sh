#!/usr/bin/env bash
# Makes a Python wheel of an installed tool: its programs as they are, memduel_annotate, and `python -m memduel`.
#   scripts/build-wheel.sh PREFIX DIR        what cmake --install left in PREFIX, as DIR/memduel-VERSION-py3-none-PLATFORM.whl
# Needs Debian's python3-wheel and binutils. The platform is manylinux of the newest glibc symbol that the programs need.
set -euo pipefail
if [ $# -ne 2 ]; then
  echo "usage: build-wheel.sh PREFIX DIR" >&2
  exit 2
fi
prefix=$1 out=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
version=$("$prefix/bin/memduel" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

package=$tree/memduel
mkdir -p "$package/bin" "$package/lib"
cp "$prefix/bin/memduel" "$package/bin/"
cp -r "$prefix/lib/memduel" "$package/lib/"
mapfile -t binaries < <(find "$package/bin" "$package/lib" -type f ! -name memduel-upgrade-config ! -name '*.py')  # those are scripts
strip "${binaries[@]}"
cp "$root"/scripts/wheel/*.py "$package/"
cp "$prefix/include/memduel/memduel_annotate.py" "$tree/"

# objdump fails for the launcher, which is static.
newest=$({ objdump -T "${binaries[@]}" 2>/dev/null || true; } | grep -oE 'GLIBC_2\.[0-9]+' | sort -Vu | tail -n 1)
platform=manylinux_2_${newest#GLIBC_2.}_x86_64

about=$tree/memduel-$version.dist-info
mkdir "$about"
cat >"$about/METADATA" <<TEXT
Metadata-Version: 2.1
Name: memduel
Version: $version
Summary: Does this change make a program use less memory? Duels of builds, commands and jobs
License: Apache-2.0
Requires-Python: >=3.8
Description-Content-Type: text/markdown

$(cat "$root/README.md")
TEXT
cat >"$about/WHEEL" <<TEXT
Wheel-Version: 1.0
Generator: memduel build-wheel.sh
Root-Is-Purelib: false
Tag: py3-none-$platform
TEXT
printf '[console_scripts]\nmemduel = memduel.__main__:main\n' >"$about/entry_points.txt"
cp "$root/LICENSE" "$about/"
mkdir -p "$out"
/usr/bin/python3 -m wheel pack "$tree" --dest-dir "$out" >/dev/null
ls "$out"/memduel-"$version"-*.whl
