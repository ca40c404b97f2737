# Where the .cu files of the stages run: the cache variable STAGEWISE_DEVICE (auto, cuda or cpu) becomes
# STAGEWISE_CUDA, ON where nvcc compiles them and OFF where they run on CUDA on the CPU. And the one
# call that means both: stagewise_cuda_sources.

# stagewise_find_gpus(VARIABLE): the architectures of the GPUs that answer to a program made by nvcc, as
# 80-real;90-real; empty if none does, or nvcc cannot compile for it. Fails nowhere.
function(stagewise_find_gpus variable)
  set(${variable} "" PARENT_SCOPE)
  find_program(STAGEWISE_NVIDIA_SMI nvidia-smi)
  mark_as_advanced(STAGEWISE_NVIDIA_SMI)
  if(NOT STAGEWISE_NVIDIA_SMI OR NOT CMAKE_CUDA_COMPILER)
    return() # no driver: spares the seconds that nvcc takes
  endif()
  set(program ${PROJECT_BINARY_DIR}/CMakeFiles/list_gpus.cu)
  file(WRITE ${program} [[
#include <cstdio>
int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) return 1;
  for (int i = 0; i < devices; ++i) {
    int major = 0, minor = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, i);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, i);
    std::printf("%d%d\n", major, minor);
  }
}
]])
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --run ${program} OUTPUT_VARIABLE found ERROR_QUIET
                  RESULT_VARIABLE result TIMEOUT 120
                  WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/CMakeFiles)
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE known ERROR_QUIET)
  string(REGEX MATCHALL "[0-9]+" found "${found}")
  list(REMOVE_DUPLICATES found)
  set(architectures "")
  foreach(architecture IN LISTS found)
    if(result EQUAL 0 AND known MATCHES "sm_${architecture}[^0-9a-z]")
      list(APPEND architectures ${architecture}-real)
    endif()
  endforeach()
  set(${variable} "${architectures}" PARENT_SCOPE)
endfunction()

# stagewise_try_wgmma(VARIABLE): whether nvcc compiles the instructions of Hopper's tensor cores the way in
# which the top rungs of the GEMM ladder write them. Asked once.
function(stagewise_try_wgmma variable)
  if(NOT DEFINED STAGEWISE_WGMMA)
    set(program ${PROJECT_BINARY_DIR}/CMakeFiles/try_wgmma.cu)
    file(WRITE ${program} [[
struct Order { static constexpr char name[] = "fence"; };
__global__ void kernel() { asm volatile("wgmma.%0.sync.aligned;" ::"C"(Order::name)); }
]])
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} -std=c++20 -gencode arch=compute_90a,code=sm_90a -cubin
                            -o ${program}.cubin ${program}
                    OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE result TIMEOUT 120)
    set(found OFF)
    if(result EQUAL 0)
      set(found ON)
    endif()
    set(STAGEWISE_WGMMA ${found} CACHE INTERNAL "nvcc compiles the rungs with wgmma")
  endif()
  set(${variable} ${STAGEWISE_WGMMA} PARENT_SCOPE)
endfunction()

set(STAGEWISE_CUDA OFF)
set(gpus "")
if(STAGEWISE_DEVICE MATCHES "^(auto|cuda)$")
  include(CheckLanguage)
  check_language(CUDA)
  stagewise_find_gpus(gpus)
endif()
if(STAGEWISE_DEVICE STREQUAL "auto")
  if(gpus)
    set(STAGEWISE_CUDA ON)
  elseif(STAGEWISE_NVIDIA_SMI)
    message(STATUS "The driver of a GPU is installed, but there is no nvcc, or no GPU that answers to "
                   "its programs. For nvcc: sudo apt install nvidia-cuda-toolkit")
  endif()
elseif(STAGEWISE_DEVICE STREQUAL "cuda")
  if(NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "STAGEWISE_DEVICE is cuda, but no working nvcc was found. Install it with: "
                        "sudo apt install nvidia-cuda-toolkit (or from "
                        "https://developer.nvidia.com/cuda-downloads; its folder bin belongs into "
                        "PATH), or run the kernels on the CPU with: cmake --preset cpu")
  endif()
  set(STAGEWISE_CUDA ON)
elseif(NOT STAGEWISE_DEVICE STREQUAL "cpu")
  message(FATAL_ERROR "STAGEWISE_DEVICE is '${STAGEWISE_DEVICE}', but must be auto, cuda or cpu.")
endif()

if(STAGEWISE_CUDA)
  # Without a GPU at hand, the list covers what CUDA 12 and 13 both know, and ends in PTX, which the
  # driver compiles for newer ones.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(architectures 75-real 80-real 86-real 89-real 90-real 90-virtual)
    if(gpus)
      set(architectures ${gpus})
    endif()
    set(CMAKE_CUDA_ARCHITECTURES "${architectures}" CACHE STRING "GPUs to compile for")
  endif()
  enable_language(CUDA)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12)
    message(FATAL_ERROR "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is too old: C++20 in kernels takes CUDA 12. "
                        "Install a newer one (https://developer.nvidia.com/cuda-downloads), or run the "
                        "kernels on the CPU with: cmake --preset cpu")
  endif()
  if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # nvcc 12 can do it, but CMake 3.25 does not know
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  find_package(CUDAToolkit REQUIRED)
  message(STATUS "Kernels run on the GPU: nvcc ${CMAKE_CUDA_COMPILER_VERSION}, architectures "
                 "${CMAKE_CUDA_ARCHITECTURES}")
else()
  message(STATUS "Kernels run on the CPU (CUDA on the CPU)")
endif()

# stagewise_cuda_sources(TARGET FILES...): adds .cu files to a library or a program, and names the
# .cuh files that they and others include. In a CUDA build nvcc compiles them; elsewhere they are
# translated and compiled as C++. Either way the target's own .cpp files, and what links the target,
# may include <cuda_runtime.h>.
function(stagewise_cuda_sources target)
  if(STAGEWISE_CUDA)
    target_sources(${target} PRIVATE ${ARGN})
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON) # CMake 3.31 would join them
    target_link_libraries(${target} PUBLIC CUDA::cudart_static)
  else()
    set(CUDA_ON_CPU_ROOTS common stages tests cuda_on_cpu/tests)
    if(CMAKE_CURRENT_SOURCE_DIR MATCHES "/(ladders|reports|tests/instrumented)$")
      list(APPEND CUDA_ON_CPU_ROOTS .) # for ladders/...
    endif()
    # The CPU only plays the GPU: there, kernels need not be fast, and compile in half the time. Of what g++ does at -O2
    # besides, two options have most of the effect, since each access to memory has a call beside it, for one that is
    # misaligned. The third joins multiplications and additions, as nvcc does.
    set(gnu $<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>)
    set(CUDA_ON_CPU_OPTIONS $<$<CONFIG:Release>:-O1>
                            "$<$<AND:${gnu}>:-fcaller-saves;-finline-functions;-fexpensive-optimizations>")
    cuda_on_cpu_sources(${target} ${ARGN})
  endif()
endfunction()
