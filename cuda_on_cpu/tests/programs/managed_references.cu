// Kernels that take managed variables by reference, in launches as an editor for Windows formats them.
#include "cuda_runtime.h"
#include "device_launch_parameters.h"

#include <iostream>
using namespace std;

struct Statistics {
    int visits;
    long long sum;
};

__device__ __managed__ int count = 0;
__managed__ int bins[3];
__managed__ int increment = 2;
__managed__ Statistics statistics;

__global__ void countThreads(int &counter)
{
    atomicAdd(&counter, 1);
}

template <typename T, int N>
__global__ void fillBins(T (&into)[N], const T& step, Statistics& seen)
{
    atomicAdd(&into[threadIdx.x % N], step);
    atomicAdd((unsigned long long *)&seen.sum, (unsigned long long)threadIdx.x);
    if (threadIdx.x == 0) seen.visits++;
}

namespace tools {
template <class T> __global__ void twice(T& value) { value *= 2; }
}

int main()
{
    dim3 threads(8, 4);
    countThreads << <2, threads >> > (count);
    fillBins << < 1, 12 >> >(bins, increment, statistics);
    tools::twice<int> << <dim3(1), 1, 0, 0>> > (bins[1]);
    cudaDeviceSynchronize();
    cout << count << endl;
    cout << bins[0] << " " << bins[1] << " " << bins[2] << endl;
    cout << statistics.visits << " " << statistics.sum << endl;
    cout << (INT_MAX > (1 << 30)) << " " << (1 << 3) << endl;
    return 0;
}
