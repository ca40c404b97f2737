// Prints what a device can do, in the manner of a vendor's sample. Names and speeds are left out: they differ.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define checkCudaErrors(call)                                                                  \
  do {                                                                                         \
    cudaError_t err = (call);                                                                  \
    if (err != cudaSuccess) {                                                                  \
      fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\"\n", __FILE__, __LINE__,          \
              static_cast<unsigned int>(err), cudaGetErrorName(err), #call);                   \
      exit(EXIT_FAILURE);                                                                      \
    }                                                                                          \
  } while (0)

inline int ConvertSMVer2Cores(int major, int minor) {
  typedef struct { int SM; int Cores; } sSMtoCores;
  sSMtoCores table[] = {{0x30, 192}, {0x60, 64}, {0x70, 64}, {0x80, 64}, {0x86, 128}, {0x90, 128}, {-1, -1}};
  for (int i = 0; table[i].SM != -1; i++)
    if (table[i].SM == ((major << 4) + minor)) return table[i].Cores;
  return 128;
}

int main(int argc, char **argv) {
  int deviceCount = 0;
  checkCudaErrors(cudaGetDeviceCount(&deviceCount));
  printf("Detected %d CUDA Capable device(s)\n", deviceCount);

  int driverVersion = 0, runtimeVersion = 0;
  for (int dev = 0; dev < deviceCount; ++dev) {
    cudaSetDevice(dev);
    cudaDeviceProp deviceProp;
    checkCudaErrors(cudaGetDeviceProperties(&deviceProp, dev));
    cudaDriverGetVersion(&driverVersion);
    cudaRuntimeGetVersion(&runtimeVersion);
    printf("  driver is new enough: %s\n", driverVersion >= runtimeVersion ? "Yes" : "No");
    printf("  compute capability %d.%d, %s cores\n", deviceProp.major, deviceProp.minor,
           ConvertSMVer2Cores(deviceProp.major, deviceProp.minor) * deviceProp.multiProcessorCount > 0 ? "some" : "no");
    printf("  global memory: %s\n", deviceProp.totalGlobalMem > (1u << 20) ? "more than a MiB" : "little");
    printf("  shared memory per block: %zu bytes\n", deviceProp.sharedMemPerBlock);
    printf("  constant memory: %zu bytes\n", deviceProp.totalConstMem);
    printf("  registers per block: %d\n", deviceProp.regsPerBlock);
    printf("  warp size: %d\n", deviceProp.warpSize);
    printf("  threads per multiprocessor: %d, per block: %d\n", deviceProp.maxThreadsPerMultiProcessor,
           deviceProp.maxThreadsPerBlock);
    printf("  block: (%d, %d, %d)\n", deviceProp.maxThreadsDim[0], deviceProp.maxThreadsDim[1], deviceProp.maxThreadsDim[2]);
    printf("  grid: (%d, %d, %d)\n", deviceProp.maxGridSize[0], deviceProp.maxGridSize[1], deviceProp.maxGridSize[2]);
    printf("  concurrent copy and kernel execution: %s with %d copy engine(s)\n",
           deviceProp.asyncEngineCount ? "Yes" : "No", deviceProp.asyncEngineCount > 0);
    printf("  unified addressing: %s, managed memory: %s, cooperative launch: %s\n",
           deviceProp.unifiedAddressing ? "Yes" : "No", deviceProp.managedMemory ? "Yes" : "No",
           deviceProp.cooperativeLaunch ? "Yes" : "No");
    printf("  ECC: %s\n", deviceProp.ECCEnabled ? "Enabled" : "Disabled");

    int fromAttribute = 0;
    checkCudaErrors(cudaDeviceGetAttribute(&fromAttribute, cudaDevAttrMultiProcessorCount, dev));
    printf("  attribute and property agree: %s\n", fromAttribute == deviceProp.multiProcessorCount ? "Yes" : "No");
    checkCudaErrors(cudaDeviceGetAttribute(&fromAttribute, cudaDevAttrMaxSharedMemoryPerBlockOptin, dev));
    printf("  opt-in shared memory: %d bytes\n", fromAttribute);
    size_t limit = 0;
    checkCudaErrors(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    printf("  stack of a thread: %zu bytes\n", limit);
    char bus[32];
    int same = -1;
    checkCudaErrors(cudaDeviceGetPCIBusId(bus, sizeof bus, dev));
    checkCudaErrors(cudaDeviceGetByPCIBusId(&same, bus));
    printf("  found by its bus: %s\n", same == dev ? "Yes" : "No");
  }
  cudaDeviceProp wanted = {};
  wanted.major = 3;
  int chosen = -1;
  checkCudaErrors(cudaChooseDevice(&chosen, &wanted));
  printf("chosen: %d, Result = PASS\n", chosen);
  return 0;
}
