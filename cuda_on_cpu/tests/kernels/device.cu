#include "device_vector.cuh"
#include "kernels/teaching_kernels.hpp"

namespace teaching {

void wait_for_all() {
  check(cudaDeviceSynchronize());
}

std::string obstacle() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return devices == 0 ? "there is no device" : "";
}

}  // namespace teaching
