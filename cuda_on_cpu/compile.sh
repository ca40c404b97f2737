#!/usr/bin/env bash
# Compiles a CUDA program that is one file, as nvcc would, to run on the CPU:
#
#   compile.sh BUILD FILE.cu PROGRAM [OPTIONS OF THE COMPILER]
#
# BUILD is the folder where this project has been built, with the runtime and the translator in it. Headers that
# the file includes by "..." are translated as well. The compiler is that of CXX, else c++.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
file=$(realpath "$2")
program=$3
shift 3

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# translate FILE: the C++ of it and of the headers beside it, at the same place below $work.
translate() {
  local source=$1 target=$work$1 header
  [[ $source == *.cu ]] && target+=.cpp
  [[ ! -e $target ]] || return 0
  "$build/cuda_on_cpu_translate" "$source" "$target"
  while IFS= read -r header; do
    header=$(realpath --quiet "$(dirname "$source")/$header") || continue
    [[ ! -f $header ]] || translate "$header"
  done < <(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]+)".*/\1/p' "$source")
}
translate "$file"

# nvcc includes the runtime's header by itself, and is silent about most of what a compiler could say. Accesses are
# checked for alignment, which is cheap from -O2 on.
"${CXX:-c++}" -std=gnu++20 -O2 -g1 -fsanitize=alignment -w -I "$here/include" -include cuda_runtime.h \
  -iquote "$(dirname "$file")" "$work$file.cpp" "$@" -o "$program" "$build/libcuda_on_cpu.a" -lboost_context -ldw -ldl -pthread
