// In the manner of vendor samples: helper functions that look for the headers of the toolkit before they define anything,
// and what a device can do. Names and speeds are left out: they differ.
//> sampleHelpers Starting...
//>
//> Device 0: compute capability 9.0, 49152 bytes of shared memory per block, 232448 at most
//>   constant memory: 65536 bytes, registers: 65536, warp size: 32, threads: 2048, per block: 1024
//>   block: (1024, 1024, 64), grid: (2147483647, 65535, 65535), ECC: Disabled
//> Test passed
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime.h>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif

#ifdef __DRIVER_TYPES_H__
static const char *errorName(cudaError_t error) { return cudaGetErrorName(error); }

template <typename T>
void checkResult(T result, char const *const func, const char *const file, int const line)
{
    if (result) {
        fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\" \n", file, line, static_cast<unsigned int>(result),
                errorName(result), func);
        exit(EXIT_FAILURE);
    }
}
#define checkErrors(val) checkResult((val), #val, __FILE__, __LINE__)
#endif

#ifdef __CUDA_RUNTIME_H__
inline int findDevice(int argc, const char **argv)
{
    int count = 0, device = 0, major = 0;
    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], "-device=", 8)) device = atoi(argv[i] + 8);
    checkErrors(cudaGetDeviceCount(&count));
    if (count == 0) exit(EXIT_WAIVED);
    checkErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    checkErrors(cudaSetDevice(device));
    return major >= 3 ? device : -1;
}
#endif

#if !defined(__CUDACC__) || !defined(__NVCC__)
#error "This is to be compiled as by nvcc."
#endif
#if __CUDACC_VER_MAJOR__ >= 9
#define FULL_MASK 0xffffffffu
#endif

__global__ void countOdd(unsigned int *count, unsigned int n)
{
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i / 32 * 32 < n; i += blockDim.x * gridDim.x) {
        const unsigned int odd = __ballot_sync(FULL_MASK, i < n && i % 2 == 1);
        if (threadIdx.x % 32 == 0) atomicAdd(count, __popc(odd));
    }
}

static void printDevice(int dev)
{
    cudaDeviceProp prop, wanted = {};
    int optIn = 0, multiprocessors = 0, driver = 0, runtime = 0, same = -1, chosen = -1;
    size_t stack = 0;
    char bus[32];
    checkErrors(cudaGetDeviceProperties(&prop, dev));
    checkErrors(cudaDeviceGetAttribute(&optIn, cudaDevAttrMaxSharedMemoryPerBlockOptin, dev));
    checkErrors(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, dev));
    checkErrors(cudaDriverGetVersion(&driver));
    checkErrors(cudaRuntimeGetVersion(&runtime));
    printf("Device %d: compute capability %d.%d, %zu bytes of shared memory per block, %d at most\n", dev, prop.major,
           prop.minor, prop.sharedMemPerBlock, optIn);
    printf("  constant memory: %zu bytes, registers: %d, warp size: %d, threads: %d, per block: %d\n",
           prop.totalConstMem, prop.regsPerBlock, prop.warpSize, prop.maxThreadsPerMultiProcessor,
           prop.maxThreadsPerBlock);
    printf("  block: (%d, %d, %d), grid: (%d, %d, %d), ECC: %s\n", prop.maxThreadsDim[0], prop.maxThreadsDim[1],
           prop.maxThreadsDim[2], prop.maxGridSize[0], prop.maxGridSize[1], prop.maxGridSize[2],
           prop.ECCEnabled ? "Enabled" : "Disabled");
    checkErrors(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
    checkErrors(cudaDeviceGetPCIBusId(bus, sizeof bus, dev));
    checkErrors(cudaDeviceGetByPCIBusId(&same, bus));
    wanted.major = 3;
    checkErrors(cudaChooseDevice(&chosen, &wanted));
    if (multiprocessors != prop.multiProcessorCount || driver < runtime || stack != 1024 || same != dev ||
        chosen != dev || prop.totalGlobalMem < (1u << 20) || !prop.asyncEngineCount || !prop.unifiedAddressing ||
        !prop.managedMemory || !prop.cooperativeLaunch)
        printf("This cannot be\n");
}

int main(int argc, char **argv)
{
    printf("%s Starting...\n\n", "sampleHelpers");
    const int device = findDevice(argc, (const char **)argv);
    printDevice(device);
    const unsigned int n = 1000;
    unsigned int *d_count, count = 0;
    checkErrors(cudaMalloc((void **)&d_count, sizeof(count)));
    checkErrors(cudaMemset(d_count, 0, sizeof(count)));
    countOdd<<<4, 128>>>(d_count, n);
    checkErrors(cudaGetLastError());
    checkErrors(cudaMemcpy(&count, d_count, sizeof(count), cudaMemcpyDeviceToHost));
    checkErrors(cudaFree(d_count));
    printf("%s\n", count == n / 2 ? "Test passed" : "Test failed!");
    exit(count == n / 2 ? EXIT_SUCCESS : EXIT_FAILURE);
}
