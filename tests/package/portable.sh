#!/usr/bin/env bash
# Looks at what scripts/package.sh left: which libraries and glibc the programs need, and whether archive and wheel work.
#   tests/package/portable.sh DIR
set -euo pipefail
shopt -s nullglob
dist=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "portable: $*" >&2; exit 1; }

tar -xzf "$dist"/memduel-*-linux-x86_64.tar.gz -C "$scratch"
tool=$(echo "$scratch"/memduel-*-linux-x86_64)
programs=("$tool/bin/memduel" "$tool"/lib/memduel/*)
[ ${#programs[@]} -ge 5 ] || fail "found ${programs[*]}, expected memduel, its launcher and three libraries"
for program in "${programs[@]}"; do
  [[ -f $program && ${program##*/} != memduel-upgrade-config ]] || continue  # scripts
  newest=$({ objdump -T "$program" 2>/dev/null | grep -oE 'GLIBC_2\.[0-9]+' || true; } | sort -Vu | tail -n 1)  # none of the static launcher
  [ "$(printf '%s\nGLIBC_2.34\n' "$newest" | sort -V | tail -n 1)" = GLIBC_2.34 ] || fail "$program needs $newest, expected GLIBC_2.34 or older"
  others=$(objdump -p "$program" | awk '$1 == "NEEDED" { print $2 }' | grep -vE '^(libc\.so\.6|libm\.so\.6|libgcc_s\.so\.1|ld-linux-x86-64\.so\.2)$' || true)
  [ -z "$others" ] || fail "$program needs $others, expected the C library alone"
done

works() {  # works COMMAND...: records Python, duels for five blocks and reports
  local run=$scratch/$RANDOM
  "$@" doctor >"$run.doctor"
  grep -q 'recorder' "$run.doctor" || fail "doctor of $* does not name the recorder"
  "$@" record --exact -o "$run.mdp" -- /usr/bin/python3 -c 'kept = [bytes(1000) for _ in range(3000)]' 2>"$run.said"
  grep -q 'peak [0-9.]* [KM]iB' "$run.said" || fail "record of $* says $(cat "$run.said")"
  "$@" summary "$run.mdp" >"$run.summary"
  grep -q '<listcomp>\|<module>' "$run.summary" || fail "summary of $* names no Python function"
  "$@" compare --a 'sort /etc/services' --b 'sort -S 40M /etc/services' --repeats 5 --quiet --out "$run" >/dev/null
  grep -q '</html>' "$run/report.html" || fail "$* wrote no report"
}

works "$tool/bin/memduel"
/usr/bin/python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --no-index --disable-pip-version-check "$dist"/memduel-*.whl
works "$scratch/venv/bin/memduel"
works "$scratch/venv/bin/python" -m memduel
"$scratch/venv/bin/python" -c 'import memduel_annotate'
depends=$(dpkg-deb --field "$dist"/memduel_*.deb Depends)
[[ $depends == "libc6 (>= 2.34)"* ]] || fail "the Debian package depends on $depends, expected libc6 (>= 2.34)"
echo "portable: archive, wheel and package work, from glibc 2.34 on"
