#!/usr/bin/env bash
# Compiles a CUDA program, as nvcc would, to run on the CPU:
#
#   compile.sh [--instrumented] BUILD FILE.cu PROGRAM [OTHER FILES] [OPTIONS OF THE COMPILER]
#
# --instrumented makes the program report its accesses to memory, for STAGEWISE_CPU_OBSERVE. Other files are further .cu
# files, C++ and C. What is __device__ in one of several files is its own, unless there is the option -rdc=true.
#
# BUILD is the folder where this project was built; it contains the runtime and the translator. The compiler is $CXX, or
# else c++. Its preprocessor runs first, so that the translator sees neither #if branches nor macros.
set -euo pipefail

instrumented=no
if [[ $1 == --instrumented ]]; then
  instrumented=yes
  shift
fi
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
build=$(realpath "$1")
program=$3
sources=("$2")
shift 3
relocatable=no
of_compiler=() # options
of_linker=()
for argument in "$@"; do
  case $argument in
    -rdc=true) relocatable=yes ;;
    -fopenmp)
      of_compiler+=("$argument")
      of_linker+=("$argument")
      ;;
    -l* | -L* | -Wl,* | -rdynamic) of_linker+=("$argument") ;;
    -*) of_compiler+=("$argument") ;;
    *.cu | *.cpp | *.cc | *.cxx | *.C | *.c) sources+=("$argument") ;;
    *.o | *.a | *.so | *.so.*) of_linker+=("$argument") ;;
    *) of_compiler+=("$argument") ;; # the value of an option
  esac
done
set -- "${of_compiler[@]}"
read -ra compiler <<<"${CXX:-c++}" # may contain arguments
if ! type -P "${compiler[0]:-}" >/dev/null; then
  echo "compile.sh: there is no compiler '${CXX:-c++}' here; the variable CXX names another" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# library_of HEADER: the library that the header belongs to and that is not modelled; fails if there is none.
library_of() {
  case $1 in
    cub/*) echo CUB ;;
    curand_mtgp32*) echo cuRAND ;;
    cublasLt* | cublasXt*) echo cuBLAS ;;
    cufft*) echo cuFFT ;;
    cusparse*) echo cuSPARSE ;;
    cusolver*) echo cuSOLVER ;;
    cudnn*) echo cuDNN ;;
    cutlass/* | cute/*) echo CUTLASS ;;
    nccl*) echo NCCL ;;
    nvshmem*) echo NVSHMEM ;;
    npp*) echo NPP ;;
    nvjpeg*) echo nvJPEG ;;
    nvml*) echo NVML ;;
    nvrtc*) echo NVRTC ;;
    cuda/std/* | cuda/* | nv/*) echo libcu++ ;;
    cuda_fp[468]* | cuda_awbarrier* | cuda_occupancy*) echo "the CUDA Toolkit" ;;
    cuda_gl_interop* | cuda_egl* | cuda_vdpau* | cudaGL*) echo "the graphics interoperability" ;;
    cufile* | cupti* | nvToolsExt* | cuComplex*) echo "the CUDA Toolkit" ;;
    texture_* | surface_*) echo "the runtime" ;;
    helper_*.h) echo "NVIDIA's CUDA samples" ;;
    *) return 1 ;;
  esac
}

# refuse PLACE HEADER LIBRARY [NAME]: what the header declares, the name for example, is not there.
refuse() {
  local what="<$2>"
  [[ -z ${4:-} ]] || what="'$4', of <$2>,"
  case $3 in
    libcu++) echo "$1: $what belongs to libcu++, of which CUDA on the CPU has <cuda/atomic>, <cuda/barrier>, <cuda/cmath>, <cuda/functional>, <cuda/pipeline> and some of <cuda/std/...>; this needs a GPU build" ;;
    "the CUDA Toolkit") echo "$1: $what belongs to the CUDA Toolkit, and CUDA on the CPU does not model it; this needs a GPU build" ;;
    "NVIDIA's CUDA samples") echo "$1: $what comes with NVIDIA's CUDA samples: put that header, and those that it includes, beside the program" ;;
    *) echo "$1: $what belongs to $3, which needs a GPU build; of the libraries, CUDA on the CPU has cuBLAS, cuRAND, Thrust and the common part of CUB" ;;
  esac >&2
}

# leave_out PLACE HEADER: from now on the header is an empty file. Fails unless it is of a library that is not modelled:
# what is included and not used costs nothing. A header that has been left out already is not there under any name.
leave_out() {
  local library
  library=$(library_of "$2") && [[ ! -e $work/absent/$2 ]] || return 1
  mkdir -p "$work/absent/$(dirname "$2")"
  : >"$work/absent/$2"
  [[ $library != CUB ]] || echo '#include <cub/cub.cuh>' >"$work/absent/$2" # where all is that is modelled
  echo "$1 $2 $library" >>"$work/left_out"
}

# leave_out_found FILE: the same for those that a preprocessed program has found somewhere on this machine.
leave_out_found() {
  local place path header left_out=no
  while read -r place path; do
    header=${path##*/}
    [[ ! $path =~ /((thrust|cub|cuda|nv|cutlass|cute)/.*)$ ]] || header=${BASH_REMATCH[1]}
    ! leave_out "$place" "$header" || left_out=yes
  done < <(awk -v own="$here/" '
    /^# [0-9]+ "/ { path = substr($3, 2, length($3) - 2)
      if ($4 == 1 && !is_system && $0 ~ / 1 3/ && index(path, own) != 1 && path ~ /\/(cub|cuda|nv|cu[^\/]*|n[pv][^\/]*|nccl[^\/]*)(\/|\.h)/) print file ":" line + 1, path
      line = $2 - 1; file = path; is_system = $0 ~ /".* 3( |$)/; next }
    { ++line }' "$1")
  [[ $left_out == yes ]]
}

# library_of_name NAME: the library that it belongs to, of those whose headers have been left out.
library_of_name() {
  local place header library words
  while read -r place header library; do
    case $header/$library in
      */CUTLASS) words='cutlass|cute' ;;
      */libcu++) words='(cuda|nv)(::|$)|ptx$' ;;
      cuda_fp*) words='cuda_fp|__nv_fp' ;;
      */"the CUDA Toolkit") words='cupti|cufile|cudaOcc' ;;
      */"the graphics interoperability") words='cudaG|cudaE|cudaV' ;;
      helper_*) words='checkCudaErrors$|getLastCudaError$|findCudaDevice|gpu[DG]|sdk[A-Z]|checkCmd|getCmd|StopWatch|__(check|getLast)Cuda|ftoi$|stringRemove' ;;
      *) words=$library ;;
    esac
    if grep -qiE "^($words)" <<<"$1"; then
      echo "$header $library"
      return 0
    fi
  done < <(cat "$work/left_out" 2>/dev/null)
  return 1
}

# explain FILE: says in one sentence what the compiler, whose messages FILE holds, did not find, if that is clear.
explain() {
  local place header library name
  read -r place header < <(sed -nE "s/^([^ :]+:[0-9]+):[0-9]+: fatal error: '?([^ ':]+)'?(:| file not).*/\1 \2/p" "$1") || true
  if [[ -n ${header:-} ]]; then
    if library=$(library_of "$header"); then
      refuse "$place" "$header" "$library"
      return 0
    elif [[ $header == thrust/* && ! -e /usr/include/thrust/version.h ]]; then
      echo "$place: <$header> belongs to Thrust, which CUDA on the CPU takes from a package: sudo apt install libthrust-dev" >&2
      return 0
    elif [[ $header == cublas.h ]]; then
      echo "$place: <cublas.h> is the interface to cuBLAS of before 2010, in which CUDA on the CPU has no part: include <cublas_v2.h>" >&2
      return 0
    elif [[ $header == cblas.h ]]; then
      echo "$file: cuBLAS is computed by OpenBLAS here: sudo apt install libopenblas-dev" >&2
      return 0
    fi
    case ${header,,} in
      windows.h | conio.h | process.h | direct.h | tchar.h)
        echo "$place: $header belongs to Windows; put it, and what needs it, between #ifdef _WIN32 and #endif" >&2 ;;
      cutil*.h)
        echo "$place: $header came with NVIDIA's samples until 2012; what is in it, the program must bring along" >&2 ;;
      *)
        echo "$place: there is no $header here: put it beside the program, or name its folder by -I" >&2 ;;
    esac
    return 0
  fi
  if grep -q '<<<' "$file" && [[ $file != *.cu ]] && grep -q "error: expected .* before '<' token" "$1"; then
    echo "$file:$(grep -m 1 -n '<<<' "$file" | cut -d : -f 1): here a kernel is launched, which C++ does not know: give the file the ending .cu" >&2
    return 0
  fi
  name=$(sed -nE "s/.*(undefined reference to|multiple definition of) [\`'‘]([^'’]+)['’].*/\2/p" "$1" | head -n 1)
  place=$(sed -nE "s/^([^ ]* )?([^ :]+:[0-9]+): (undefined reference to|multiple definition of) .*/\2/p" "$1" | head -n 1)
  if [[ $name == main ]]; then
    echo "${sources[*]}: no main(), so it cannot be run" >&2
    return 0
  elif [[ -n $name ]] && grep -q 'multiple definition of' "$1"; then
    echo "${place:-$file}: another file defines '$name', too: in a header, write inline before it; else, static" >&2
    return 0
  elif [[ -n $name ]]; then
    echo "${place:-$file}: '$name' is used but not defined: is it in another file, or in a library?" >&2
    return 0
  fi
  # As clang and as g++ says that a declaration differs from the one before.
  read -r place name < <(sed -nE "s/^([^ :]+:[0-9]+):[0-9]+: error: (redeclaration of|conflicting declaration) .*cuda_on_cpu_extern_([A-Za-z0-9_]+).*/\1 \3/p" "$1" | head -n 1) || true
  if [[ -n ${name:-} ]]; then
    echo "$place: 'extern __shared__ ${name}[]' has been declared with another type, which nvcc refuses: give each type a name of its own, or declare unsigned char ${name}[] and cast it" >&2
    return 0
  fi
  # Functions that went with the devices of before 2017.
  read -r place name < <(sed -nE "s/^([^ :]+:[0-9]+):[0-9]+: error: .*['‘](__(shfl|shfl_up|shfl_down|shfl_xor|any|all|ballot))['’].*/\1 \2/p" "$1" | head -n 1) || true
  if [[ -n ${name:-} ]]; then
    echo "$place: no device since Volta (2017) has $name(): write ${name}_sync(0xffffffff, ...), which names the lanes that take part" >&2
    return 0
  fi
  # What CUB has besides, as g++ and as clang say it.
  read -r place name < <(sed "s/[‘’]/'/g" "$1" | sed -nE "/error: /{
    s/: error: '([A-Za-z0-9_]+)' (is not a member of|in namespace) '(cub[^'<]*).*/: error: \3::\1/
    s/: error: .*(cub::[A-Za-z0-9_:]*).* has no member named '([A-Za-z0-9_]+)'.*/: error: \1::\2/
    s/: error: no .*named '([A-Za-z0-9_]+)' in (namespace )?'(cub[^'<]*).*/: error: \3::\1/
    s/^([^ :]+:[0-9]+):[0-9]+: error: (cub::[A-Za-z0-9_:]+)$/\1 \2/p
    q}") || true
  if [[ -n ${name:-} ]]; then
    echo "$place: of CUB, CUDA on the CPU does not have '$name'; this needs a GPU build" >&2
    return 0
  fi
  # What belongs to a library whose header has been left out.
  while read -r place name; do
    read -r header library < <(library_of_name "$name") || continue
    refuse "$place" "$header" "$library" "$name"
    return 0
  done < <(sed -nE "s/^([^ :]+:[0-9]+):[0-9]+: error: [^'‘]*['‘]([A-Za-z0-9_:]+)['’].*/\1 \2/p" "$1")
  # The first error, if it is about a CUDA name.
  read -r place name < <(sed -nE "/error: /{s/^([^ :]+:[0-9]+):[0-9]+: error: [^'‘]*['‘]((cuda[A-Z]|CUDA_|cublas|CUBLAS_|curand|CURAND_|__)[A-Za-z0-9_]+)['’]( was not declared| does not name|).*/\1 \2/p;q}" "$1") || true
  [[ -n ${name:-} ]] || return 1
  echo "$place: CUDA on the CPU does not know '$name': it is misspelt or not modelled" >&2
}

# about_program FILE: of the compiler's messages in FILE, those about the program: not how the runtime's headers came to
# call what is wrong, and no mark below a line of the program at a place that only its translation has.
about_program() {
  awk -v own="$here/include/" '
    function is_ours() { return index($0, own) == 1 || index($0, "/usr/") == 1 }
    /^In file included from / || /^ +from / || /In instantiation of .*<lambda\(auto:/ { next }
    /:[0-9]+:   (recursively )?required (from|by)/ && is_ours() { next }
    /^[^ ].*: (error|fatal error|note): / {
      is_left_out = / note: / && (is_ours() || /suggested alternatives?:$/ || /in instantiation of .*cuda_on_cpu::/)
      is_before_mark = 1 }
    is_left_out { next }
    /^ +[0-9]+ \| / { end = length($0) }
    /^ +\| +[~^]/ { is_before_mark = match($0, /\^/) <= end }
    /^ +\| / && !is_before_mark { next }
    { sub(/ +$/, ""); print }' "$1" |
    sed -E "s/['‘]cuda_on_cpu::[^'’]*['’] \{aka (['‘][^'’]*['’])\}/\1/g"
}

# certain_mistakes FILE: of the compiler's warnings in FILE, those that no right program gets, in a sentence each. The line of
# a function that returns nothing is that of its name.
certain_mistakes() {
  sed "s/‘\|’/'/g" "$1" | awk '
    function line_of(name, line,    text, i, found) {
      for (i = 1; i <= line && (getline text < file) > 0; ++i) if (name != "" && index(text, name "(")) found = i
      close(file)
      return found ? found : line
    }
    /: In .*function / { name = $0; sub(/^[^\047]*\047/, "", name); sub(/\(.*/, "", name); sub(/.*[ *&:]/, "", name); next }
    match($0, /:[0-9]+:[0-9]+: warning: /) {
      file = substr($0, 1, RSTART - 1); place = substr($0, RSTART + 1); line = place + 0
      sub(/.*: warning: /, "", place); split(place, quoted, "\047"); variable = quoted[2]; said = ""
      if (place ~ /^no return statement|^non-void function does not return a value \[/) {
        line = line_of(name, line)
        said = (name == "" ? "a function" : "\047" name "\047") " has no return statement, so its result can be anything"
      } else if (variable !~ /^[A-Za-z_0-9]+$/ && place !~ /zero/) next
      else if (place ~ /is (used )?uninitialized/) said = "\047" variable "\047 is used before it has a value"
      else if (place ~ /^address of .*local variable .* returned/) said = "the address of \047" variable "\047 is returned, which ends with its function"
      else if (place ~ /^division by zero/) said = "a division by zero"
      if (said != "" && !told[file, line, said]++) print file ":" line ": " said
    }'
}

# compile OPTIONS...: shows the compiler's messages, unless one sentence says it better.
compile() {
  if "${compiler[@]}" "$@" 2>"$work/messages"; then
    certain_mistakes "$work/messages" >&2
  else
    "${compiler[@]}" "$@" -w 2>"$work/messages" || true
    explain "$work/messages" || about_program "$work/messages" >&2
    exit 1
  fi
}

# asks_for_architecture FILE: does this preprocessed program, or a header of its own, mention __CUDA_ARCH__?
asks_for_architecture() {
  local path
  while IFS= read -r path; do
    [[ ! -f $path ]] || ! grep -q __CUDA_ARCH__ "$path" || return 0
  done < <(sed -nE 's/^# [0-9]+ "([^"<]+)"[ 12]*$/\1/p' "$1" | sort -u | grep -vF "$here/include/")
  return 1
}

# nvcc includes the runtime's header automatically. Alignment checks on accesses are cheap from -O2 on. A function without
# a return statement goes on where it was called, as it does on a GPU.
options=(-O2 -g1 -fsanitize=alignment "-I$work/absent" -isystem "$here/include")
for library in "$here"/libraries/*/; do options+=(-isystem "$library"); done
options+=(-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP -DTHRUST_IGNORE_DEPRECATED_CPP_DIALECT)
if [[ $("${compiler[@]}" --version) == *clang* ]]; then
  options+=(-gdwarf-aranges -fno-strict-return)
else
  options+=(-fsanitize=unreachable -fno-sanitize=return)
fi

# translate: the preprocessed program. As with nvcc, __CUDA_ARCH__ is there for the device's code only. If that has PTX
# for newer devices, an older one may do without.
translate() {
  local architecture
  if ! asks_for_architecture "$work/program.ii"; then
    "$build/cuda_on_cpu_translate" --preprocessed "$work/program.ii" "$work/program.cpp"
    return
  fi
  for architecture in 900 700; do
    compile "${options[@]}" -x c++ -E -DCUDA_ON_CPU_PREPROCESSING "-D__CUDA_ARCH__=$architecture" \
      "${headers[@]}" "$file" -o "$work/device.ii"
    "$build/cuda_on_cpu_translate" --preprocessed "$work/program.ii" "$work/program.cpp" "$work/device.ii" \
      2>"$work/refusal$architecture" && return
    grep -q 'inline PTX' "$work/refusal$architecture" || break
  done
  cat "$work/refusal900" >&2
  return 1
}

# preprocess: the program, again and again while it includes what has to be left out.
preprocess() {
  local place header
  until "${compiler[@]}" "${options[@]}" -x c++ -E -DCUDA_ON_CPU_PREPROCESSING "${headers[@]}" "$file" \
    -o "$work/program.ii" 2>"$work/messages" && ! leave_out_found "$work/program.ii"; do
    read -r place header < <(sed -nE "s/^([^ :]+:[0-9]+):[0-9]+: fatal error: '?([^ ':]+)'?(:| file not).*/\1 \2/p" "$work/messages") || true
    if [[ -s $work/messages ]] && ! leave_out "$place" "${header:-}"; then
      explain "$work/messages" || about_program "$work/messages" >&2
      exit 1
    fi
  done
}

# object FILE OBJECT: compiles a file of the program.
object() {
  local file=$1 object=$2 headers=() source=(-include cuda_on_cpu/qualifiers.h "$work/program.cpp")
  [[ $file != ../* && $file != */../* ]] || file=$(realpath "$file") # to match the names in debug information
  case $file in
    *.cu)
      # Those of the runtime's other headers that the program includes come before its macros, such as N and T: unlike
      # NVIDIA's, they use short names.
      headers=(-include cuda_on_cpu/nvcc.h)
      local header
      while IFS= read -r header; do
        [[ $header != *.h && $header != cuda/* || ! -f $here/include/$header ]] || headers+=(-include "$header")
        [[ $header != thrust/* ]] || headers+=(-include iostream) # which NVIDIA's Thrust brings along
      done < <(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]((cooperative_groups|cuda|mma|cuComplex|thrust)[A-Za-z0-9_/]*(\.h)?)[>"].*/\1/p' "$file")
      preprocess
      ! grep -qF "$here/libraries/cublas/" "$work/program.ii" || of_linker+=(-lopenblas)
      translate || exit "$is_refused"
      [[ $is_local == no ]] || hide_device_names "$work/program.cpp"
      ;;
    *.c)
      compile -O2 -g1 -w "${of_compiler[@]/#-std=*/-w}" -x c -c "$file" -o "$object"
      return
      ;;
    *) source=("$file") ;;
  esac
  # Clang may merge calls of a function in two branches into one call; lanes that ask which lanes are active would
  # then get those of both branches.
  if [[ " ${options[*]} " == *aranges* ]] && grep -qE '\<(coalesced_threads|__activemask) *\(' "$file"; then
    options+=(-O0)
  fi
  compile "${options[@]}" "${reports[@]}" -c "${source[@]}" -o "$work/program.o"
  compile -r -nostdlib "${wrapped[@]}" "$work/program.o" -o "$object"
  [[ $is_local == no ]] || make_local "$object" || exit 1
}

# hide_device_names FILE, make_local OBJECT: without -rdc=true, nvcc gives each file its own device variables, and knows no
# device code of others. Here, names are marked in the translation; variables become local in the object.
hide_device_names() {
  sed -Ei '/^[[:space:]]*__device__[[:space:]]+__host__/!s/^([[:space:]]*(extern[[:space:]]+("C"[[:space:]]+)?)?)(__(device|constant|managed)__|CUDA_ON_CPU_SECTION\()/\1__attribute__((visibility("hidden"))) \4/' "$1"
}
make_local() {
  local symbols name
  symbols=$(readelf -sW "$1" | awk '$5 == "GLOBAL" && $6 == "HIDDEN" { print $7, $4, $8 }')
  name=$(sed -n 's/^UND [A-Z]* //p;T;q' <<<"$symbols" | c++filt)
  if [[ -n $name ]]; then
    echo "$file: '$name' is device code of another file, which nvcc, too, uses with the option -rdc=true only" >&2
    return 1
  fi
  sed -n 's/^[0-9]* OBJECT //p' <<<"$symbols" >"$work/local"
  [[ ! -s $work/local ]] || objcopy --localize-symbols="$work/local" "$1"
}

# build STANDARD OPTIONS...: the program.
build() (
  options=("-std=$1" "${options[@]}" "${@:2}")
  [[ $instrumented == no ]] || options+=(-DCUDA_ON_CPU_INSTRUMENTED)
  # What is reported goes to src/accesses.cpp instead of ThreadSanitizer's library, which is not linked. Each
  # thread's accesses stay what the program says: none are joined to vectors.
  reports=()
  if [[ $instrumented == no ]]; then
    reports=(-Wreturn-type -Wuninitialized)
  elif [[ " ${options[*]} " == *aranges* ]]; then
    reports=(-w -fsanitize=thread -U__SANITIZE_THREAD__ -fno-vectorize -fno-slp-vectorize
      -mllvm -tsan-instrument-func-entry-exit=0 -mllvm -tsan-distinguish-volatile=1
      -mllvm -tsan-instrument-read-before-write=1)
  else
    reports=(-w -fsanitize=thread -U__SANITIZE_THREAD__ -fno-tree-vectorize -fno-tree-loop-distribute-patterns
      --param=tsan-instrument-func-entry-exit=0 --param=tsan-distinguish-volatile=1)
  fi
  # What the program allocates and frees itself is the business of src/allocations.cpp, what libraries do is not.
  wrapped=()
  for name in malloc calloc realloc free aligned_alloc posix_memalign strdup malloc_usable_size _Znwm _Znam _ZdlPv _ZdaPv \
    {_Znwm,_Znam}{RKSt9nothrow_t,St11align_val_t} {_ZdlPv,_ZdaPv}{m,St11align_val_t,mSt11align_val_t}; do
    wrapped+=("-Wl,--wrap=$name")
  done
  # Functions of the C library that copy are called by way of src/accesses.cpp, but not by the runtime.
  [[ $instrumented == no ]] || wrapped+=('-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset')
  is_local=no
  [[ ${#sources[@]} -eq 1 || $relocatable == yes ]] || is_local=yes
  objects=()
  for file in "${sources[@]}"; do
    objects+=("$work/${#objects[@]}.o")
    object "$file" "${objects[-1]}"
  done
  for option in "${options[@]}"; do [[ $option != -fsanitize=address* ]] || objects+=("$option"); done
  compile "${objects[@]}" "-Wl,--wrap=main,-T,$here/device_variables.ld" -o "$program" "${of_linker[@]}" \
    "$build/libcuda_on_cpu_host.a" "$build/libcuda_on_cpu.a" -lboost_context -ldw -ldl -pthread
)

# errors_in FILE: their number.
errors_in() {
  grep -c ': error: ' "$1" || true
}

# nvcc takes a program for C++17, whose rules differ from those of C++20 in what old programs do. One that needs C++20
# is told so by an option of nvcc's, which cannot be known here: if both fail, the one with fewer errors was meant.
# What the translator refuses, it refuses in any.
readonly is_refused=3
said=$work/said
code=0
build gnu++17 "$@" 2>"$said" || code=$?
if [[ $code -ne 0 && $code -ne $is_refused && " $* " != *" -std="* ]]; then
  code=0
  build gnu++20 "$@" 2>"$work/said_then" || code=$?
  [[ $code -ne 0 && $(errors_in "$work/said_then") -ge $(errors_in "$said") ]] || said=$work/said_then
fi
cat "$said" >&2
[[ $code -eq 0 ]]
