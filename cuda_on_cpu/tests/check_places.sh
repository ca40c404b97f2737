#!/usr/bin/env bash
# Says what is wrong with the program `translate`, and with what a compiler and a debugger say about its translations:
#
#   check_places.sh TRANSLATE FORMS COMPILER
#
# FORMS is the program test_forms.
set -euo pipefail

translate=$(realpath "$1")
forms=$(realpath "$2")
compiler=$3
include=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../include
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
here=$(pwd -P)
failures=0

fail() {
  echo "$1"
  failures=$((failures + 1))
}

# expect CODE TEXT ARGUMENTS...: the translator ends so, and says this.
expect() {
  local said code=0
  said=$(timeout 300 "$translate" "${@:3}" 2>&1) || code=$?
  [[ $code -eq $1 && $said == "$2" ]] || fail "translate ${*:3} ended with $code instead of $1 and said '$said'"
}

# compile CHANGE: what the compiler says about the translation of `right`, changed by sed, comes to $said.
compile() {
  sed "$1" right >wrong.cu
  expect 0 "" wrong.cu out/wrong.cu.cpp
  said=$(timeout 300 "$compiler" -std=c++20 -fsyntax-only "-I$include" out/wrong.cu.cpp 2>&1) || true
}

cat >right <<'END'
#include <cuda_runtime.h>
__global__ void kernel(int* x, int n) {
  __shared__ int tile[4],
      other;
}
void launch(int* x) {
  kernel<<<1,
           2>>>(
      x, 3);
}
END
compile ''
[[ -z $said ]] || fail "what is right is compiled with: $said"
# The last one is a launch without its last argument.
while IFS='|' read -r place change; do
  compile "$change"
  [[ $said == *"$here/wrong.cu:$place"* ]] || fail "with '$change', line $place is not named: $said"
done <<'END'
5:|4a\  tile[0] = wrong;
10:3: error|9a\  wrong();
8:|s/, 3//
END

usage='Usage: translate [--preprocessed] INPUT OUTPUT [INPUT WITH __CUDA_ARCH__]'
expect 2 "$usage"
expect 2 "$usage" a b c
expect 1 "$here/missing.cu cannot be read" missing.cu out.cpp
printf '\nvoid f() { k<<<1, 2>>>; }\n' >wrong.cu
expect 1 "$here/wrong.cu:2: a launch needs its arguments in parentheses behind >>>" wrong.cu out.cpp
[[ ! -e out.cpp ]] || fail "a file that is refused has a translation"
: >empty.cu
expect 1 "/dev/full cannot be written" empty.cu /dev/full

# The debugger stops in the original. The line with its folders is printed where the program stops, and nowhere else.
if ! type -P gdb >/dev/null; then
  echo "Skipped: gdb is not installed (sudo apt install gdb)"
else
  timeout 300 gdb -nx -batch -ex "set debuginfod enabled off" -ex "break neighbour.cuh:15" -ex run -ex backtrace \
    --args "$forms" '--gtest_filter=All/Forms.*/Header' >out.txt 2>err.txt || true
  if grep -q ptrace err.txt; then
    echo "Skipped: gdb may not trace programs here: $(<err.txt)"
  else
    grep -qF forms/neighbour.cuh:15 out.txt || fail "the debugger stops elsewhere: $(cat out.txt err.txt)"
  fi
fi
[[ $failures -eq 0 ]]
