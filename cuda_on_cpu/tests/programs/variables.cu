/*
 * Variables of the device: constants, counters and tables, with values or without, and how the host gets at them.
 * As in an exercise: a FIR filter whose coefficients are in constant memory.
 */
#include <math.h>

#include "expect.h"

#define RADIUS 3
#define WIDTH (2 * RADIUS + 1)
#define BLOCK 96

__constant__ float c_filter[WIDTH] = {0.05f, 0.1f, 0.2f, 0.3f, 0.2f, 0.1f, 0.05f};
__constant__ struct { float low, high; } c_range = {-0.5f, 0.5f};
__constant__ int c_size[2];
__device__ int d_clipped = 0;
__device__ unsigned int d_count;
__device__ float d_table[2][2] = {{1.0f, 2.0f}, {3.0f, 4.0f}};
__device__ __managed__ int runs = 40;
static __device__ const char d_letter = 'x';

__device__ __forceinline__ float clip(float v, const float &low, const float &high)
{
    if (v < low || v > high) atomicAdd(&d_clipped, 1);
    return fminf(fmaxf(v, low), high);
}

__global__ void fir(float *out, const float *__restrict__ in)
{
    __shared__ float line[BLOCK + 2 * RADIUS];
    const int g = blockIdx.x * blockDim.x + threadIdx.x;
    const int l = threadIdx.x + RADIUS;
    const int n = c_size[1];

    line[l] = g < n ? in[g] : 0.0f;
    if (threadIdx.x < RADIUS) {
        line[l - RADIUS] = g >= RADIUS ? in[g - RADIUS] : 0.0f;
        line[l + BLOCK] = g + BLOCK < n ? in[g + BLOCK] : 0.0f;
    }
    __syncthreads();
    if (g >= n) return;
    float sum = 0.0f;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++) sum += c_filter[k + RADIUS] * line[l + k];
    out[g] = clip(sum, c_range.low, c_range.high);
    atomicAdd(&d_count, 1u);
    if (g == 0) runs += (d_letter == 'x') ? (int)d_table[1][0] - 1 : 0;
}

int main(void)
{
    const int n = 500, size[2] = {0, n};
    float *in = zeros<float>(n), *out = zeros<float>(n), filter[WIDTH];
    int clipped = 0, wrong = 0;

    for (int i = 0; i < n; i++) in[i] = (float)((i * 37) % 101) / 50.0f - 1.0f;
    OK(cudaMemcpyToSymbolAsync(c_size, size, sizeof(size), 0, cudaMemcpyHostToDevice, 0));
    void *count_address = NULL;
    size_t count_bytes = 0;
    OK(cudaGetSymbolAddress(&count_address, d_count));
    OK(cudaGetSymbolSize(&count_bytes, d_count));
    OK(cudaMemset(count_address, 0, count_bytes));
    for (int round = 0; round < 2; round++) {
        if (round == 1) {
            /* The filter comes in two parts, the second behind the first. */
            for (int k = 0; k < WIDTH; k++) filter[k] = k == RADIUS ? 1.0f : 0.0f;
            OK(cudaMemcpyToSymbol(c_filter, filter, 4 * sizeof(float)));
            OK(cudaMemcpyToSymbol(c_filter, filter + 4, 3 * sizeof(float), 4 * sizeof(float), cudaMemcpyHostToDevice));
        } else
            OK(cudaMemcpyFromSymbol(filter, c_filter, sizeof(filter)));
        fir<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(out, in);
        OK(cudaDeviceSynchronize());
        for (int i = 0; i < n; i++) {
            float sum = 0;
            for (int k = -RADIUS; k <= RADIUS; k++)
                if (i + k >= 0 && i + k < n) sum += filter[k + RADIUS] * in[i + k];
            sum = fminf(fmaxf(sum, -0.5f), 0.5f);
            if (fabsf(sum - out[i]) > 1e-5f) wrong++;
        }
    }
    unsigned int count = 0;
    OK(cudaMemcpyFromSymbol(&clipped, d_clipped, sizeof(int)));
    OK(cudaMemcpyFromSymbol(&count, d_count, sizeof(count)));
    EXPECT(wrong == 0 && clipped == 248 && runs == 44 && count == 2 * n);
}
