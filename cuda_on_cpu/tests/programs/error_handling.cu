/* What wrong arguments are answered with; none of these spoils the device. */
#include "expect.h"

typedef struct answer {
    const char *what;
    cudaError_t error, expected;
} answer_t;

__global__ void increment(int *x, const struct answer *none) { *x += none == NULL; }

int main(void)
{
    int count = 0, value = 0, *x = NULL, *y = NULL, *none = NULL;
    size_t limit = 0;
    float ms = 0;
    cudaDeviceProp prop;
    cudaPointerAttributes attributes;
    cudaStream_t stream;
    cudaEvent_t start, stop;

    OK(cudaGetDeviceCount(&count));
    OK(cudaMalloc((void **)&x, sizeof(int)));
    OK(cudaMemset(x, 0, sizeof(int)));
    OK(cudaEventCreate(&start));
    OK(cudaEventCreateWithFlags(&stop, cudaEventDisableTiming));
    const answer_t answers[] = {
        {"device count", cudaSetDevice(count), cudaErrorInvalidDevice},
        {"cudaMalloc(NULL)", cudaMalloc((void **)NULL, 4), cudaErrorInvalidValue},
        {"cudaMalloc(too much)", cudaMalloc((void **)&y, (size_t)-1), cudaErrorMemoryAllocation},
        {"cudaMallocHost(too much)", cudaMallocHost((void **)&y, (size_t)-4), cudaErrorMemoryAllocation},
        {"too wide rows", cudaMallocPitch((void **)&y, &limit, (size_t)-4, 1), cudaErrorMemoryAllocation},
        {"too many rows", cudaMallocPitch((void **)&y, &limit, 512, (size_t)1 << 55), cudaErrorMemoryAllocation},
        {"cudaFree(NULL)", cudaFree(none), cudaSuccess},
        {"unknown direction", cudaMemcpy(x, x, 4, (enum cudaMemcpyKind)17), cudaErrorInvalidMemcpyDirection},
        {"no bytes", cudaMemcpy(x, x, 0, cudaMemcpyDeviceToDevice), cudaSuccess},
        {"device -1", cudaGetDeviceProperties(&prop, -1), cudaErrorInvalidDevice},
        {"unknown attribute", cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)9999, 0), cudaErrorInvalidValue},
        {"unknown limit", cudaDeviceGetLimit(&limit, (enum cudaLimit)77), cudaErrorInvalidValue},
        {"time between fresh events", cudaEventElapsedTime(&ms, start, stop), cudaErrorInvalidResourceHandle},
        {"unknown flags of a stream", cudaStreamCreateWithFlags(&stream, 0x40), cudaErrorInvalidValue},
        {"unknown flags of host memory", cudaHostAlloc((void **)&y, 4, 0x80), cudaErrorInvalidValue},
        {"memory that is not pinned", cudaHostUnregister(&value), cudaErrorHostMemoryNotRegistered},
        {"attributes of any pointer", cudaPointerGetAttributes(&attributes, &value), cudaSuccess},
    };
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
        if (answers[i].error != answers[i].expected)
            printf("%s: %s\n", answers[i].what, cudaGetErrorName(answers[i].error));
    EXPECT(y == NULL && cudaGetLastError() == cudaErrorHostMemoryNotRegistered);

    increment<<<1, 1>>>(x, NULL);
    OK(cudaPeekAtLastError());
    OK(cudaMemcpy(&value, x, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(value == 1);
    EXPECT(strcmp(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice") == 0);
    EXPECT(strcmp(cudaGetErrorString(cudaErrorInvalidDevice), "invalid device ordinal") == 0);
    EXPECT(strcmp(cudaGetErrorName((cudaError_t)12345), "unrecognized error code") == 0);
    OK(cudaFree(x));
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(stop));
    OK(cudaDeviceReset());
    return 0;
}
