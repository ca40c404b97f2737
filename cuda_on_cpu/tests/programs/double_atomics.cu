// Monte Carlo pi with a generator of its own, added up by an atomicAdd() for double for devices that lack it.
#include <stdio.h>
#include <math.h>

#define THREADS 64
#define MIN(a, b) ((a) < (b) ? (a) : (b))

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
__device__ double atomicAdd(double* address, double val)
{
    unsigned long long int* address_as_ull = (unsigned long long int*)address;
    unsigned long long int old = *address_as_ull, assumed;
    do {
        assumed = old;
        old = atomicCAS(address_as_ull, assumed, __double_as_longlong(val + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
#endif

__device__ static float atomicMax(float *address, float value)
{
    int *place = (int *)address, old = *place, assumed;
    do {
        assumed = old;
        old = atomicCAS(place, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}

class Random {
public:
    __device__ explicit Random(unsigned int seed) : state(seed * 2654435761u + 1u) {}
    __device__ float operator()()
    {
        state = state * 1664525u + 1013904223u;
        return (float)(state >> 8) / (float)(1 << 24);
    }

private:
    unsigned int state;
};

struct Range { static const int kPoints = 1000, kBlocks = 4; };

__global__ void __launch_bounds__(THREADS) estimate(double *hits, float *farthest, int points)
{
    Random random(blockIdx.x * blockDim.x + threadIdx.x);
    int inside = 0;
    float largest = 0.f;
    for (int i = 0; i < points; i++) {
        const float x = random(), y = random(), r = x * x + y * y;
        inside += r <= 1.f;
        largest = fmaxf(largest, r);
    }
    atomicAdd(hits, (double)inside);
    atomicMax(farthest, largest);
}

int main()
{
    double *hits, pi;
    float *farthest;
    cudaMallocManaged(&hits, sizeof(double));
    cudaMallocManaged(&farthest, sizeof(float));
    *hits = 0;
    *farthest = 0;
    estimate<<<Range::kBlocks, THREADS>>>(hits, farthest, MIN(Range::kPoints, 5000));
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    pi = 4.0 * *hits / ((double)Range::kPoints * Range::kBlocks * THREADS);
    printf("pi is about %.2f, the farthest point %s\n", pi, *farthest > 1.9f ? "far" : "near");
    cudaFree(hits);
    cudaFree(farthest);
    return fabs(pi - 3.14159265) < 0.02 ? 0 : 1;
}
