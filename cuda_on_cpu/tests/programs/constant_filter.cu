/*
 * Exercise 5: a FIR filter.
 *   a) keep the coefficients in constant memory
 *   b) count the samples that are clipped
 *   c) compare with the CPU
 */
#include <stdio.h>
#include <math.h>

#define RADIUS 3
#define WIDTH (2 * RADIUS + 1)
#define BLOCK 96

__constant__ float c_filter[WIDTH] = {0.05f, 0.1f, 0.2f, 0.3f, 0.2f, 0.1f, 0.05f};
__constant__ struct { float low, high; } c_range = {-0.5f, 0.5f};
__device__ int d_clipped = 0;
__device__ float d_table[2][2] = {{1.0f, 2.0f}, {3.0f, 4.0f}};
__device__ __managed__ int runs = 40;
static __device__ const char d_letter = 'x';

__device__ __forceinline__ float clip(float v, const float &low, const float &high)
{
    if (v < low || v > high) atomicAdd(&d_clipped, 1);
    return fminf(fmaxf(v, low), high);
}

__global__ void fir(float *out, const float *__restrict__ in, int n)
{
    __shared__ float line[BLOCK + 2 * RADIUS];
    const int g = blockIdx.x * blockDim.x + threadIdx.x;
    const int l = threadIdx.x + RADIUS;

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
    if (g == 0) runs += (d_letter == 'x') ? (int)d_table[1][0] - 1 : 0;
}

int main(int argc, char **argv)
{
    const int n = 500;
    static float in[n], out[n], filter[WIDTH];
    float *d_in, *d_out;
    int clipped, wrong = 0;

    for (int i = 0; i < n; i++) in[i] = (float)((i * 37) % 101) / 50.0f - 1.0f;
    cudaMalloc(&d_in, sizeof(in));
    cudaMalloc(&d_out, sizeof(out));
    cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice);
    for (int round = 0; round < 2; round++) {
        if (round == 1) {
            for (int k = 0; k < WIDTH; k++) filter[k] = k == RADIUS ? 1.0f : 0.0f;
            cudaMemcpyToSymbol(c_filter, filter, sizeof(filter));
        } else
            cudaMemcpyFromSymbol(filter, c_filter, sizeof(filter));
        fir<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_out, d_in, n);
        cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++) {
            float sum = 0;
            for (int k = -RADIUS; k <= RADIUS; k++)
                if (i + k >= 0 && i + k < n) sum += filter[k + RADIUS] * in[i + k];
            sum = fminf(fmaxf(sum, -0.5f), 0.5f);
            if (fabsf(sum - out[i]) > 1e-5f) wrong++;
        }
    }
    cudaMemcpyFromSymbol(&clipped, d_clipped, sizeof(int));
    cudaDeviceSynchronize();
    printf("wrong: %d, clipped: %d, runs: %d\n", wrong, clipped, runs);
    return wrong;
}
