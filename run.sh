#!/usr/bin/env bash
# From a fresh clone to a trained network in one command. "./run.sh help" says what else it can do.
set -euo pipefail
readonly called_from=$PWD
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" # works through links; CDPATH does not affect an absolute path

readonly presets="auto cuda cpu asan coverage"
readonly commands="count build test try exercise hint solution grade plot convert predict-scaling docs bench reproduce install clean help"
readonly python_commands="exercise hint solution grade plot convert predict-scaling" # whose options are not this script's
readonly cmake_needed=3.25

# ---------------------------------------------------------------------------------------------------
# Messages

# On a terminal, progress is shown in one line that is repeatedly overwritten.
terminal=no
[[ ! -t 1 || ${TERM:-dumb} == dumb ]] || terminal=yes
if [[ $terminal == yes && -z ${NO_COLOR:-} ]]; then
  bold=$'\e[1m' plain=$'\e[0m'
else
  bold='' plain=''
fi

# fail SENTENCE EXIT-CODE
fail() {
  printf 'run.sh: %s\n' "$1" >&2
  exit "$2"
}

# is_one_of WORD WORDS
is_one_of() { [[ $1 != *" "* && " $2 " == *" $1 "* ]]; }

# print TEXT: on standard output, whose disk may be full.
print() { printf '%s\n' "$1" 2>/dev/null || fail "Standard output could not be written to." 1; }

say() { print "$bold==>$plain $1"; }

# duration SECONDS: "5 min 20 s"
duration() {
  if [[ $1 -lt 60 ]]; then
    echo "$1 s"
  else
    echo "$(($1 / 60)) min $(($1 % 60)) s"
  fi
}

# about SECONDS: ", about 3 minutes"; nothing if it is less than ten seconds
about() {
  if [[ $1 -ge 90 ]]; then
    echo ", about $((($1 + 30) / 60)) minutes"
  elif [[ $1 -ge 10 ]]; then
    echo ", about $((($1 + 5) / 10 * 10)) seconds"
  fi
}

# logged FILE COMMAND...: runs the command with its output going to the file. On a terminal, shows how
# long it has been running, and how many of its steps a build has done.
logged() {
  local log=$1 begin=$SECONDS code=0 process steps
  shift
  if [[ $1 == sudo ]]; then # only root could end it
    "$@" </dev/null >"$log" 2>&1
    return
  fi
  set -m # its own process group, which can be ended as a whole
  "$@" </dev/null >"$log" 2>&1 &
  process=$!
  set +m
  trap 'kill -- -"$process" 2>/dev/null' EXIT # whoever interrupts this means the command
  while [[ $terminal == yes ]] && kill -0 "$process" 2>/dev/null; do
    steps=$(tail -n 1 "$log" | sed -n 's/^\[\([0-9]*\)\/\([0-9]*\)\].*/, \1 of \2 steps/p')
    printf '\r    %s%s ' "$(duration $((SECONDS - begin)))" "$steps"
    sleep 0.2
  done
  wait "$process" || code=$?
  trap - EXIT
  [[ $terminal == no ]] || printf '\r\e[K'
  return "$code"
}

# succeed WHAT FILE COMMAND...: like logged, but a failure ends this, after the output.
succeed() {
  local what=$1 log=$2 code=0
  shift 2
  logged "$log" "$@" || code=$?
  if [[ $code -ne 0 ]]; then
    cat "$log" >&2
    fail "$what failed (exit code $code); its output is above." "$code"
  fi
}

help() {
  print "$(
    cat <<END
${bold}Stagewise${plain}: from a serial neural network to multi-GPU training in five stages

${bold}Usage${plain}
  ./run.sh [COMMAND] [OPTION...]

${bold}Commands${plain}
  (none)    the tour: builds one stage after the other, trains the same small
            network with each of them and prints a table that compares them
  count     counts what a training step of each stage asks of a GPU
  build     builds all programs, or those that follow, such as ladder
  test      builds and runs the tests of the five stages
  try FILE  compiles and runs your own CUDA program, with or without a GPU;
            --check looks for mistakes in it, --count counts what its kernels
            ask of memory
  exercise  lists the exercises; with a NAME, begins one, or checks what you
            have written; hint NAME helps, solution NAME shows ours afterwards
  grade DIR...  checks the exercises of several learners, a folder each
  plot      draws what reports and checkpoints hold: learning curves, weights,
            filters, a confusion matrix, mistakes, speed-ups
  convert   converts a checkpoint to PyTorch's safetensors or state_dict, or
            back
  predict-scaling
            predicts training on up to 1,024 GPUs and more, by a model of what
            is computed and exchanged
  bench     builds the ladders, verifies their rungs and times them
  reproduce the tables and figures of the five reports behind this project,
            measured here and set beside the reports'; with 000 to 004, of
            some; --quick takes a quarter of an hour on two cores
  docs      builds the documentation and says where it is
  install   installs the packages that these need, and nothing else
  clean     removes the folder build/
  help      this text

${bold}Options${plain}
  --preset NAME   what to build: auto [default], cuda, cpu [default of test],
                  asan or coverage; each has its own folder build/NAME
  --jobs N        use N processors [all of them]
  --no-install    install nothing; say what is missing and stop
  --all           test: also what all programs share, ladders, reports and exercises

${bold}Passed on${plain}
  test      to CTest:  -L LABEL   -R NAME   -LE LABEL   -E NAME   -N   -V
            (regular expressions: which labels and names to run or to leave out;
            -V shows all commands of the build and all output of the tests)
  try       what follows nvcc in a Makefile or a course's line
  Everything after -- is passed on as it is; for exercise, hint, solution,
  grade, plot, convert and predict-scaling, everything is. ./run.sh plot --help
  explains their options.

${bold}Examples${plain}
  ./run.sh                         see it work
  ./run.sh build ladder            the program ladder, in build/auto/bin
  ./run.sh test -L unit            only the unit tests
  ./run.sh test -R Stage03 -V      the tests of stage 03, with all their output
  ./run.sh test --preset asan      the tests, under AddressSanitizer
  ./run.sh try my.cu -- 1000       your own program, with the argument 1000
  ./run.sh try a.cu main.cpp -O3 -arch=sm_70 -lm        in place of nvcc
  ./run.sh try my.cu --check       in several orders, and with AddressSanitizer
  ./run.sh try my.cu --count       sectors, bank conflicts and more, by line
  ./run.sh exercise first_kernel   your first kernel
  ./run.sh plot curves log.csv     the learning curves of a training
  ./run.sh predict-scaling --batch-per-gpu 8000     where more GPUs pay
  STAGEWISE_DATA_DIR=~/data ./run.sh test      with the data sets in that folder

On Debian and Ubuntu, missing packages are installed with apt-get.
END
  )"
}

{ : 3>&1; } 2>/dev/null || fail "Standard output is closed; /dev/null takes what nobody wants to read." 1
[[ -f CMakePresets.json && -f cuda_on_cpu/try.sh && -f exercises/exercise.py ]] ||
  fail "This script belongs to the project Stagewise, and $PWD is not its folder." 1

# ---------------------------------------------------------------------------------------------------
# The command line

command=tour
preset=''
jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
install=yes
all=no
selects=no
left_out=''
verbose=no
needs_packages=yes
passed_on=()

if [[ $# -gt 0 && $1 != -* ]]; then
  command=$1
  shift
  listed=${commands% help}
  is_one_of "$command" "$commands" || fail "Unknown command '$command'; the commands are ${listed// /, } and help." 2
fi

while [[ $# -gt 0 ]]; do
  if is_one_of "$command" "$python_commands" && [[ $1 != --no-install ]]; then
    [[ ! $1 =~ ^(-h|--help)$ ]] || needs_packages=no
    passed_on+=("$1")
    shift
    continue
  fi
  case $command:$1 in
    try:-h | try:--help) exec "$PWD/cuda_on_cpu/try.sh" --help ;;
    reproduce:-h | reproduce:--help) exec python3 reports/reproduce --help ;;
    *:-h | *:--help) command=help ;;
    *:--no-install) install=no ;;
    try:--)
      passed_on+=("$@")
      break
      ;;
    try:*) passed_on+=("$1") ;;
    test:--all) all=yes ;;
    *:--preset=*) preset=${1#*=} ;;
    *:--jobs=*) jobs=${1#*=} ;;
    *:--preset | *:--jobs | test:-L | test:-LE | test:-R | test:-E)
      [[ $# -ge 2 ]] || fail "The option $1 needs a value after it." 2
      case $1 in
        --preset) preset=$2 ;;
        --jobs) jobs=$2 ;;
        *)
          [[ $1 != -R && $1$2 != -Llong ]] || selects=yes # whatever is named, long or not
          if [[ $1 == -LE ]]; then
            left_out+="|$2"
          else
            passed_on+=("$1" "$2")
          fi
          ;;
      esac
      shift
      ;;
    test:-V | test:-VV | test:-N)
      verbose=yes
      passed_on+=("$1")
      ;;
    test:--)
      shift
      passed_on+=("$@")
      break
      ;;
    build:[!-]* | reproduce:*) passed_on+=("$1") ;;
    *)
      [[ $command != tour ]] || ! is_one_of "$1" "$commands" ||
        fail "The command comes first: ./run.sh $1, then its options." 2
      fail "Unknown option '$1'; ./run.sh help lists the options." 2
      ;;
  esac
  shift
done

if [[ -z $preset ]]; then
  preset=auto
  [[ ! $command =~ ^(count|test)$ ]] || preset=cpu
elif [[ $command == count && $preset != cpu ]]; then
  fail "What kernels ask of a GPU is counted in the preset cpu only." 2
elif [[ " $presets " != *" $preset "* ]]; then
  fail "Unknown preset '$preset'; the presets are ${presets// /, }." 2
fi
[[ $jobs =~ ^[1-9][0-9]*$ ]] || fail "--jobs is '$jobs', but must be a whole number of at least 1." 2

# ---------------------------------------------------------------------------------------------------
# Set-up: the packages that the command needs

# Prints the packages for $command that this machine lacks. A program counts as present wherever it
# comes from; a library must come from its package.
missing_packages() {
  local -A program_of=([g++]=g++ [cmake]=cmake [ninja-build]=ninja [python3]=python3 [patch]=patch [mold]=mold
    [doxygen]=doxygen)
  local compilers=(g++ cmake ninja-build) cuda_on_cpu=(libboost-context-dev libdw-dev)
  local tests=(mold python3 patch libgtest-dev libgmock-dev python3-h5py python3-matplotlib)
  local documentation=(doxygen doxygen-awesome-css libjs-mathjax libjs-lunr python3)
  local needed=("${compilers[@]}" libhdf5-dev zlib1g-dev libcli11-dev nlohmann-json3-dev libopenblas-dev
    libopenmpi-dev libpng-dev)
  [[ $preset == cuda ]] || { [[ $preset == auto ]] && has_gpu; } || needed+=("${cuda_on_cpu[@]}")
  case $command in
    try) needed=("${compilers[@]}" "${cuda_on_cpu[@]}") ;;
    exercise | grade) needed=("${compilers[@]}" "${cuda_on_cpu[@]}" libopenmpi-dev python3) ;;
    tour | count) needed+=(python3) ;;
    test) needed+=("${tests[@]}") ;;
    docs) needed+=("${documentation[@]}") ;;
    install) needed+=("${tests[@]}" "${documentation[@]}") ;;
    plot) needed=(python3 python3-h5py python3-matplotlib) ;;
    convert) needed=(python3 python3-h5py) ;;
    predict-scaling)
      needed=(python3)
      if draws; then needed+=(python3-matplotlib); fi
      ;;
  esac

  local package
  for package in "${needed[@]}"; do
    if [[ -n ${program_of[$package]:-} ]]; then
      type -P "${program_of[$package]}" >/dev/null || echo "$package"
    else
      dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null |
        grep -qx installed || echo "$package"
    fi
  done
}

# own_folder FOLDER: makes it, if need be. Nothing can be built in a project that belongs to another user or is on a
# read-only disk.
own_folder() {
  { mkdir -p "$1" && [[ -w $1 ]]; } 2>/dev/null ||
    fail "The folder $PWD/$1 cannot be written to; copy the project, without build/, to a folder of your own." 1
}

install_packages() {
  if ! type -P apt-get dpkg-query >/dev/null; then
    say "This is neither Debian nor Ubuntu, so nothing is installed here. Needed are a C++20 compiler,
    CMake $cmake_needed, Ninja, HDF5, zlib, CLI11, nlohmann-json, OpenBLAS, libpng, Open MPI, Boost.Context and libdw;
    for the tests mold, GoogleTest and Python with h5py and Matplotlib, for the documentation Doxygen,
    doxygen-awesome-css, MathJax 2 and lunr.js."
    return
  fi

  local missing
  mapfile -t missing < <(missing_packages | sort)
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $install == no ]]; then
    fail "Packages are missing; install them with: sudo apt-get install ${missing[*]}" 1
  fi

  local as_root=()
  if [[ $EUID -ne 0 ]]; then
    type -P sudo >/dev/null ||
      fail "Packages are missing and there is no sudo; as root: apt-get install ${missing[*]}" 1
    as_root=(sudo)
  fi
  say "Installing ${missing[*]}$(about $((10 + 5 * ${#missing[@]})))"
  [[ ${#as_root[@]} -eq 0 ]] || sudo --validate # asks for a password, if needed, where the prompt is visible
  own_folder build
  local log=build/install.log code=0
  logged "$log" "${as_root[@]}" apt-get update || true # old lists may suffice; the next step decides
  logged "$log" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --no-install-recommends "${missing[@]}" || code=$?
  if [[ $code -ne 0 ]]; then
    tail -n 15 "$log" >&2
    mapfile -t missing < <(missing_packages | sort)
    fail "Could not install ${missing[*]} (apt-get's exit code $code; its last lines are above)." "$code"
  fi
}

check_cmake() {
  local found
  found=$(cmake --version | sed -n '1s/[^0-9]*//p') ||
    fail "CMake was not found; version $cmake_needed or newer is needed." 1
  if [[ $(printf '%s\n' "$cmake_needed" "$found" | sort -V | head -n 1) != "$cmake_needed" ]]; then
    fail "CMake $cmake_needed or newer is needed, but $(type -P cmake) is version $found; pip install cmake brings a newer one." 1
  fi
}

# ---------------------------------------------------------------------------------------------------
# Build

has_gpu() {
  cuda_on_cpu/try.sh --nvcc >/dev/null 2>&1 &&
    timeout 20 nvidia-smi --list-gpus 2>/dev/null | grep -q .
}

# Sets preset and folder. Without a GPU, "auto" is "cpu": a link makes them the same folder, so that nothing
# is compiled twice.
choose_folder() {
  own_folder build
  if has_gpu; then
    [[ ! -L build/auto ]] || rm build/auto
  elif [[ $preset =~ ^(auto|cpu)$ && (-L build/auto || ! -e build/auto) ]]; then
    preset=cpu
    ln -sfn cpu build/auto
  fi
  folder=build/$preset
}

# Only the tests need the tests' libraries, so everything else configures without them. Switching
# back and forth costs a second and recompiles nothing.
configure() {
  local testing=OFF
  [[ $command != test ]] || testing=ON
  say "Configuring $folder"
  own_folder "$folder"
  (succeed "The configuration" "$folder/configure.log" cmake --preset "$preset" "-DBUILD_TESTING=$testing") || {
    local code=$?
    cuda_on_cpu/try.sh --advise "$folder/configure.log"
    exit "$code"
  }
}

# steps_to TARGET...: how many steps, if any. Ninja would count no further than to its own file, which it
# believes to be outdated until CMake has looked for new sources: so without that rule.
steps_to() {
  local rules=$folder/count.ninja
  sed '/: RERUN_CMAKE/,/^$/d' "$folder/build.ninja" >"$rules"
  NINJA_STATUS='[%f/%t] ' ninja -C "$folder" -f "${rules##*/}" -n "$@" 2>/dev/null |
    sed -n '$s/^\[[0-9]*\/\([0-9]*\)\].*/\1/p'
  rm "$rules"
}

# build TARGET [TENTHS]: the tenths of a second that a step takes on a current processor; 25 by default
build() {
  local code=0 begin=$SECONDS steps
  steps=$(steps_to "$1") || true
  say "Building${steps:+, $steps steps$(about $((steps * ${2:-25} / 10 / jobs)))}"
  local options=()
  [[ $verbose == no ]] || options=(--verbose)
  cmake --build "$folder" --parallel "$jobs" --target "$1" "${options[@]}" || code=$?
  [[ $code -eq 0 ]] || fail "The build failed (exit code $code); its output is above." "$code"
  say "Built in $(duration $((SECONDS - begin)))"
}

set_up() {
  choose_folder
  install_packages
  check_cmake
  configure
}

# ---------------------------------------------------------------------------------------------------
# The commands

readonly stages=(stage01_serial stage02_naive_cuda stage03_shared_memory stage04_minibatch stage05_mpi)

# build_quietly WHAT TARGET...: shows no line of the build, unless it fails. What it is doing goes to standard error,
# so that standard output has the table alone.
build_quietly() {
  local what=$1 steps
  shift
  steps=$(steps_to "$@") || true
  [[ -n $steps ]] || steps=0
  [[ $steps -eq 0 ]] || say "Building $what, $steps steps$(about $((steps * 2 / jobs)))" >&2
  succeed "The build" "$folder/build.log" cmake --build "$folder" --parallel "$jobs" --target "$@"
  # The note has said what it had to say.
  [[ $terminal == no || $steps -eq 0 || ! -t 2 ]] || printf '\e[A\r\e[K' >&2
}

# Open MPI refuses to run as root, the usual user in a container, unless both variables allow it; and it complains where
# a container does not let it copy from another process's memory, in versions 4 and 5.
in_containers() {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_btl_vader_single_copy_mechanism=${OMPI_MCA_btl_vader_single_copy_mechanism:-none}
  export OMPI_MCA_smsc=${OMPI_MCA_smsc:-^cma}
}

# A stage's row stands while the next stage compiles.
tour() {
  set_up
  local stage code=0 gpus=0
  if [[ $preset =~ ^(auto|cuda)$ ]] && has_gpu; then gpus=$(nvidia-smi --list-gpus | wc -l); fi
  build_quietly "stage 01" stage01_serial
  tools/tour.py begin "$folder/tour" --gpus "$gpus" || exit
  in_containers
  for stage in "${stages[@]}"; do
    if ! has_target "$stage"; then continue; fi # stage 05 without MPI
    [[ $stage == stage01_serial ]] || build_quietly "stage ${stage:5:2}" "$stage" compare_checkpoints
    tools/tour.py row "$folder/tour" "$folder/bin/$stage" || code=$?
    [[ $code -le 1 ]] || fail "The tour failed (exit code $code); its output is above." "$code"
  done
  tools/tour.py end "$folder/tour"
  [[ $code -eq 0 ]] || fail "The tour failed (exit code $code); its output is above." "$code"
  print "
What next?"
  printf '  %-38s %s\n' "$folder/bin/stage01_serial train" "and 02 to 05: a training of your own" \
    "./run.sh count" "what a step of each stage asks of a GPU" \
    "./run.sh exercise first_kernel" "your first kernel" \
    "docs/pages/how_to_read.md" "what to read, and in which order"
}

# has_target NAME: whether the configured project has it.
has_target() { grep -q "^build $1: " "$folder/build.ninja"; }

# By programs whose kernels report what they ask of memory.
count() {
  set_up
  local stage programs=() code=0
  build instrumented_stages 90
  in_containers
  for stage in "${stages[@]:1}"; do
    if has_target "$stage"; then programs+=("$folder/bin/instrumented/$stage"); fi
  done
  say "Counting, about half a minute"
  tools/tour.py count "$folder/tour" "${programs[@]}" || code=$?
  [[ $code -eq 0 ]] || fail "Counting failed (exit code $code); its output is above." "$code"
}

build_programs() {
  set_up
  [[ ${#passed_on[@]} -gt 0 ]] || passed_on=(programs)
  local program
  for program in "${passed_on[@]}"; do
    has_target "$program" || fail "There is no program '$program'; ./run.sh build builds all of them." 2
    build "$program"
  done
}

run_tests() {
  set_up
  # What tests no stage is long.
  if [[ $all == yes || $selects == yes ]]; then build all; else build short_tests; fi
  local code=0 begin=$SECONDS options=()
  # Tests that -R names run, however long they take.
  [[ $all == yes || $selects == yes ]] || left_out+='|^long$'
  [[ -z $left_out ]] || options+=(-LE "${left_out#|}")
  if [[ $verbose == no ]]; then
    export GTEST_BRIEF=1
    [[ $terminal == no ]] || options+=(--progress)
  fi
  [[ $all == no ]] || export STAGEWISE_TEST_SHAPES=${STAGEWISE_TEST_SHAPES:-100}
  if [[ ${#passed_on[@]} -gt 0 ]]; then
    say "Testing"
  elif [[ $all == yes ]]; then
    say "Testing everything$(about $((3000 / jobs)))"
  else
    say "Testing$(about $((600 / jobs))); --all adds what all programs share, ladders, reports and exercises"
  fi
  in_containers
  ctest --preset "$preset" --parallel "$jobs" --no-tests=error --no-label-summary "${options[@]}" "${passed_on[@]}" || code=$?
  [[ $code -eq 0 ]] || fail "The tests failed (exit code $code); their output is above." "$code"
  list_skipped
  say "Tested in $(duration $((SECONDS - begin)))"
}

# Says why cases were skipped, and how many for each reason. One CTest test may contain many cases.
list_skipped() {
  local log=$folder/Testing/Temporary/LastTest.log
  { grep -hs '^[Ss]kipped: ' "$log" || true; } | sed -E 's/^skipped: [^ ]+: |^Skipped: //' | sort | uniq --count |
    while read -r count reason; do say "Skipped $count: $reason"; done
}

docs() {
  set_up
  say "Writing the documentation, about a minute"
  succeed "Building the documentation" "$folder/docs.log" cmake --build "$folder" --target docs
  say "The documentation is $PWD/$folder/docs/html/index.html"
}

bench() {
  set_up
  build ladder
  local ladder code=0
  for ladder in gemm reduce transpose convolution; do
    "$folder/bin/ladder" "$ladder" || code=$?
    [[ $code -eq 0 ]] || fail "ladder $ladder failed (exit code $code); its output is above." "$code"
  done
}

reproduce() {
  type -P python3 >/dev/null || fail "This needs python3." 1
  export PYTHONDONTWRITEBYTECODE=1
  python3 reports/reproduce --list "${passed_on[@]}" >/dev/null || exit # what it objects to, it does before a build
  if [[ " ${passed_on[*]} " == *" --list "* ]]; then exec python3 reports/reproduce "${passed_on[@]}"; fi
  set_up
  local python targets=(programs)
  ! has_target ladder_instrumented || targets+=(ladder_instrumented) # which counts
  build_quietly "the programs" "${targets[@]}"
  in_containers
  python=$(python_with matplotlib) || python=python3 # without it, there are no figures
  exec "$python" reports/reproduce --programs "$folder/bin" "${passed_on[@]}"
}

# Standard output belongs to the program.
try_program() {
  local options=(--build "$PWD/build/try") own=" ${passed_on[*]} "
  if has_gpu && [[ ! ${own%% -- *} =~ " --check"|" --count" ]]; then
    options=(--gpu)
  else
    { install_packages && check_cmake; } >&2
  fi
  local script=$PWD/cuda_on_cpu/try.sh
  cd "$called_from"
  exec "$script" "${options[@]}" "${passed_on[@]}"
}

# python_with MODULE...: prints the first python3 that can import these. Packages of the system belong to
# /usr/bin/python3, which need not be the first one on PATH.
python_with() {
  local python modules
  modules=$(printf ', %s' "$@")
  for python in python3 /usr/bin/python3; do
    if "$python" -c "import ${modules:2}" 2>/dev/null; then
      echo "$python"
      return
    fi
  done
  return 1
}

# Whether predict-scaling is to draw a figure.
draws() { [[ " ${passed_on[*]}" == *" --figure"* ]]; }

# The programs in tools/. Standard output belongs to them.
python_program() {
  local modules=(h5py numpy) python=''
  case $command in
    plot) modules+=(matplotlib) ;;
    predict-scaling) if draws; then modules=(matplotlib); else modules=(sys); fi ;;
  esac
  [[ $needs_packages == yes && ${#passed_on[@]} -gt 0 ]] || modules=(sys) # for a help text or an objection
  # Where PyTorch is, it may be in one python3 only.
  [[ " ${passed_on[*]} " != *.pt[\ h]* ]] || python=$(python_with "${modules[@]}" torch) || true
  if [[ -z $python ]] && ! python=$(python_with "${modules[@]}"); then
    ! type -P apt-get dpkg-query >/dev/null || install_packages >&2
    python=$(python_with "${modules[@]}") ||
      fail "This needs a python3 with ${modules[*]}, but neither the one on PATH nor /usr/bin/python3 is one." 1
  fi
  local script=$PWD/tools/${command//-/_}.py
  cd "$called_from"
  export PYTHONDONTWRITEBYTECODE=1
  exec "$python" "$script" "${passed_on[@]}"
}

# The learner's files are in the folder my_exercises, whatever this is called from.
exercise() {
  if [[ $command =~ ^(exercise|grade)$ && ${#passed_on[@]} -gt 0 && $needs_packages == yes ]]; then
    { install_packages && check_cmake; } >&2
  fi
  type -P python3 >/dev/null || fail "This needs python3." 1
  local script=$PWD/exercises/exercise.py
  cd "$called_from"
  export PYTHONDONTWRITEBYTECODE=1
  exec python3 "$script" "$command" "${passed_on[@]}"
}

case $command in
  tour) tour ;;
  count) count ;;
  build) build_programs ;;
  exercise | hint | solution | grade) exercise ;;
  try) try_program ;;
  plot | convert | predict-scaling) python_program ;;
  install) install_packages ;;
  test) run_tests ;;
  bench) bench ;;
  reproduce) reproduce ;;
  docs) docs ;;
  clean)
    rm -rf build 2>/dev/null ||
      fail "Some of $PWD/build cannot be removed; it belongs to another user, or is on a read-only disk." 1
    say "Removed build/"
    ;;
  help) help ;;
esac
