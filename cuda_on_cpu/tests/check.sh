#!/usr/bin/env bash
# Compiles a program of this folder by compile.sh, runs it, and says what is wrong:
#
#   check.sh BUILD FILE.cu WORK
#
# BUILD is as for compile.sh; the program comes to WORK. What is expected depends on the folder of FILE.cu:
#
#   programs           it prints what its lines say behind "//> ", in every order of the threads and the streams
#   programs/lockstep  the same, but its warps must go in lockstep, which they do in the usual order
#   programs/refused   it does not compile with -DMISTAKE=n, and a sentence is said about the line behind "//! "
#   instrumented           its variant 0 is silent, and the others are reported at the lines marked like "// 3: race"
#   counters           it prints what is counted
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
compile=$here/../compile.sh
build=$(realpath "$1")
file=$(realpath "$2")
work=$(realpath -m "$3")
name=$(basename "$file" .cu)
folder=$(basename "$(dirname "$file")")
program=$work/$name
failures=0
mkdir -p "$work"
cd "$(dirname "$file")"

fail() {
  echo "$name.cu $1"
  failures=$((failures + 1))
}

# expect CODE TEXT ARGUMENTS...: runs the program, which must end so, and have printed so.
expect() {
  local wanted=$1 text=$2 said code=0
  shift 2
  said=$("$program" "$@" 2>&1) || code=$?
  [[ $code -eq $wanted && $said == "$text" ]] ||
    fail "$*, threads ${STAGEWISE_CPU_THREAD_ORDER:-}, ended with $code and printed:
$said
instead of $wanted and:
$text"
}

check_program() {
  local order streams expected
  expected=$(sed -nE 's|^//> ?(.*)|\1|p' "$name.cu" | tr -d '\r')
  "$compile" "$build" "$name.cu" "$program"
  for order in "$@"; do
    for streams in eager lazy; do
      STAGEWISE_CPU_THREAD_ORDER=$order STAGEWISE_CPU_STREAMS=$streams expect 0 "$expected"
    done
  done
}

check_refused() {
  local number line sentence said tried=0
  while read -r number line sentence; do
    [[ $sentence == "$name.cu:"* ]] || sentence="$name.cu:$line: $sentence"
    said=$("$compile" "$build" "$name.cu" "$program" "-DMISTAKE=$number" 2>&1) && said="nothing: it compiles"
    [[ $said == "$sentence" ]] || fail "with mistake $number is told '$said' instead of '$sentence'"
    tried=$((tried + 1))
  done < <(awk '/MISTAKE == / { number = $NF; next }
    match($0, /^ *\/\/! /) { text = text " " substr($0, RLENGTH + 1); next }
    text { print number, NR, text; text = "" }' "$name.cu")
  [[ $tried -eq $(grep -c 'MISTAKE == ' "$name.cu") ]] || fail "has mistakes without a sentence"
}

# numbers FIELD: those of the lines that grep -n has found, in one line.
numbers() {
  cut -d: -f"$1" | sort -nu | xargs
}

# check_mistake VARIANT KIND ORDER
check_mistake() {
  local said code=0 words lines expected
  said=$(STAGEWISE_CPU_THREAD_ORDER=$3 "$program" "$1" 2>&1) || code=$?
  case $2 in
    race) words='nothing orders' ;;
    beyond) words='(beyond the end|before the beginning) of' ;;
    local) words='where it has written nothing' ;;
    unwritten) words='(nobody|no thread of the block) has written' ;;
    misaligned) words='not a multiple of' ;;
    copy) words='has not waited for it' ;;
    replaced) words='nothing has told the sender' ;;
    number) words='relies on having received' ;;
  esac
  expected=$(grep -nE "// (.*, )?$1: $2\b" "$name.cu" | numbers 1)
  # Where memory was allocated, or a variable declared, does not count.
  lines=$(echo "$said" | sed -E 's/(allocated in |written nothing).*//' | { grep -oE "/$name\.cu:[0-9]+" || true; } | numbers 2)
  # Of two processes, both may notice.
  [[ $said != *"another process"* ]] || said=$(head -n 1 <<<"$said")
  if [[ $code -ne 1 || $(wc -l <<<"$said") -ne 1 ]] || ! grep -qE "$words" <<<"$said" || [[ $lines != "$expected" ]]; then
    fail "$1, order $3, ended with $code instead of 1 and reported line ${lines:-none} instead of $expected ($2):
$said"
  fi
}

check_instrumented() {
  local order variant kind tried=0
  "$compile" --instrumented "$build" "$file" "$program" -DCUDA_ON_CPU_LOCALS -fno-tree-loop-im # as try.sh does
  export STAGEWISE_CPU_OBSERVE=mistakes
  for order in forward reverse random; do STAGEWISE_CPU_THREAD_ORDER=$order expect 0 "" 0; done
  while read -r variant kind; do
    check_mistake "$variant" "$kind" forward
    [[ $kind != race ]] || check_mistake "$variant" "$kind" reverse
    tried=$((tried + 1))
  done < <(sed -nE 's|.*// ([0-9]+: .*)|\1|p' "$name.cu" | tr ',' '\n' | sed 's/[: ]\+/ /g' | sort -nu)
  [[ $tried -gt 0 ]] || fail "has no marked mistake"
}

check_counters() {
  local order size arguments
  "$compile" --instrumented "$build" "$file" "$program"
  export STAGEWISE_CPU_OBSERVE=counters STAGEWISE_CPU_COUNTERS=$work/counted.csv
  for order in forward reverse random; do
    for size in 1 31 1001 4096; do
      STAGEWISE_CPU_THREAD_ORDER=$order "$program" "$size" >"$work/expected.csv" || fail "$size ended with $?"
      diff "$work/expected.csv" "$work/counted.csv" ||
        fail "$size, threads $order: the lines with < were expected, those with > counted"
    done
  done
  # What is copied in one go, and a thread that waits, however often it looks: one line each, and its argument.
  while IFS=/ read -r arguments line; do
    # shellcheck disable=SC2086 # several words
    timeout 60 "$program" 1 $arguments >"$work/expected.csv" || fail "$arguments ended with $?"
    grep -qE "$line" "$work/counted.csv" || fail "$arguments was counted otherwise: $(cat "$work/counted.csv")"
  done <<'END'
barrier/global loads,256,256,4096,256,
barrier/shared stores,2[567][0-9],
wait 1/global atomics,1,32,128,1,
wait 50/global atomics,1,32,128,1,
END
}

case $folder/$name in
  programs/refused) check_refused ;;
  programs/*) check_program forward reverse random ;;
  lockstep/*) check_program forward ;;
  instrumented/*) check_instrumented ;;
  counters/*) check_counters ;;
esac
[[ $failures -eq 0 ]]
