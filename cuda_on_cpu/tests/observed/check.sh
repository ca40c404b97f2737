#!/usr/bin/env bash
# Compiles the programs of this folder with their accesses reported, and runs each variant of them with the checks:
#
#   check.sh BUILD WORK [NAME...]
#
# BUILD is as for compile.sh; the programs come to WORK. In a program, "// 3: race" marks the lines that the report about
# its variant 3 must name, for a race both lines, else the access. Variant 0 must be silent in every order of the threads.
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
build=$1
work=$2
shift 2
mkdir -p "$work"
cd "$here"
if [[ $# -ne 1 ]]; then # one after another on each processor
  names=("$@")
  [[ $# -gt 0 ]] || mapfile -t names < <(basename -s .cu ./*.cu)
  printf '%s\n' "${names[@]}" | xargs -P 2 -I {} "$here/check.sh" "$build" "$work" {}
  exit
fi
name=$1
failures=0
export STAGEWISE_CPU_OBSERVE=mistakes

fail() {
  echo "$name $1"
  failures=$((failures + 1))
}

# numbers: those of the lines that grep -n has found, in one line.
numbers() {
  cut -d: -f"$1" | sort -nu | xargs
}

# check_mistake VARIANT KIND ORDER
check_mistake() {
  local said code=0 words lines expected
  said=$(STAGEWISE_CPU_THREAD_ORDER=$3 "$work/$name" "$1" 2>&1) || code=$?
  case $2 in
    race) words='nothing orders' ;;
    beyond) words='(beyond the end|before the beginning) of' ;;
    unwritten) words='(nobody|no thread of the block) has written' ;;
    misaligned) words='not a multiple of' ;;
    copy) words='has not waited for it' ;;
    replaced) words='nothing has told the sender' ;;
    number) words='relies on having received' ;;
  esac
  expected=$(grep -nE "// (.*, )?$1: $2\b" "$name.cu" | numbers 1)
  # Where memory was allocated does not count.
  lines=$(echo "${said/allocated in */}" | { grep -oE "/$name\.cu:[0-9]+" || true; } | numbers 2)
  # Of two processes, both may notice.
  [[ $said != *"another process"* ]] || said=$(head -n 1 <<<"$said")
  if [[ $code -ne 1 || $(wc -l <<<"$said") -ne 1 ]] || ! grep -qE "$words" <<<"$said" || [[ $lines != "$expected" ]]; then
    fail "$1, order $3, ended with $code instead of 1 and reported line ${lines:-none} instead of $expected ($2):
$said"
  fi
}

"$here/../../compile.sh" --observed "$build" "$here/$name.cu" "$work/$name"
for order in forward reverse random; do
  code=0
  said=$(STAGEWISE_CPU_THREAD_ORDER=$order "$work/$name" 0 2>&1) || code=$?
  [[ $code -eq 0 && -z $said ]] || fail "0, order $order, ended with $code and said: $said"
done
mistakes=0
while read -r variant kind; do
  mistakes=$((mistakes + 1))
  check_mistake "$variant" "$kind" forward
  [[ $kind != race ]] || check_mistake "$variant" "$kind" reverse
done < <(sed -nE 's|.*// ([0-9]+: .*)|\1|p' "$name.cu" | tr ',' '\n' | sed 's/[: ]\+/ /g' | sort -nu)
echo "$name: $mistakes mistakes, $failures failures"
[[ $failures -eq 0 ]]
