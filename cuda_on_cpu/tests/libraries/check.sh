#!/usr/bin/env bash
# check.sh BUILD FILE.cu WORK: compiles a program of this folder by compile.sh, which comes to WORK, and compares what it
# prints with the file beside it, whose text a GPU has printed, too (not yet that of cub). BUILD is as for compile.sh. Ends
# with 77 where the library's package is not installed.
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
name=$(basename "$2" .cu)
mkdir -p "$3"
if ! "$here/../../compile.sh" "$1" "$2" "$3/$name" 2>"$3/$name.said"; then
  cat "$3/$name.said" >&2
  ! grep -q 'sudo apt install' "$3/$name.said" || exit 77
  exit 1
fi
for streams in eager lazy; do
  STAGEWISE_CPU_STREAMS=$streams STAGEWISE_CPU_PROTECT=on "$3/$name" | diff "$here/$name.txt" -
done
