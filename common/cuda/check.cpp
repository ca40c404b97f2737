#include "cuda/check.hpp"

#include <string>

#include "cuda/device.hpp"
#include "tensor/error.hpp"

namespace stagewise::cuda {
namespace {

const char* const use_preset_cpu =
    "the preset cpu needs no GPU: its programs run CUDA on the CPU (./run.sh --preset cpu)";
const char* const find_the_line = "the preset cpu names the line of the kernel, and so does compute-sanitizer";

//! [advice]
/// What the user can do about it; empty if the meaning is enough.
std::string advice(cudaError_t status) {
  switch (status) {
    case cudaErrorNoDevice:
    case cudaErrorInitializationError:
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorStubLibrary:
      return use_preset_cpu;
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
      return std::string("install a newer driver of NVIDIA, or build with an older CUDA; ") + use_preset_cpu;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorInvalidPtx:
    case cudaErrorInvalidKernelImage:
      return "the program was compiled for other GPUs than this one; configure it again with "
             "-DCMAKE_CUDA_ARCHITECTURES=native";
    case cudaErrorMemoryAllocation:
      return runs_on_cpu() ? "the host has too little memory for CUDA on the CPU; a smaller network "
                             "or --batch-size needs less"
                           : "a smaller --batch-size needs less memory";
    case cudaErrorInvalidConfiguration:
    case cudaErrorLaunchOutOfResources:
      return "the block is larger than this GPU allows, or its threads need too many registers";
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorIllegalInstruction:
    case cudaErrorAssert:
      return find_the_line;
    case cudaErrorLaunchTimeout:
      return "a GPU that also drives a screen stops kernels after some seconds; try a smaller "
             "--batch-size";
    default:
      return "";
  }
}
//! [advice]

/// "no CUDA-capable device is detected (cudaErrorNoDevice)", and the advice.
std::string meaning(cudaError_t status) {
  const std::string hint = advice(status);
  return std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")" +
         (hint.empty() ? "" : "; " + hint);
}

[[noreturn]] void fail(cudaError_t status, const std::string& what, const char* file, int line) {
  throw Error(what + " at " + path_in_project(file) + ":" + std::to_string(line) + " failed: " + meaning(status));
}

}  // namespace

void check(cudaError_t status, const char* expression, const char* file, int line) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // an error that is not sticky must not be reported again by the next check
  fail(status, expression, file, line);
}

void check_launch(const char* kernel, const char* file, int line) {
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) fail(status, std::string("the kernel ") + kernel, file, line);
}

}  // namespace stagewise::cuda
