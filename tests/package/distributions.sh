#!/usr/bin/env bash
# Tries what scripts/package.sh left on other distributions: in a fresh root directory each, as an ordinary user, without a compiler.
#   tests/package/distributions.sh DIR [SUITE...]       (default: bullseye bookworm trixie jammy noble)
# Needs root, debootstrap and a network; DEBIAN and UBUNTU name other mirrors. Prints a line per suite and kind of package. Exits with 77, and tries
# nothing, if it is not root, debootstrap is missing or the mirror does not answer.
set -euo pipefail
dist=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- bullseye bookworm trixie jammy noble
debian=${DEBIAN:-http://deb.debian.org/debian} ubuntu=${UBUNTU:-http://archive.ubuntu.com/ubuntu}
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
  echo "distributions: needs root and debootstrap (scripts/setup.sh --long)"
  exit 77
fi
if ! wget --quiet --spider --tries=1 --timeout=20 "$debian/dists/bookworm/Release"; then
  echo "distributions: the mirror does not answer; DEBIAN names another one"
  exit 77
fi
scratch=$(mktemp -d)
roots=()
leave() {
  for root in "${roots[@]}"; do umount "$root/proc" || true; done
  rm -rf --one-file-system "$scratch"
}
trap leave EXIT

cat >"$scratch/try.sh" <<'TRY'
# As a user: doctor, a recorded Python, a duel of five blocks, a report.
set -eu
cd "$(mktemp -d)"
"$@" doctor >doctor
"$@" record --exact -o p.mdp -- python3 -c 'kept = [bytes(1000) for _ in range(3000)]' 2>recorded
"$@" summary p.mdp >summary
# Python's functions have names from 3.10 on.
grep -q '<listcomp>\|<module>' summary || { echo "no Python function in its summary"; exit 1; }
seq 400000 -1 1 >lines
"$@" compare --a 'sort -S 4M lines -o /dev/null' --b 'sort -S 40M lines -o /dev/null' --repeats 5 --out duel >verdict 2>progress || [ $? -eq 1 ]
grep -q regressed verdict || { echo "a buffer of 40 MB is not seen"; exit 1; }
"$@" report duel >/dev/null
grep -q '</html>' duel/report.html
TRY

failed=0
for suite in "$@"; do
  root=$scratch/$suite
  case $suite in
    jammy | noble) mirror=$ubuntu options=(--no-check-gpg --components=main,universe) script=gutsy ;;
    *) mirror=$debian options=() script=sid ;;
  esac
  if ! debootstrap --variant=minbase --include=python3,python3-venv "${options[@]}" "$suite" "$root" "$mirror" "$script" >"$scratch/$suite.log" 2>&1; then
    echo "$suite: no root directory: $(tail -n 1 "$scratch/$suite.log")"
    failed=1
    continue
  fi
  mount -t proc proc "$root/proc"
  roots+=("$root")
  chroot "$root" useradd --create-home user
  mkdir "$root/dist"
  cp "$dist"/* "$scratch/try.sh" "$root/dist/"
  libc=$(chroot "$root" ldd --version | sed -n '1s/.* //p')
  as_user() { chroot "$root" su --login user -c "$1"; }
  said() {  # said KIND COMMAND: what came of it, and how long it took
    local begin=$SECONDS
    if as_user "$2" >"$scratch/out" 2>&1; then
      echo "$suite (glibc $libc), $1: works, $((SECONDS - begin)) s"
    else
      echo "$suite (glibc $libc), $1: $(grep -v '^$' "$scratch/out" | tail -n 1)"
      # glibc 2.34 is what the packages promise.
      [ "$(printf '2.34\n%s\n' "$libc" | sort -V | head -n 1)" != 2.34 ] || failed=1
    fi
  }
  said archive 'tar -xzf /dist/memduel-*.tar.gz && sh /dist/try.sh "$PWD"/memduel-*-linux-x86_64/bin/memduel'
  said wheel 'python3 -m venv venv && venv/bin/pip install --quiet --no-index --disable-pip-version-check /dist/memduel-*.whl && sh /dist/try.sh "$PWD"/venv/bin/python -m memduel'
  if chroot "$root" sh -c 'dpkg --install /dist/memduel_*.deb' >"$scratch/deb" 2>&1; then
    said package 'sh /dist/try.sh memduel'
  else
    echo "$suite (glibc $libc), package: $(grep -m 1 'depends on' "$scratch/deb" || tail -n 1 "$scratch/deb")"
  fi
  umount "$root/proc"
  unset 'roots[-1]'
  rm -rf --one-file-system "$root"
done
exit $failed
