#!/usr/bin/env bash
# Makes every mistake, does the same work in the right way, and says what is reported otherwise than NAME.txt shows:
#
#   check.sh MISTAKES COMPILER [address]
#
# MISTAKES is the program, COMPILER what CMake calls the compiler, and the third argument says that AddressSanitizer is in.
set -euo pipefail

program=$(realpath "$1")
compiler=$2
sanitizer=${3:-none}
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0
export STAGEWISE_CPU_WORKERS=1 # so that the first error is always the same one
unset STAGEWISE_CPU_PROTECT STAGEWISE_CPU_STREAMS STAGEWISE_CPU_STRICT_BARRIERS STAGEWISE_CPU_THREAD_ORDER

# Mistakes that show only where this is set.
declare -A needed=(
  [host_access]=STAGEWISE_CPU_PROTECT=on
  [missing_barrier]=STAGEWISE_CPU_THREAD_ORDER=reverse
  [missing_event]=STAGEWISE_CPU_STREAMS=lazy
  [missing_wait]=STAGEWISE_CPU_STREAMS=lazy)

# run SETTINGS ARGUMENTS...: runs the program with these variables. Its exit code is in $code, what it says in out and err.
run() {
  code=0
  ran="$*"
  # shellcheck disable=SC2086 # several variables
  timeout 300 env $1 "$program" "${@:2}" >out 2>err || code=$?
}

# fail WHAT: this was wrong with the last run.
fail() {
  echo "mistakes $ran: $1; it ended with $code and said:"
  cat out err
  failures=$((failures + 1))
}

# lines_of SNIPPET TEXT: the numbers of the lines of this snippet of memory.cu that contain the text, if any is given.
lines_of() {
  awk -v mark="//! [$1]" -v text="$2" '$0 == mark { inside = !inside } inside && (!text || index($0, text)) { print NR }' \
    "$here/memory.cu"
}

check_mistake() {
  local name=$1 part line shown
  if [[ $compiler == Clang && $name == misaligned ]]; then
    echo "Skipped: the mistake misaligned, as clang does not check the copy of a vector"
    return
  fi
  run "${needed[$name]:-}" "$name"
  [[ ! -s out ]] || fail "it prints results"
  if [[ $sanitizer == address && $name =~ ^(misaligned|null_pointer|stack_overflow|wild_index)$ ]]; then
    [[ $code -ne 0 ]] || fail "no error" # AddressSanitizer sees it first, or stacks differ
    for part in "kernel '" "', block (0, 0, 0), thread (" .cu; do grep -qF "$part" err || fail "no '$part'"; done
    return
  fi
  sed -E 's/0x[0-9a-f]{9,}/0x7f.../g' err >said # addresses vary from run to run
  if [[ $name == stack_overflow ]]; then        # which of its lines needs too much, the compiler decides
    shown=$(grep -oE 'memory\.cu:[0-9]+:' "$here/$name.txt" | head -n 1)
    for line in $(lines_of "$name" ''); do sed -i "s/memory\.cu:$line:/$shown/" said; done
  fi
  [[ $code -eq 1 ]] || fail "not exit code 1"
  diff said "$here/$name.txt" || fail "the documentation shows what is behind >"
}

check_cure() {
  local name=$1 order streams
  for order in forward reverse random; do
    for streams in eager lazy; do
      if [[ $sanitizer == address && "$order $streams" =~ ^(forward eager|reverse lazy|random lazy)$ ]]; then
        continue # takes long
      fi
      run "${needed[$name]:-} STAGEWISE_CPU_THREAD_ORDER=$order STAGEWISE_CPU_STREAMS=$streams" "$name" --cured
      [[ $code -eq 0 && ! -s err ]] || fail "it is right"
    done
  done
}

for text in "$here"/[a-z]*.txt; do
  check_mistake "$(basename "$text" .txt)"
  check_cure "$(basename "$text" .txt)"
done
for name in "${!needed[@]}"; do
  run "" "$name"
  [[ $code -eq 0 ]] || fail "it shows without ${needed[$name]}"
done
for seed in 1 2 3; do
  run "STAGEWISE_CPU_THREAD_ORDER=random STAGEWISE_CPU_SEED=$seed" missing_barrier
  { [[ $code -eq 1 ]] && grep -qF 'is nan, but should be' err; } || fail "it should show in this order"
done
if [[ $sanitizer == address ]]; then
  run "" beyond_shared
  line=$(lines_of beyond_shared '= x[i + 1]')
  [[ $code -ne 0 && $line =~ ^[0-9]+$ ]] || fail "no error"
  for part in "kernel 'differences', block (0, 0, 0), thread (63, 0, 0)" "memory.cu:$line:"; do
    grep -qF "$part" err || fail "no '$part'"
  done
  run "" beyond_shared --cured
  [[ ! -s err ]] || fail "it is right"
fi
# The program lists its mistakes.
run "" none
[[ $code -eq 2 ]] || fail "not exit code 2"
{ basename -as .txt "$here"/[a-z]*.txt && echo beyond_shared; } | LC_ALL=C sort >names
sed -n 's/^  //p' err | diff - names || fail "its mistakes are those with a text, behind >"
[[ $failures -eq 0 ]]
