#!/usr/bin/env bash
# Compiles and runs a CUDA program, or looks for mistakes in it. "try.sh --help" says how.
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
Compiles a CUDA program and runs it: on a GPU, or with CUDA on the CPU.

  try FILE.cu [FILES] [--check | --count] [--mpi N] [OPTIONS OF NVCC] [-- ARGUMENTS OF THE PROGRAM]

A line of nvcc works with "try" in place of "nvcc": FILES may be .cu, .cpp, .c, .o and .a; what has no meaning on the
CPU, such as -arch, is ignored. Headers are also looked for beside the program and in folders include, inc and common
there or beside that folder; OpenMP and MPI are found where the program includes them.

A kernel that touches the host's memory, and host code that touches the device's, are told without any option.

  --check      runs it several times, always with CUDA on the CPU: threads in three orders, with eager and lazy
               streams, device memory unreadable for the host; once with every access to memory checked, for races,
               reads of what nobody has written, bounds and waits for streams that are missing; and once with
               AddressSanitizer. Says what each run found, and whether all print the same: each gets the same time and
               random devices. Ends at once if no block of a kernel ends for 10 s.
  --count      runs it with CUDA on the CPU, and prints what its kernels ask of memory, by line: requests of warps,
               sectors of global memory for each, bank conflicts in shared memory, lanes that take part
  --mpi N      runs it in N processes by mpirun; mpirun may also stand before this command
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

# advise FILE: says what to do if nvcc, whose messages are in FILE, is older than the machine's C++ compiler allows; then the
# compiler's own headers have errors, too.
advise() {
  local newest
  grep -qE 'unsupported (GNU|clang)|^/usr/(include|lib)/.*(c\+\+|gcc)/.*error' "$1" || return 0
  newest=$(sed -nE 's/.*later than ([0-9]+).*/\1/p' "$1" | head -n 1)
  newest=g++-${newest:-N, an older one}
  echo "This nvcc is too old for the machine's C++ compiler. Install $newest, and name it by NVCC_CCBIN=${newest%%,*} before try, \
or by its option -ccbin, and for CMake by CUDAHOSTCXX=${newest%%,*} (in a new build folder); or use a newer CUDA Toolkit." >&2
}

# ---------------------------------------------------------------------------------------------------
# The command line

# Options of nvcc that have a value, after a space or "=". Those without meaning on the CPU come last.
readonly valued=" -D -I -L -O -U -isystem -include -l -std --std -rdc --relocatable-device-code -default-stream
 --default-stream -Xcompiler --compiler-options -Xlinker --linker-options
 -Xptxas --ptxas-options -Xcudafe -Xfatbin -Xnvlink -ccbin --compiler-bindir -o --output-file -arch --gpu-architecture
 -gencode --generate-code -code --gpu-code -maxrregcount --maxrregcount -fmad --fmad -ftz --ftz -prec-div --prec-div
 -prec-sqrt --prec-sqrt -cudart --cudart -m --machine -x -t --threads -diag-suppress --diag-suppress "

# for_cpu OPTION VALUE: adds to the options of the compiler for the CPU what an option of nvcc with a value means there.
for_cpu() {
  local words
  case $1 in
    -l)
      # Of NVIDIA's libraries, what is there has been chosen by headers.
      [[ $2 =~ ^(cuda|cudart|cudart_static|cudadevrt|cu(blas|rand|fft|sparse|solver)(_static|Lt|w)?|nvToolsExt|nvidia-ml)$ ]] ||
        options+=("-l$2")
      ;;
    -isystem | -include) options+=("$1" "$2") ;;
    -[DILOU]) options+=("$1$2") ;;
    # C++17 is the oldest here, and what a program is taken for first.
    -std | --std) [[ $2 =~ (98|03|0x|11|1y|14)$ ]] || options+=("-std=gnu++${2##*+}") ;;
    -rdc | --relocatable-device-code) [[ $2 != true ]] || options+=(-rdc=true) ;;
    -default-stream | --default-stream) [[ $2 != per-thread ]] || options+=(-DCUDA_API_PER_THREAD_DEFAULT_STREAM) ;;
    -Xcompiler | --compiler-options | -Xlinker | --linker-options)
      read -ra words <<<"${2//,/ }"
      [[ ${1,,} != *link* ]] || words=("${words[@]/#/-Wl,}")
      options+=("${words[@]}")
      ;;
  esac
}

build=$here/build/try
gpu=no
check=no
count=no
prepare=no
architecture=native
processes=''
files=()
options=()
gpu_options=()
arguments=()
while [[ $# -gt 0 ]]; do
  if [[ $valued == *[[:space:]]"${1%%=*}"[[:space:]]* ]]; then
    words=("$1" "${@:2:1}")
    if [[ $1 == *=* ]]; then words=("$1"); fi
    [[ $1 == *=* || $# -ge 2 ]] || fail "The option $1 needs a value after it." 2
    option=${1%%=*}
    value=${words[-1]#"$option="}
    for_cpu "$option" "$value"
    # The program runs on this machine's GPU, and lies where nobody sees it.
    if [[ $option =~ ^(-o|--output-file|-arch|--gpu-architecture|-gencode|--generate-code|-code|--gpu-code)$ ]]; then
      [[ ! $value =~ (sm_[0-9]+[af]) ]] || architecture=${BASH_REMATCH[1]} # what no other has
    else
      gpu_options+=("${words[@]}")
    fi
    shift "${#words[@]}"
    continue
  fi
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
    --advise) # for run.sh, where CMake calls nvcc
      advise "$2"
      exit
      ;;
    --gpu) gpu=yes ;;
    --build | --mpi)
      [[ $# -ge 2 ]] || fail "The option $1 needs a value after it." 2
      if [[ $1 == --build ]]; then build=$2; else processes=$2; fi
      shift
      ;;
    --)
      shift
      arguments=("$@")
      break
      ;;
    -c | -dc | -dlink | -lib | -shared | -E | -M | -MM | -ptx | --ptx | -cubin | --cubin | -fatbin | --device-c | --compile)
      fail "With $1 there would be no program to run; give all files of the program at once, without it." 2
      ;;
    -g | -G | -w | -v | -pg | -m64 | -t[0-9]* | -O | -lineinfo | --generate-line-info | --debug | --device-debug | \
      -use_fast_math | --use_fast_math | -extended-lambda | --extended-lambda | -expt-* | --expt-* | -Werror=* | \
      -Wno-deprecated-gpu-targets | -res-usage | --resource-usage | -keep | --keep | --verbose | --disable-warnings | \
      -restrict | --restrict)
      gpu_options+=("$1")
      ;;
    -[DILOUl]?*)
      for_cpu "${1:0:2}" "${1:2}"
      gpu_options+=("$1")
      ;;
    -f* | -W* | -pthread | -march=* | -mtune=* | -pedantic | -rdynamic) # of g++, which nvcc wants after -Xcompiler
      options+=("$1")
      gpu_options+=(-Xcompiler "$1")
      ;;
    -*) fail "Unknown option '$1'; --help lists the options. Arguments of the program come after --." 2 ;;
    *)
      [[ -e $1 ]] || fail "There is no file $1 here ($PWD); arguments of the program come after --." 2
      [[ ! -d $1 ]] || fail "$1 is a folder; name the files of the program, such as $1/*.cu." 2
      [[ -f $1 && -r $1 ]] || fail "$1 cannot be read." 2
      case ${1##*/} in
        *.cu | *.cpp | *.cc | *.cxx | *.C | *.c | *.o | *.a | *.so) files+=("$1") ;;
        *.cuh | *.h | *.hpp) ;; # found where it is included
        *akefile | *.mk | CMakeLists.txt)
          fail "$1 is no program; take its line with nvcc, and write \"try\" for \"nvcc\"." 2
          ;;
        *) fail "$1 is no .cu file, nor C++, C or an object file; arguments of the program come after --." 2 ;;
      esac
      ;;
  esac
  shift
done
file='' # the first one with kernels
others=()
for one in "${files[@]}"; do
  if [[ -z $file && $one == *.cu ]]; then file=$one; else others+=("$one"); fi
done
if [[ $prepare == no ]]; then
  [[ ${#files[@]} -gt 0 ]] || fail "Which program? For example: try my.cu" 2
  [[ -n $file ]] || fail "${files[0]} is no .cu file; name those with the kernels, too, or give it the ending .cu if they are in it." 2
fi
# Open MPI refuses to run as root, the usual user in a container, unless both variables allow it.
launcher=()
if [[ -n $processes ]]; then
  launcher=(mpirun -n "$processes" --oversubscribe --bind-to none)
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_btl_vader_single_copy_mechanism=${OMPI_MCA_btl_vader_single_copy_mechanism:-none}
fi
[[ $processes =~ ^([1-9][0-9]*)?$ ]] || fail "--mpi is '$processes', but must be a whole number of at least 1." 2
[[ $count == no || $check == no ]] || fail "One of --check and --count at a time." 2
[[ $count == no || $gpu == no ]] || fail "--count is for CUDA on the CPU; on a GPU, Nsight Compute (ncu) counts." 2
name=${file##*/}
names=$(printf '|%s' "${files[@]##*/}")
names=${names:1}

work=$(mktemp -d)
child=''
trap '[[ -z $child ]] || kill "$child" 2>/dev/null || true; rm -rf "$work"' EXIT
trap 'printf "\ntry: %s was interrupted.\n" "$name" >&2; sleep 0.2; exit 130' INT # a moment for the own handler of the program
trap 'exit 143' TERM
program=$work/${name%.cu}

# await COMMAND...: runs it so that a signal ends the waiting, and the command, at once.
await() {
  local code=0
  "$@" <&0 &
  child=$!
  wait "$child" || code=$?
  child=''
  return "$code"
}

# ---------------------------------------------------------------------------------------------------
# Compiling

# includes REGEX: whether a line of the program, or of a header beside it, is so.
includes() {
  local folder
  folder=$(dirname -- "$file")
  grep -qsE "^[[:space:]]*#[[:space:]]*($1)" -- "${files[@]}" "$folder"/*.{h,hpp,cuh}
}

# has_openmp: whether the compiler has it; without, its pragmas are nothing, as for nvcc.
has_openmp() {
  # shellcheck disable=SC2086 # CXX may have arguments
  ${CXX:-c++} -fopenmp -x c++ - -o "$work/openmp" <<<'int main() {}' 2>/dev/null
}

# add_libraries: options for OpenMP and MPI, if the program uses them.
add_libraries() {
  local words
  if includes 'include[[:space:]]*[<"]omp\.h|pragma[[:space:]]+omp[[:space:]]' && [[ " ${options[*]} " != *" -fopenmp "* ]] &&
    has_openmp; then
    options+=(-fopenmp)
    gpu_options+=(-Xcompiler -fopenmp)
  fi
  if includes 'include[[:space:]]*[<"]mpi\.h'; then
    type -P mpicxx >/dev/null || fail "$name includes mpi.h, but there is no mpicxx here; the package libopenmpi-dev has both." 1
    read -ra words < <(echo "-DOMPI_SKIP_MPICXX" "$(mpicxx --showme:compile 2>/dev/null)" "$(mpicxx --showme:link 2>/dev/null || mpicxx -show | cut -d ' ' -f 2-)")
    options+=("${words[@]}")
    for one in "${words[@]}"; do
      case $one in
        -[DILl]*) gpu_options+=("$one") ;;
        -Wl,*) gpu_options+=(-Xlinker "${one#-Wl,}") ;;
        *) gpu_options+=(-Xcompiler "$one") ;;
      esac
    done
  elif [[ -n $processes ]]; then
    fail "--mpi is for programs that include mpi.h; $name does not." 2
  fi
}

# with_headers COMMAND...: runs it, with the options. If it lacks a header that lies in a usual place near the program: once
# more, with that folder.
with_headers() {
  local code=1 header folder place
  while [[ $code -ne 0 ]]; do
    code=0
    "$@" 2>"$work/messages" || code=$?
    header=$(sed -nE 's/.*: there is no ([^ ]+) here: .*|.*fatal error: ([^ :]+): No such file.*|.*: ([^ ]+) comes with NVIDIA.s CUDA samples.*/\1\2\3/p' "$work/messages" | head -n 1)
    [[ $code -ne 0 && -n $header ]] || break
    folder=$(dirname -- "$file")
    for place in . include inc common .. ../include ../inc ../common ../common/inc ../../common ../../common/inc ../../Common none; do
      [[ ! -f $folder/$place/$header || " ${options[*]} " == *" -I$folder/$place "* ]] || break
    done
    [[ $place != none ]] || break
    options+=("-I$folder/$place")
    gpu_options+=("-I$folder/$place")
  done
  cat "$work/messages" >&2
  return "$code"
}

# nvcc_makes [-std=STANDARD]
nvcc_makes() {
  local nvcc host=${NVCC_CCBIN:-${CUDAHOSTCXX:-}} own=(-lineinfo "-arch=$architecture" -o "$program")
  nvcc=$(find_nvcc) || return
  [[ " ${gpu_options[*]}" =~ \ -(O|-optimize) ]] || own+=(-O2)
  [[ -z $host || " ${gpu_options[*]}" =~ \ --?c(cbin|ompiler-bindir) ]] || own+=(-ccbin "$host") # old ones know no NVCC_CCBIN
  "$nvcc" "$@" "${own[@]}" "${gpu_options[@]}" "${files[@]}"
}

# compile_for_gpu: like compile.sh, takes a program for C++20 if it is none in C++17 and has fewer errors then.
compile_for_gpu() {
  local said=$work/said newer=$work/newer code=0 standard=(-std=c++17)
  [[ ! " ${gpu_options[*]}" =~ \ --?std ]] || standard=()
  with_headers nvcc_makes "${standard[@]}" 2>"$said" || code=$?
  if [[ $code -ne 0 && ${#standard[@]} -gt 0 ]] && ! grep -qE '#error|nvcc fatal' "$said"; then
    with_headers nvcc_makes -std=c++20 2>"$newer" && code=0
    [[ $code -ne 0 && $(grep -c error "$newer") -ge $(grep -c error "$said") ]] || said=$newer
  fi
  cat "$said" >&2
  [[ $code -ne 0 ]] || return 0
  advise "$said"
  return 1
}

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
  cmake --build "$folder" --parallel "$(nproc)" --target cuda_on_cpu cuda_on_cpu_host cuda_on_cpu_translate >"$log" 2>&1 || {
    cat "$log" >&2
    fail "CUDA on the CPU did not build; the compiler's messages are above." 1
  }
  exec 9>&-
}

# compile_for_cpu ARGUMENTS OF compile.sh
compile_for_cpu() { "$here/compile.sh" "$@" "${others[@]}" "${options[@]}"; }

# compile [--instrumented] FOLDER PROGRAM OPTIONS...
compile() {
  local instrumented=()
  if [[ $1 == --instrumented ]]; then
    instrumented=(--instrumented)
    shift
  fi
  local folder=$1 target=$2
  shift 2
  with_headers compile_for_cpu "${instrumented[@]}" "$folder" "$file" "$target" "$@" || fail "$name does not compile." 1
}

# ---------------------------------------------------------------------------------------------------
# Running

# signal_of EXIT-CODE: the name of the signal that it stands for, if it is one that ends programs; others are results.
signal_of() {
  [[ $1 -gt 128 && $1 -le 159 ]] && kill -l "$(($1 - 128))" 2>/dev/null | grep -xE 'SEGV|ABRT|FPE|KILL|BUS|ILL|TRAP|PIPE|TERM|INT'
}

# run PROGRAM: as if it were here. The shell's own message about a signal is suppressed.
run() {
  { await exec_program "$@" 2>&3; } 3>&2 2>/dev/null
}
exec_program() {
  trap - INT QUIT # which the shell has made a command in the background ignore
  if [[ -n $processes ]]; then exec "${launcher[@]}" "$@"; else exec -a "./${name%.cu}" "$@"; fi
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
    compile_for_gpu >&2 || fail "$name does not compile." 1
  else
    build_runtime "$build"
    [[ ${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}} -ne 0 ]] || echo "==> $name, on CUDA on the CPU" >&2
    if [[ $count == yes ]]; then
      compile --instrumented "$build" "$program"
      export STAGEWISE_CPU_OBSERVE=counters
    else
      compile "$build" "$program"
    fi
  fi
  STAGEWISE_CPU_PROGRESS=${STAGEWISE_CPU_PROGRESS:-on} run "$program" "${arguments[@]}" || code=$?
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
    sed -E 's/^==[0-9]+==//; s/^ERROR: AddressSanitizer: attempting (double-free|free on address which was not malloc\(\)-ed).*/AddressSanitizer: \1/
            s/^ERROR: AddressSanitizer: ([a-z-]+) .*/AddressSanitizer: \1/; s/ \(pc .*//' | head -n 4 || true
  # Where AddressSanitizer detected it: the first line that is in the program itself.
  sed -nE "/ERROR: AddressSanitizer/,\$s/^ +#[0-9]+ .* in (.*) ([^ ]*(${names//./\\.}):[0-9]+).*/  in \1, \2/p" "$1" | head -n 1
}

# sorted FILE: the host's lines as they are, then what kernels print, in order. Each piece of it has the mark of src/printing.cpp.
sorted() {
  { grep -av $'\x1e' "$1" || true; } | stable -
  { grep -a $'\x1e' "$1" || true; } | tr '\036' '\n' | stable - | sort
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

# is_programs_own CODE: does the program end with it in any run, and by itself? That need not be a mistake.
is_programs_own() {
  [[ $1 -eq $usual_code && $(ended "$1") == "ended with exit code $1" ]]
}

found=0
usual_code=0
reordered=no
differs=no
# check_run TITLE PROGRAM NUMBER: runs the program and says what the run found.
check_run() {
  local title=$1 code=0 difference number usual other place said=$work/$3.err
  { await timeout 120 "${launcher[@]}" "$2" "${arguments[@]}" <"$work/input" >"$work/$3.out" 2>"$said"; } 2>/dev/null || code=$?
  [[ -z $processes ]] || sort -o "$work/$3.out" "$work/$3.out" # whichever process is first
  if [[ $3 -eq 0 && -s $work/0.out ]]; then
    tr -d '\036' <"$work/0.out" | awk 'NR <= 20 { print "  | " $0 } END { if (NR > 20) print "  | ... and " NR - 20 " more lines" }'
  fi
  local results=()
  [[ $3 -gt 0 ]] || usual_code=$code
  if [[ $code -eq 124 ]]; then
    results+=("did not come to its end")
  elif [[ $code -ne 0 ]] && ! is_programs_own "$code"; then
    results+=("$(ended "$code")")
  fi
  [[ -z $(findings "$said") ]] || results+=("reports a mistake")
  # AddressSanitizer's program goes on where the others get an error: it does not keep the host's memory from kernels.
  if [[ $3 -gt 0 && $code -eq $usual_code ]] && { [[ $1 != AddressSanitizer ]] || [[ -z $(findings "$work/0.err") ]]; }; then
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
  } | while IFS= read -r line; do # each only once, and of one line the better sentence
    ! place=$(grep -oE '^CUDA on the CPU: [^ ]+:[0-9]+: ' <<<"$line") || [[ $1 != AddressSanitizer ]] ||
      ! grep -qsF "$place" "$work/said" || continue
    grep -qxF -- "$(without_numbers <<<"$line")" "$work/said" 2>/dev/null || say "      $line"
    without_numbers <<<"$line" >>"$work/said"
  done
}

check_all() {
  local number=0 code=0 order streams
  [[ -e $build-asan/CMakeCache.txt ]] ||
    echo "==> The first --check takes two minutes or three: it builds what later ones have. Each runs $name nine times." >&2
  build_runtime "$build"
  build_runtime "$build-asan"
  # See src/printing.cpp and src/input.cpp.
  local wrapped=-Wl,--wrap=printf,--wrap=__printf_chk,--wrap=puts,--wrap=putchar,--wrap=time,--wrap=gettimeofday,--wrap=clock,--wrap=clock_gettime
  wrapped+=,--wrap=_ZNSt13random_device9_M_getvalEv,--wrap=_ZNSt6chrono3_V212system_clock3nowEv
  (compile "$build" "$program" "$wrapped") 2>"$work/told" || {
    cat "$work/told" >&2
    exit 1
  }
  # Where the value of a variable is not always read, it must not be read in advance.
  compile --instrumented "$build" "$program-instrumented" "$wrapped" -DCUDA_ON_CPU_LOCALS -fno-tree-loop-im
  local sanitizers=('-fsanitize=address,bounds' -fno-sanitize-recover=all -fno-omit-frame-pointer -w)
  # shellcheck disable=SC2086 # CXX may have arguments
  [[ $(${CXX:-c++} --version) != *clang* ]] || sanitizers+=(-D__SANITIZE_ADDRESS__=1)
  compile "$build-asan" "$program-asan" "$wrapped" "${sanitizers[@]}"
  say "$name, on CUDA on the CPU:"
  [[ ! -s $work/told ]] || say "$(printf '  %-40s reports a mistake\n%s' "the compiler" "$(sed 's/^/      /' "$work/told")")"
  # All runs read the same. What nobody ends, such as a pipe that others hold, is taken as ended after some seconds.
  : >"$work/input"
  [[ -t 0 ]] || timeout 3 cat >"$work/input" 2>/dev/null || true
  export STAGEWISE_CPU_PROTECT=on STAGEWISE_CPU_PROGRESS=limit
  # Once more as usual, to know what differs anyway.
  STAGEWISE_CPU_THREAD_ORDER=forward STAGEWISE_CPU_STREAMS=eager STAGEWISE_CPU_SEED=1 \
    await timeout 120 "${launcher[@]}" "$program" "${arguments[@]}" <"$work/input" >"$work/again.out" 2>"$work/again.err" || code=$?
  if [[ $code -eq 124 ]]; then # nor would the others
    findings "$work/again.err"
    say "The first run did not come to its end, so there are no others."
    exit 1
  fi
  [[ -z $processes ]] || sort -o "$work/again.out" "$work/again.out"
  for streams in eager lazy; do
    for order in forward reverse random; do
      # With the seed, memory that nobody has set changes.
      export STAGEWISE_CPU_THREAD_ORDER=$order STAGEWISE_CPU_STREAMS=$streams STAGEWISE_CPU_SEED=$((number + 1))
      check_run "threads $order, streams $streams" "$program" "$number"
      number=$((number + 1))
    done
  done
  unset STAGEWISE_CPU_THREAD_ORDER STAGEWISE_CPU_STREAMS STAGEWISE_CPU_SEED STAGEWISE_CPU_PROTECT STAGEWISE_CPU_PROGRESS
  STAGEWISE_CPU_OBSERVE=mistakes check_run "every access" "$program-instrumented" "$number"
  number=$((number + 1))
  export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
  check_run "AddressSanitizer" "$program-asan" "$number"
  [[ $usual_code -eq 0 ]] || ! is_programs_own "$usual_code" || say "The program's exit code is $usual_code."
  if [[ $found -eq 0 && ! -s $work/told ]]; then
    if [[ $reordered == no ]]; then
      say "Nothing was found in $((number + 1)) runs, and all print the same."
    else
      say "Nothing was found in $((number + 1)) runs. They print the same lines in different orders, as printf() in kernels may."
    fi
    exit 0
  fi
  say "$found of $((number + 1)) runs found something$([[ ! -s $work/told ]] || printf ', and the compiler did')."
  [[ $differs == no ]] ||
    say "A result that depends on the order is a mistake, too: a missing barrier, a missing wait, memory that nobody
has set, or additions of floating-point numbers in any order."
  exit 1
}

# As devices have it since Volta (2017): a barrier does not wait for threads that have ended.
export STAGEWISE_CPU_STRICT_BARRIERS=${STAGEWISE_CPU_STRICT_BARRIERS:-off}
[[ $prepare == yes ]] || add_libraries
if [[ $prepare == yes ]]; then
  build_runtime "$build"
elif [[ $check == yes ]]; then
  check_all
else
  run_once
fi
