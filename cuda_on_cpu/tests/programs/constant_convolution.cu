// Convolution with the filter in constant memory, in two steps: rows, then columns.
#include <cmath>
#include <cstdio>
#include <cstring>

#define KERNEL_RADIUS 4
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)
#define TILE 16

__constant__ float c_Kernel[KERNEL_LENGTH];
__constant__ int c_size[2];
__device__ unsigned int d_count;

__global__ void rows(float* d_Dst, const float* d_Src) {
  __shared__ float s_Data[TILE][TILE + 2 * KERNEL_RADIUS];
  const int w = c_size[0], h = c_size[1];
  const int x0 = blockIdx.x * TILE - KERNEL_RADIUS, y = blockIdx.y * TILE + threadIdx.y;
  for (int i = threadIdx.x; i < TILE + 2 * KERNEL_RADIUS; i += TILE)
    s_Data[threadIdx.y][i] = (x0 + i >= 0 && x0 + i < w && y < h) ? d_Src[y * w + x0 + i] : 0.0f;
  __syncthreads();
  const int x = blockIdx.x * TILE + threadIdx.x;
  if (x >= w || y >= h) return;
  float sum = 0.0f;
#pragma unroll
  for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
    sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + KERNEL_RADIUS + j];
  d_Dst[y * w + x] = sum;
  atomicAdd(&d_count, 1u);
}

__global__ void columns(float* d_Dst, const float* d_Src) {
  const int w = c_size[0], h = c_size[1];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x >= w || y >= h) return;
  float sum = 0.0f;
  for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
    if (y + j >= 0 && y + j < h) sum += c_Kernel[KERNEL_RADIUS - j] * d_Src[(y + j) * w + x];
  d_Dst[y * w + x] = sum;
}

int main() {
  const int w = 75, h = 50, size[2] = {w, h};
  float h_Kernel[KERNEL_LENGTH], *h_Src = new float[w * h], *h_Dst = new float[w * h], back[KERNEL_LENGTH];
  for (int i = 0; i < KERNEL_LENGTH; i++) h_Kernel[i] = (float)((i * 5) % 7 - 3);
  for (int i = 0; i < w * h; i++) h_Src[i] = (float)((i * 13) % 17);

  float *d_Src, *d_Buf, *d_Dst;
  cudaMalloc((void**)&d_Src, w * h * sizeof(float));
  cudaMalloc((void**)&d_Buf, w * h * sizeof(float));
  cudaMalloc((void**)&d_Dst, w * h * sizeof(float));
  // The filter comes in two halves, the second behind the first.
  cudaMemcpyToSymbol(c_Kernel, h_Kernel, 4 * sizeof(float));
  cudaMemcpyToSymbol(c_Kernel, h_Kernel + 4, 5 * sizeof(float), 4 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpyToSymbolAsync(c_size, size, sizeof(size), 0, cudaMemcpyHostToDevice, 0);
  void* count_address = NULL;
  size_t count_bytes = 0;
  cudaGetSymbolAddress(&count_address, d_count);
  cudaGetSymbolSize(&count_bytes, d_count);
  cudaMemset(count_address, 0, count_bytes);
  cudaMemcpy(d_Src, h_Src, w * h * sizeof(float), cudaMemcpyHostToDevice);

  dim3 block(TILE, TILE), grid((w + TILE - 1) / TILE, (h + TILE - 1) / TILE);
  rows<<<grid, block>>>(d_Buf, d_Src);
  columns<<<grid, block>>>(d_Dst, d_Buf);
  cudaMemcpy(h_Dst, d_Dst, w * h * sizeof(float), cudaMemcpyDeviceToHost);
  unsigned int count = 0;
  cudaMemcpyFromSymbol(&count, d_count, sizeof(count));
  cudaMemcpyFromSymbol(back, c_Kernel, sizeof(back));

  double difference = 0;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      double sum = 0;
      for (int v = -KERNEL_RADIUS; v <= KERNEL_RADIUS; v++)
        for (int u = -KERNEL_RADIUS; u <= KERNEL_RADIUS; u++)
          if (y + v >= 0 && y + v < h && x + u >= 0 && x + u < w)
            sum += h_Kernel[KERNEL_RADIUS - v] * h_Kernel[KERNEL_RADIUS - u] * h_Src[(y + v) * w + x + u];
      difference = fmax(difference, fabs(sum - h_Dst[y * w + x]));
    }
  printf("%u pixels, largest difference %g, filter came back: %s\n", count, difference,
         memcmp(back, h_Kernel, sizeof(back)) == 0 ? "yes" : "no");
  printf("errors: %s\n",
         cudaGetErrorString(cudaGetLastError()));
  cudaFree(d_Src); cudaFree(d_Buf); cudaFree(d_Dst);
  delete[] h_Src;
  delete[] h_Dst;
  return difference < 1e-3 ? 0 : 1;
}
