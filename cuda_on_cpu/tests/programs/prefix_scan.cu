/* Exclusive scan of any length: blocks by Blelloch's tree, block sums by warps, then added. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <assert.h>

#define BLOCK 128
#define ELEMENTS (2 * BLOCK)

__global__ void scan_block(int *data, int *sums, int n)
{
    __shared__ int temp[ELEMENTS + ELEMENTS / 32];
#define AT(i) temp[(i) + ((i) >> 5)]
    int t = threadIdx.x, base = blockIdx.x * ELEMENTS;
    AT(t) = base + t < n ? data[base + t] : 0;
    AT(t + BLOCK) = base + t + BLOCK < n ? data[base + t + BLOCK] : 0;
    int offset = 1;
    for (int d = BLOCK; d > 0; d >>= 1, offset <<= 1) {
        __syncthreads();
        if (t < d) AT(offset * (2 * t + 2) - 1) += AT(offset * (2 * t + 1) - 1);
    }
    __syncthreads();
    if (t == 0) {
        sums[blockIdx.x] = AT(ELEMENTS - 1);
        AT(ELEMENTS - 1) = 0;
    }
    for (int d = 1; d <= BLOCK; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
            int x = AT(left);
            AT(left) = AT(right);
            AT(right) += x;
        }
    }
    __syncthreads();
    if (base + t < n) data[base + t] = AT(t);
    if (base + t + BLOCK < n) data[base + t + BLOCK] = AT(t + BLOCK);
#undef AT
}

__device__ int warp_inclusive(int v)
{
    const unsigned lane = threadIdx.x % warpSize;
    for (unsigned d = 1; d < warpSize; d <<= 1) {
        int u = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += u;
    }
    return v;
}

/* one block of 1024 threads */
__global__ void scan_sums(int *sums, int n)
{
    __shared__ int of_warp[32];
    int v = threadIdx.x < n ? sums[threadIdx.x] : 0;
    int s = warp_inclusive(v);
    if (threadIdx.x % 32 == 31) of_warp[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x < 32) of_warp[threadIdx.x] = warp_inclusive(of_warp[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x >= 32) s += of_warp[threadIdx.x / 32 - 1];
    if (threadIdx.x < n) sums[threadIdx.x] = s - v;
}

__global__ void add_sums(int *data, const int *sums, int n)
{
    int i = blockIdx.x * ELEMENTS + threadIdx.x;
    assert(blockDim.x == ELEMENTS);
    if (i < n) data[i] += sums[blockIdx.x];
}

int main(int argc, char **argv)
{
    const int sizes[] = {1, 31, 256, 257, 10000, 65536};
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        int n = sizes[s], blocks = (n + ELEMENTS - 1) / ELEMENTS;
        int *h = (int *)malloc(n * sizeof(int)), *d, *sums;
        for (int i = 0; i < n; i++) h[i] = i % 11 - 3;
        cudaMalloc((void **)&d, n * sizeof(int));
        cudaMalloc((void **)&sums, blocks * sizeof(int));
        cudaMemcpy(d, h, n * sizeof(int), cudaMemcpyHostToDevice);
        scan_block<<<blocks, BLOCK>>>(d, sums, n);
        scan_sums<<<1, 1024>>>(sums, blocks);
        add_sums<<<blocks, ELEMENTS>>>(d, sums, n);
        int *r = (int *)malloc(n * sizeof(int));
        cudaMemcpy(r, d, n * sizeof(int), cudaMemcpyDeviceToHost);
        int sum = 0, bad = 0;
        for (int i = 0; i < n; i++) {
            bad += r[i] != sum;
            sum += h[i];
        }
        printf("%6d elements: %s\n", n, bad || cudaGetLastError() ? "FAILED" : "PASSED");
        free(h);
        free(r);
        cudaFree(d);
        cudaFree(sums);
    }
    return 0;
}
