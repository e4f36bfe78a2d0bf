#!/usr/bin/env bash
# Downloads the published MNIST and CIFAR-10 files with checksums, for people who have a network. The quick start needs neither:
# workloads/data/datasets/ holds MNIST's test set.
#   scripts/fetch-datasets.sh [mnist] [cifar10]      both without arguments; into ${MEMDUEL_DATA_DIR:-data/ in the checkout}
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=${MEMDUEL_DATA_DIR:-data}

# fetch URL FILE MD5: keeps a file that is there and right; leaves no half file.
fetch() {
  local url=$1 file=$2 md5=$3
  if [ -f "$file" ] && echo "$md5  $file" | md5sum --check --status; then return; fi
  echo "fetching $url" >&2
  curl --fail --location --silent --show-error --max-time 1800 --output "$file.part" "$url"
  if ! echo "$md5  $file.part" | md5sum --check --status; then
    echo "fetch-datasets: $url: expected md5 $md5, found $(md5sum <"$file.part" | cut -d' ' -f1)" >&2
    rm -f "$file.part"
    exit 4
  fi
  mv "$file.part" "$file"
}

mnist() {
  local base=https://ossci-datasets.s3.amazonaws.com/mnist
  mkdir -p "$target/mnist"
  fetch $base/train-images-idx3-ubyte.gz "$target/mnist/train-images-idx3-ubyte.gz" f68b3c2dcbeaaa9fbdd348bbdeb94873
  fetch $base/train-labels-idx1-ubyte.gz "$target/mnist/train-labels-idx1-ubyte.gz" d53e105ee54ea40749a09fcbcd1e9432
  fetch $base/t10k-images-idx3-ubyte.gz "$target/mnist/t10k-images-idx3-ubyte.gz" 9fb629c4189551a2d022fa330f9573f3
  fetch $base/t10k-labels-idx1-ubyte.gz "$target/mnist/t10k-labels-idx1-ubyte.gz" ec29112dd5afa0611ce80d1b7f02629c
}

cifar10() {
  mkdir -p "$target/cifar10"
  fetch https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz "$target/cifar10/cifar-10-binary.tar.gz" c32a1d4ab5d03f1284b67883e8d87530
  local unpacked="$target/cifar10/unpacked.part"  # so that no file is there in part
  rm -rf "$unpacked"
  mkdir "$unpacked"
  tar --extract --gzip --file "$target/cifar10/cifar-10-binary.tar.gz" --directory "$unpacked" --strip-components=1
  mv "$unpacked"/* "$target/cifar10/"
  rmdir "$unpacked"
}

if [ $# -eq 0 ]; then set -- mnist cifar10; fi
for name in "$@"; do
  case "$name" in
    mnist | cifar10) "$name" ;;
    *) echo "usage: fetch-datasets.sh [mnist] [cifar10]" >&2; exit 2 ;;
  esac
done
