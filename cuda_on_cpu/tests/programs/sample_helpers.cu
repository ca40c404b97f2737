// In the manner of vendor samples: helper functions that look for the headers of the toolkit before they define anything.
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
#define getLastError(msg) getLastError_(msg, __FILE__, __LINE__)
inline void getLastError_(const char *message, const char *file, const int line)
{
    cudaError_t err = cudaGetLastError();
    if (cudaSuccess != err) {
        fprintf(stderr, "%s(%i) : %s : (%d) %s.\n", file, line, message, static_cast<int>(err), cudaGetErrorString(err));
        exit(EXIT_FAILURE);
    }
}
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

__global__ void histogram64(unsigned int *bins, const unsigned char *data, unsigned int n)
{
    __shared__ unsigned int local[64];
    if (threadIdx.x < 64) local[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(local + (data[i] >> 2), 1U);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(bins + threadIdx.x, local[threadIdx.x]);
    if (__any_sync(FULL_MASK, threadIdx.x > 1024)) bins[0] = 0;
}

int main(int argc, char **argv)
{
    printf("%s Starting...\n\n", "sampleHelpers");
    const int device = findDevice(argc, (const char **)argv);
    const unsigned int n = 10000;
    unsigned char *h_data = (unsigned char *)malloc(n), *d_data;
    unsigned int *d_bins, h_bins[64], reference[64] = {0}, wrong = 0;
    for (unsigned int i = 0; i < n; i++) reference[(h_data[i] = (unsigned char)(i * i / 7)) >> 2]++;

    cudaStream_t stream;
    checkErrors(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    checkErrors(cudaMalloc((void **)&d_data, n));
    checkErrors(cudaMalloc((void **)&d_bins, sizeof(h_bins)));
    checkErrors(cudaMemcpyAsync(d_data, h_data, n, cudaMemcpyHostToDevice, stream));
    checkErrors(cudaMemsetAsync(d_bins, 0, sizeof(h_bins), stream));
    histogram64<<<4, 128, 0, stream>>>(d_bins, d_data, n);
    getLastError("histogram64() execution failed\n");
    checkErrors(cudaMemcpyAsync(h_bins, d_bins, sizeof(h_bins), cudaMemcpyDeviceToHost, stream));
    checkErrors(cudaStreamSynchronize(stream));
    for (int i = 0; i < 64; i++) wrong += h_bins[i] != reference[i];

    checkErrors(cudaFree(d_data));
    checkErrors(cudaFree(d_bins));
    checkErrors(cudaStreamDestroy(stream));
    free(h_data);
    printf("Device %d, %s\n", device, wrong ? "Test failed!" : "Test passed");
    exit(wrong ? EXIT_FAILURE : EXIT_SUCCESS);
}
