#!/usr/bin/env bash
# Compiles and runs a single-file CUDA program, or looks for mistakes in it. "try.sh --help" says how.
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

# fail SENTENCE EXIT-CODE
fail() {
  printf 'try: %s\n' "$1" >&2
  exit "$2"
}

# say TEXT: on standard output, whose disk may be full.
say() { printf '%s\n' "$1" 2>/dev/null || fail "Standard output could not be written to." 1; }

help() {
  say "$(
    cat <<'END'
Compiles a CUDA program in a single file, with main, and runs it: on a GPU, or with CUDA on the CPU.

  try FILE.cu [--check | --count] [-I FOLDER] [-D NAME[=VALUE]] [-- ARGUMENTS OF THE PROGRAM]

  --check      runs it several times, always with CUDA on the CPU: threads in three orders, with eager and lazy
               streams, device memory unreadable for the host; once with every access to memory checked, for races,
               reads of what nobody has written and bounds; and once with AddressSanitizer. Says what each run found,
               and whether all print the same.
  --count      runs it with CUDA on the CPU, and prints what its kernels ask of memory, by line: requests of warps,
               sectors of global memory for each, bank conflicts in shared memory, lanes that take part
  -I, -D       passed to the compiler
  --build DIR  the folder in which CUDA on the CPU is built, once [cuda_on_cpu/build/try]
  --gpu        compiles with nvcc, and runs on this machine's GPU

The exit code is the program's. With --check it is 0 if nothing was found, else 1. Wrong usage gives 2.
END
  )"
}

# find_nvcc: prints where the compiler for GPUs is. Like CMake, it prefers the one that CUDACXX names.
find_nvcc() {
  if [[ -n ${CUDACXX:-} ]]; then
    type -P "$CUDACXX" || fail "There is no $CUDACXX, which CUDACXX names." 1
  else
    type -P nvcc || type -P /usr/local/cuda/bin/nvcc ||
      fail "There is no nvcc on the PATH or in /usr/local/cuda/bin; it comes with the CUDA Toolkit, and CUDACXX may name it." 1
  fi
}

# ---------------------------------------------------------------------------------------------------
# The command line

build=$here/build/try
gpu=no
check=no
count=no
prepare=no
file=''
options=()
arguments=()
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help)
      help
      exit 0
      ;;
    --check) check=yes ;;
    --count) count=yes ;;
    --prepare) prepare=yes ;; # only builds CUDA on the CPU
    --nvcc)
      find_nvcc
      exit
      ;;
    --gpu) gpu=yes ;;
    --build | -I | -D)
      [[ $# -ge 2 ]] || fail "The option $1 needs a value after it." 2
      if [[ $1 == --build ]]; then build=$2; else options+=("$1$2"); fi
      shift
      ;;
    -I* | -D*) options+=("$1") ;;
    --)
      shift
      arguments=("$@")
      break
      ;;
    -*) fail "Unknown option '$1'; --help lists the options. Arguments of the program come after --." 2 ;;
    *)
      [[ -z $file ]] || fail "There are two files, $file and $1; arguments of the program come after --." 2
      file=$1
      ;;
  esac
  shift
done
[[ -n $file || $prepare == yes ]] || fail "Which program? For example: try my.cu" 2
[[ -e $file || $prepare == yes ]] || fail "There is no file $file here ($PWD)." 2
[[ $prepare == yes || (-f $file && $file == *.cu) ]] || fail "$file is no .cu file; only a CUDA program in a single file can be tried." 2
[[ $prepare == yes || -r $file ]] || fail "$file cannot be read." 2
[[ $count == no || $check == no ]] || fail "One of --check and --count at a time." 2
[[ $count == no || $gpu == no ]] || fail "--count is for CUDA on the CPU; on a GPU, Nsight Compute (ncu) counts." 2
name=${file##*/}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'printf "\ntry: %s was interrupted.\n" "$name" >&2; exit 130' INT
trap 'exit 143' TERM
program=$work/${name%.cu}

# ---------------------------------------------------------------------------------------------------
# Compiling

# build_runtime FOLDER OPTIONS OF CMAKE...: quiet, and quick if nothing has changed.
build_runtime() {
  local folder=$1 log=$1/try.log generator=() how=''
  shift
  { mkdir -p "$folder" && [[ -w $folder ]]; } 2>/dev/null ||
    fail "The folder $folder, where CUDA on the CPU is built, cannot be written to; copy the project to a folder of your own." 1
  if type -P flock >/dev/null; then # one at a time
    exec 9>"$folder/try.lock"
    flock 9
  fi
  if [[ ! -e $folder/CMakeCache.txt ]]; then
    if [[ $folder == *-asan ]]; then
      set -- "$@" -DCUDA_ON_CPU_SANITIZER=address
      how=' with AddressSanitizer'
    fi
    type -P ninja >/dev/null && generator=(-G Ninja)
    echo "==> Building CUDA on the CPU$how, once; up to a minute on two processors" >&2
    if ! cmake -S "$here" -B "$folder" "${generator[@]}" -DBUILD_TESTING=OFF "$@" >"$log" 2>&1; then
      rm -f "$folder/CMakeCache.txt"
      grep -A3 'CMake Error' "$log" >&2 || cat "$log" >&2
      fail "CUDA on the CPU cannot be built here; the reason is above." 1
    fi
  fi
  cmake --build "$folder" --parallel "$(nproc)" --target cuda_on_cpu cuda_on_cpu_translate >"$log" 2>&1 || {
    cat "$log" >&2
    fail "CUDA on the CPU did not build; the compiler's messages are above." 1
  }
  exec 9>&-
}

# compile [--instrumented] FOLDER PROGRAM OPTIONS...
compile() {
  local instrumented=()
  if [[ $1 == --instrumented ]]; then
    instrumented=(--instrumented)
    shift
  fi
  local folder=$1 target=$2
  shift 2
  "$here/compile.sh" "${instrumented[@]}" "$folder" "$file" "$target" "$@" "${options[@]}" || fail "$name does not compile." 1
}

# ---------------------------------------------------------------------------------------------------
# Running

# signal_of EXIT-CODE: the name of the signal that it stands for, if it is one that ends programs; others are results.
signal_of() {
  [[ $1 -gt 128 && $1 -le 159 ]] && kill -l "$(($1 - 128))" 2>/dev/null | grep -xE 'SEGV|ABRT|FPE|KILL|BUS|ILL|TRAP|PIPE|TERM|INT'
}

# run PROGRAM: as if it were here. The shell's own message about a signal is suppressed.
run() {
  { (exec -a "./${name%.cu}" "$1" "${arguments[@]}" 2>&3); } 3>&2 2>/dev/null
}

# ended EXIT-CODE: how the program ended, in words.
ended() {
  local signal
  if signal=$(signal_of "$1"); then
    case $signal in
      SEGV) echo "ended with a segmentation fault: its host code accesses invalid memory" ;;
      ABRT) echo "was aborted: by abort(), by an assertion of the host, or by an uncaught exception" ;;
      FPE) echo "ended with an arithmetic error: perhaps an integer division by zero" ;;
      KILL) echo "was killed, perhaps because it used too much memory" ;;
      *) echo "was ended by signal $signal" ;;
    esac
  elif [[ $1 =~ ^(188|189|198|204|207|208)$ ]]; then
    echo "ended with exit code $1, perhaps for CUDA's error $(($1 + 512)): an exit code is modulo 256"
  else
    echo "ended with exit code $1"
  fi
}

run_once() {
  local code=0
  if [[ $gpu == yes ]]; then
    echo "==> $name, on the GPU" >&2
    local nvcc
    nvcc=$(find_nvcc)
    "$nvcc" -std=c++17 -O2 -lineinfo -arch=native "${options[@]}" "$file" -o "$program" >&2 ||
      fail "$name does not compile." 1
  else
    build_runtime "$build"
    echo "==> $name, on CUDA on the CPU" >&2
    if [[ $count == yes ]]; then
      compile --instrumented "$build" "$program"
      export STAGEWISE_CPU_OBSERVE=counters
    else
      compile "$build" "$program"
    fi
  fi
  run "$program" || code=$?
  if [[ $code -ne 130 && $(ended "$code") != *" exit code $code" ]]; then
    fail "$name $(ended "$code"). The option --check may say where." "$code"
  fi
  exit "$code"
}

# ---------------------------------------------------------------------------------------------------
# Checking

# Times, rates and addresses differ from run to run; the comparison ignores them.
stable() {
  sed -E 's/[0-9]+([.][0-9]*)?(e[-+]?[0-9]+)? *(n|u|µ|m)?s(ec(ond)?s?)?\>/TIME/gI
          s/[0-9]+([.][0-9]*)?(e[-+]?[0-9]+)? *[kmgt]?(i?b|flops?)(\/s|ps)?\>/RATE/gI
          s/0x[0-9a-f]{5,}/ADDRESS/g
          s/\x1e//g' "$1"
}

# first_difference USUAL AGAIN OTHER: the first line in which the third differs from the first two, with its number.
first_difference() {
  awk -v again=<(stable "$2") -v other=<(stable "$3") '
    { more_again = (getline a < again) > 0; more = (getline o < other) > 0
      if (a != $0 || !more_again) next
      if (!more) { print NR "\t" $0 "\t(nothing)"; done = 1; exit }
      if (o != $0) { print NR "\t" $0 "\t" o; done = 1; exit } }
    END { if (!done && (getline o < other) > 0 && !((getline a < again) > 0)) print NR + 1 "\t(nothing)\t" o }' <(stable "$1")
}

# findings FILE: the sentences about mistakes in the output, without stack traces.
findings() {
  grep -E '^CUDA on the CPU: |ERROR: AddressSanitizer|: runtime error: ' "$1" |
    sed -E 's/^==[0-9]+==//; s/^ERROR: AddressSanitizer: ([a-z-]+) .*/AddressSanitizer: \1/; s/ \(pc .*//' | head -n 4 || true
  # Where AddressSanitizer detected it: the first line that is in the program itself.
  sed -nE "/ERROR: AddressSanitizer/,\$s/^ +#[0-9]+ .* in (.*) ([^ ]*${name//./\\.}:[0-9]+).*/  in \1, \2/p" "$1" | head -n 1
}

# sorted FILE: the host's lines as they are, then the kernels' in order. The latter have the mark of src/printing.cpp.
sorted() {
  { grep -av $'\x1e' "$1" || true; } | stable -
  { grep -a $'\x1e' "$1" || true; } | stable - | sort
}

# in_other_order NUMBER: does that run print the same lines as the first, and only its kernels do so in another order?
in_other_order() {
  cmp -s <(sorted "$work/0.out") <(sorted "$work/$1.out")
}

# without_numbers: a finding without what differs from run to run, to know it again.
without_numbers() {
  sed -E 's/0x[0-9a-f]+|\(address 0\)/ADDRESS/g; s/\(address ADDRESS\)/ADDRESS/g; s/(block|thread) \([0-9, ]+\)/\1/g; s/, [0-9]+ bytes? (before|beyond)/ \1/g
          s/at byte [0-9]+//g'
}

found=0
reordered=no
differs=no
# check_run TITLE PROGRAM NUMBER: runs the program and says what the run found.
check_run() {
  local title=$1 code=0 difference number usual other said=$work/$3.err
  timeout 120 "$2" "${arguments[@]}" </dev/null >"$work/$3.out" 2>"$said" || code=$?
  local results=()
  [[ $code -eq 0 || $code -eq 124 ]] || results+=("$(ended "$code")")
  [[ $code -ne 124 ]] || results+=("did not end within two minutes")
  [[ -z $(findings "$said") ]] || results+=("reports a mistake")
  [[ $3 -gt 0 ]] || usual_code=$code
  if [[ $3 -gt 0 && $code -eq $usual_code ]]; then
    difference=$(first_difference "$work/0.out" "$work/again.out" "$work/$3.out")
    if [[ -n $difference ]] && in_other_order "$3"; then
      difference=''
      reordered=yes
    elif [[ -n $difference ]]; then
      results+=("prints different output")
      differs=yes
    fi
  fi
  if [[ ${#results[@]} -eq 0 ]]; then
    say "$(printf '  %-40s nothing found' "$title")"
    return
  fi
  found=$((found + 1))
  say "$(printf '  %-40s %s' "$title" "$(printf '%s; ' "${results[@]}" | sed 's/; $//')")"
  {
    findings "$said"
    if [[ -n ${difference:-} ]]; then
      IFS=$'\t' read -r number usual other <<<"$difference"
      printf 'line %s, usually: %s\nline %s, here:    %s\n' "$number" "$usual" "$number" "$other"
    fi
  } | while IFS= read -r line; do # each only once
    grep -qxF -- "$(without_numbers <<<"$line")" "$work/said" 2>/dev/null || say "      $line"
    without_numbers <<<"$line" >>"$work/said"
  done
}

check_all() {
  local number=0 order streams
  build_runtime "$build"
  build_runtime "$build-asan"
  local printing=-Wl,--wrap=printf,--wrap=__printf_chk,--wrap=puts,--wrap=putchar
  compile "$build" "$program" "$printing"
  compile --instrumented "$build" "$program-instrumented" "$printing"
  local sanitizers=('-fsanitize=address,bounds' -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # shellcheck disable=SC2086 # CXX may have arguments
  [[ $(${CXX:-c++} --version) != *clang* ]] || sanitizers+=(-D__SANITIZE_ADDRESS__=1)
  compile "$build-asan" "$program-asan" "$printing" "${sanitizers[@]}"
  say "$name, on CUDA on the CPU:"
  export STAGEWISE_CPU_PROTECT=on
  # Once more as usual, to know what differs anyway.
  STAGEWISE_CPU_THREAD_ORDER=forward STAGEWISE_CPU_STREAMS=eager STAGEWISE_CPU_SEED=1 timeout 120 "$program" "${arguments[@]}" \
    </dev/null >"$work/again.out" 2>/dev/null || true
  for streams in eager lazy; do
    for order in forward reverse random; do
      # With the seed, memory that nobody has set changes.
      export STAGEWISE_CPU_THREAD_ORDER=$order STAGEWISE_CPU_STREAMS=$streams STAGEWISE_CPU_SEED=$((number + 1))
      check_run "threads $order, streams $streams" "$program" "$number"
      number=$((number + 1))
    done
  done
  unset STAGEWISE_CPU_THREAD_ORDER STAGEWISE_CPU_STREAMS STAGEWISE_CPU_SEED STAGEWISE_CPU_PROTECT
  STAGEWISE_CPU_OBSERVE=mistakes check_run "every access" "$program-instrumented" "$number"
  number=$((number + 1))
  export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
  check_run "AddressSanitizer" "$program-asan" "$number"
  if [[ $found -eq 0 ]]; then
    if [[ $reordered == no ]]; then
      say "Nothing was found in $((number + 1)) runs, and all print the same."
    else
      say "Nothing was found in $((number + 1)) runs. They print the same lines in different orders, as printf() in kernels may."
    fi
    exit 0
  fi
  say "$found of $((number + 1)) runs found something."
  [[ $differs == no ]] ||
    say "A result that depends on the order is a mistake, too: a missing barrier, a missing wait, memory that nobody
has set, or additions of floating-point numbers in any order."
  exit 1
}

if [[ $prepare == yes ]]; then
  build_runtime "$build"
elif [[ $check == yes ]]; then
  check_all
else
  run_once
fi
