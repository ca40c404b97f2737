#!/usr/bin/env bash
# tests/fuzz/run.sh [SECONDS [TARGET...]]: builds the fuzzing targets with clang and runs each for so
# long [60], starting from seeds/: small valid files, and some nearly valid ones. Exits with 1 if one of
# them finds an input that crashes a reader, which it leaves in build/fuzz/findings/;
# `build/fuzz/bin/fuzz_csv FILE` shows it again.
set -uo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." || exit

build=${STAGEWISE_FUZZ_BUILD:-build/fuzz}
readonly seconds=${1:-60}
shift || true
targets=("$@")
[[ ${#targets[@]} -gt 0 ]] || targets=(idx image cifar10 csv hdf5 checkpoint)

if ! type -P clang++ >/dev/null; then
  echo "tests/fuzz/run.sh: fuzzing needs clang: sudo apt install clang" >&2
  exit 1
fi
if ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
  echo "tests/fuzz/run.sh: '$seconds' is not a number of seconds" >&2
  exit 2
fi
mkdir -p "$(dirname "$build")"
if ! { cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang \
  -DCMAKE_CXX_COMPILER=clang++ -DSTAGEWISE_DEVICE=cpu -DSTAGEWISE_FUZZ=ON &&
  cmake --build "$build" --parallel 2 --target fuzz_targets; } >"$build.log" 2>&1; then
  cat "$build.log" >&2
  exit 1
fi
build=$(realpath "$build")
mkdir -p "$build/findings"

# The HDF5 library loses some memory where a file is damaged; that is not ours to find.
echo "leak:libhdf5" >"$build/suppressions"
export LSAN_OPTIONS=suppressions=$build/suppressions:print_suppressions=0
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1

# fuzz TARGET: in rounds, each a new process, because of the memory that the library loses. What it
# asks for without ever touching it (malloc_limit_mb) harms nobody.
# Leaks are looked for at the end of each round: after each input (detect_leaks), that would take
# most of the time, as HDF5 does not give back all that it takes.
fuzz() {
  local target=$1 end=$((SECONDS + seconds)) runs=0 left
  mkdir -p "$build/corpus/$target"
  while left=$((end - SECONDS)) && [[ $left -gt 0 ]]; do
    if ! "$build/bin/fuzz_$target" -max_total_time=$((left < 20 ? left : 20)) -max_len=16384 -timeout=10 \
      -rss_limit_mb=4096 -malloc_limit_mb=1000000000 -detect_leaks=0 -print_final_stats=1 \
      -artifact_prefix="$build/findings/$target-" "$build/corpus/$target" "tests/fuzz/seeds/$target" \
      >"$build/$target.log" 2>&1; then
      echo "fuzz $target: a finding, see $build/findings/ and the end of $build/$target.log:"
      tail -n 60 "$build/$target.log"
      return 1
    fi
    runs=$((runs + $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$target.log")))
  done
  echo "fuzz $target: $runs inputs in $seconds s, no finding"
}

failed=0
for target in "${targets[@]}"; do
  fuzz "$target" || failed=1
done
exit "$failed"
