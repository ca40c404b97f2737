/* Matrix transpose, with everything behind macros, as in code that is also read by an editor without CUDA. */
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define TILE 16
#define ROWS 8
#define CHECK(call)                                                                       \
    do {                                                                                  \
        cudaError_t status_ = (call);                                                     \
        if (status_ != cudaSuccess) {                                                     \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(EXIT_FAILURE);                                                           \
        }                                                                                 \
    } while (0)

#ifdef __INTELLISENSE__
#define KERNEL_ARGS(grid, block)
#else
#define KERNEL_ARGS(grid, block) <<<grid, block>>>
#endif
#define LAUNCH(kernel, grid, block, ...)      \
    do {                                      \
        kernel<<<(grid), (block)>>>(__VA_ARGS__); \
        CHECK(cudaGetLastError());            \
    } while (0)
#define SHARED_TILE(type, name) __shared__ type name[TILE][TILE + 1]
#define GLOBAL_X (blockIdx.x * TILE + threadIdx.x)
#define GLOBAL_Y (blockIdx.y * TILE + threadIdx.y)

__global__ void transpose(float *out, const float *in, int width, int height)
{
    SHARED_TILE(float, tile);
    int x = GLOBAL_X, y = GLOBAL_Y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void fill(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (float)i;
}

int main(void)
{
    const int width = 37, height = 50, n = width * height;
    const size_t bytes = n * sizeof(float);
    float *in, *out, *host = (float *)malloc(bytes);
    int wrong = 0, x, y;

    CHECK(cudaMalloc((void **)&in, bytes));
    CHECK(cudaMalloc((void **)&out, bytes));
    fill KERNEL_ARGS((n + 127) / 128, 128)(in, n);
    CHECK(cudaGetLastError());
    LAUNCH(transpose, dim3((width + TILE - 1) / TILE, (height + TILE - 1) / TILE), dim3(TILE, ROWS),
           out, in, width, height);
    CHECK(cudaMemcpy(host, out, bytes, cudaMemcpyDeviceToHost));
    for (y = 0; y < height; y++)
        for (x = 0; x < width; x++)
            if (host[x * height + y] != (float)(y * width + x))
                wrong++;
    printf("%d x %d: %d wrong, corner %.0f\n", width, height, wrong, host[n - 1]);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    free(host);
    return wrong != 0;
}
