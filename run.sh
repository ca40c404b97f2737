#!/usr/bin/env bash
# From a fresh clone to a trained network in one command. "./run.sh help" says what else it can do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly presets="auto cuda cpu asan tsan coverage"
readonly cmake_needed=3.25

# ---------------------------------------------------------------------------------------------------
# What is said, and how

if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
  bold=$'\e[1m' plain=$'\e[0m'
else
  bold='' plain=''
fi

say() { printf '%s==>%s %s\n' "$bold" "$plain" "$1"; }

# fail SENTENCE EXIT-CODE
fail() {
  printf 'run.sh: %s\n' "$1" >&2
  exit "$2"
}

help() {
  cat <<END
${bold}Stagewise${plain}: from a serial neural network to multi-GPU training in five stages

${bold}Usage${plain}
  ./run.sh [COMMAND] [OPTION...]

${bold}Commands${plain}
  (none)    the tour: builds the stages, trains the same small network with each
            of them and prints a table that compares them
  test      builds everything and runs the tests
  docs      builds the documentation and says where it is
  bench     builds and runs the benchmarks
  clean     removes the folder build/
  help      this text

${bold}Options${plain}
  --preset NAME   what to build: auto [default], cuda, cpu [default of test],
                  asan, tsan or coverage; each has its own folder build/NAME
  --jobs N        use N processors [all of them]
  --no-install    install nothing; say what is missing and stop

${bold}Passed on${plain}
  test      to CTest:  -L LABEL   -R NAME   -LE LABEL   -E NAME   -N   -V
            (regular expressions: which labels and names to run or to leave out)
  bench     to the benchmarks:  --benchmark_filter=REGEX  and their like
  Whatever follows a -- is passed on as it is.

${bold}Examples${plain}
  ./run.sh                         see it work
  ./run.sh test -L unit            only the unit tests
  ./run.sh test --preset asan      the tests, under AddressSanitizer
  STAGEWISE_DATA_DIR=~/data ./run.sh test      with the data sets kept there

On Debian and Ubuntu, packages that are missing are installed with apt-get.
END
}

# ---------------------------------------------------------------------------------------------------
# The command line

command=tour
preset=''
jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
install=yes
passed_on=()

if [[ $# -gt 0 && $1 != -* ]]; then
  command=$1
  shift
  case $command in
    test | docs | bench | clean | help) ;;
    *) fail "Unknown command '$command'; the commands are test, docs, bench, clean and help." 2 ;;
  esac
fi

while [[ $# -gt 0 ]]; do
  case $command:$1 in
    *:-h | *:--help) command=help ;;
    *:--no-install) install=no ;;
    *:--preset=*) preset=${1#*=} ;;
    *:--jobs=*) jobs=${1#*=} ;;
    *:--preset | *:--jobs | test:-L | test:-LE | test:-R | test:-E)
      [[ $# -ge 2 ]] || fail "The option $1 needs a value after it." 2
      case $1 in
        --preset) preset=$2 ;;
        --jobs) jobs=$2 ;;
        *) passed_on+=("$1" "$2") ;;
      esac
      shift
      ;;
    test:-V | test:-VV | test:-N | bench:--benchmark_*) passed_on+=("$1") ;;
    test:-- | bench:--)
      shift
      passed_on+=("$@")
      break
      ;;
    *) fail "Unknown option '$1'; ./run.sh help lists what there is." 2 ;;
  esac
  shift
done

if [[ -z $preset ]]; then
  preset=auto
  [[ $command != test ]] || preset=cpu
elif [[ " $presets " != *" $preset "* ]]; then
  fail "Unknown preset '$preset'; the presets are ${presets// /, }." 2
fi
[[ $jobs =~ ^[1-9][0-9]*$ ]] || fail "--jobs is '$jobs', but must be a whole number from 1 on." 2

readonly folder=build/$preset

# ---------------------------------------------------------------------------------------------------
# Set-up: the packages that the command needs

# Prints the packages for $command that this machine lacks. A program counts as there wherever it
# comes from; a library must come from its package.
missing_packages() {
  local -A program_of=([g++]=g++ [cmake]=cmake [ninja-build]=ninja)
  local libraries=(libhdf5-dev zlib1g-dev libcli11-dev nlohmann-json3-dev libopenblas-dev libopenmpi-dev)
  [[ $preset == cuda ]] || libraries+=(libboost-context-dev libdw-dev) # for CUDA on the CPU
  case $command in
    test)
      program_of+=([python3]=python3)
      libraries+=(libgtest-dev libgmock-dev python3-h5py)
      ;;
    bench) libraries+=(libbenchmark-dev) ;;
    docs)
      program_of+=([doxygen]=doxygen [graphviz]=dot)
      libraries+=(doxygen-awesome-css libjs-mathjax)
      ;;
  esac

  local package
  for package in "${!program_of[@]}"; do
    type -P "${program_of[$package]}" >/dev/null || echo "$package"
  done
  for package in "${libraries[@]}"; do
    dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null |
      grep -qx installed || echo "$package"
  done
}

install_packages() {
  if ! type -P apt-get dpkg-query >/dev/null; then
    say "This is neither Debian nor Ubuntu, so nothing is installed here. Needed are a C++20 compiler,
    CMake $cmake_needed, Ninja, HDF5, zlib, CLI11, nlohmann-json, OpenBLAS, Open MPI, Boost.Context and libdw;
    for the tests GoogleTest and Python with h5py, for the benchmarks Google Benchmark, for the documentation Doxygen,
    Graphviz, doxygen-awesome-css and MathJax 2."
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
  say "Installing ${missing[*]}"
  mkdir -p build
  local log=build/install.log code=0
  {
    "${as_root[@]}" apt-get update || true # old lists may do; the next step decides
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install --yes --no-install-recommends "${missing[@]}" || code=$?
  } </dev/null >"$log" 2>&1
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
    fail "CMake $cmake_needed or newer is needed, but $(type -P cmake) is version $found." 1
  fi
}

# ---------------------------------------------------------------------------------------------------
# Build

# Only the tests need the tests' libraries, so everything else configures without them. Switching
# back and forth costs a second and recompiles nothing.
configure() {
  local testing=OFF log=$folder/configure.log code=0
  [[ $command != test ]] || testing=ON
  say "Configuring $folder"
  mkdir -p "$folder"
  cmake --preset "$preset" "-DBUILD_TESTING=$testing" >"$log" 2>&1 || code=$?
  if [[ $code -ne 0 ]]; then
    cat "$log" >&2
    fail "The configuration failed (exit code $code); its output is above." "$code"
  fi
}

# build TARGET
build() {
  local code=0
  say "Building"
  cmake --build --preset "$preset" --parallel "$jobs" --target "$1" || code=$?
  [[ $code -eq 0 ]] || fail "The build failed (exit code $code); its output is above." "$code"
}

prepare() {
  install_packages
  check_cmake
  configure
  build "$1"
}

# ---------------------------------------------------------------------------------------------------
# The commands

tour() {
  prepare tour_programs
  # Open MPI refuses to be run by root, who is everybody in a container, unless told twice.
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  local program arguments=() code=0
  for program in "$folder"/bin/stage0[1-5]_*; do
    [[ ! -x $program ]] || arguments+=(--stage "$program")
  done
  say "The tour"
  "$folder/bin/tour" "${arguments[@]}" --output "$folder/tour" || code=$?
  [[ $code -eq 0 ]] || fail "The tour failed (exit code $code); its output is above." "$code"
}

run_tests() {
  prepare all
  local code=0
  say "Testing"
  ctest --preset "$preset" --parallel "$jobs" --no-tests=error "${passed_on[@]}" || code=$?
  [[ $code -eq 0 ]] || fail "The tests failed (exit code $code); their output is above." "$code"
}

docs() {
  prepare docs
  say "The documentation is $PWD/$folder/docs/html/index.html"
}

bench() {
  prepare benchmarks
  local program code
  for program in "$folder"/bin/bench_*; do
    code=0
    say "${program##*/}"
    "$program" "${passed_on[@]}" || code=$?
    [[ $code -eq 0 ]] || fail "${program##*/} failed (exit code $code); its output is above." "$code"
  done
}

case $command in
  tour) tour ;;
  test) run_tests ;;
  docs) docs ;;
  bench) bench ;;
  clean)
    rm -rf build
    say "Removed build/"
    ;;
  help) help ;;
esac
