# What every target of the project is compiled with: the interface library stagewise_settings.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(stagewise_settings INTERFACE)
set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
             -Wno-missing-field-initializers
             $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>) # false alarms of g++ 12
target_compile_options(stagewise_settings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")
# nvcc hands its host compiler generated code, which -Wpedantic and -Wconversion do not suit.
target_compile_options(
  stagewise_settings
  INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers>"
            "$<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda;--expt-relaxed-constexpr;-lineinfo>")

# The vector instructions of the machine that builds, unless CXXFLAGS name others. Neither -Ofast nor -ffast-math: they would
# take the meaning out of NaN checks and of "the same order of additions".
if(STAGEWISE_NATIVE AND NOT CMAKE_CXX_FLAGS MATCHES "-march=|-mcpu=")
  target_compile_options(stagewise_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=native>
                                                      $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-march=native>)
endif()

# With this linker, a test program is linked in 0.5 s instead of 1.5. Fuzzers and coverage are left to the usual one.
find_program(STAGEWISE_MOLD mold DOC "A fast linker; empty for the usual one")
mark_as_advanced(STAGEWISE_MOLD)
if(STAGEWISE_MOLD AND NOT STAGEWISE_FUZZ AND NOT STAGEWISE_COVERAGE)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=mold STAGEWISE_LINKS_BY_MOLD)
  if(STAGEWISE_LINKS_BY_MOLD)
    target_link_options(stagewise_settings INTERFACE -fuse-ld=mold)
  endif()
endif()

include(${PROJECT_SOURCE_DIR}/cuda_on_cpu/cmake/CudaOnCpu.cmake)
cuda_on_cpu_line_numbers(STAGEWISE_LINE_NUMBERS)

if(STAGEWISE_SANITIZER STREQUAL "address")
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(NOT STAGEWISE_SANITIZER STREQUAL "")
  message(FATAL_ERROR "STAGEWISE_SANITIZER is '${STAGEWISE_SANITIZER}', but must be address or empty.")
endif()
if(STAGEWISE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "STAGEWISE_FUZZ needs libFuzzer, which comes with clang: configure with "
                        "-DCMAKE_CXX_COMPILER=clang++ (sudo apt install clang).")
  elseif(sanitizers)
    message(FATAL_ERROR "STAGEWISE_FUZZ brings its own sanitizers: leave STAGEWISE_SANITIZER empty.")
  endif()
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(stagewise_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(sanitizers)
  target_compile_options(stagewise_settings INTERFACE ${sanitizers} ${STAGEWISE_LINE_NUMBERS})
  target_link_options(stagewise_settings INTERFACE ${sanitizers})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang") # g++ defines it
    target_compile_definitions(stagewise_settings INTERFACE __SANITIZE_ADDRESS__=1)
  endif()
endif()

if(STAGEWISE_COVERAGE)
  target_compile_options(stagewise_settings INTERFACE --coverage)
  target_link_options(stagewise_settings INTERFACE --coverage)
endif()
