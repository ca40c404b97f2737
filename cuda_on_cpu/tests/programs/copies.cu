// Memory with a pitch, and copies in two and three dimensions.
#include <vector>

#include "expect.h"

const int W = 20, H = 12, D = 6;

__global__ void double_rows(float* x, size_t pitch, int width, int height) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < width && row < height) ((float*)((char*)x + row * pitch))[column] *= 2;
}

// The row of a pitched pointer, as the programming guide shows it.
__global__ void doubled(cudaPitchedPtr devPitchedPtr, cudaExtent extent) {
  char* devPtr = (char*)devPitchedPtr.ptr;
  size_t pitch = devPitchedPtr.pitch;
  size_t slicePitch = pitch * extent.height;
  int z = blockIdx.x, y = threadIdx.x;
  char* slice = devPtr + z * slicePitch;
  float* row = (float*)(slice + y * pitch);
  for (int x = 0; x < (int)(extent.width / sizeof(float)); ++x) row[x] *= 2.0f;
}

int main(void) {
  std::vector<float> host(W * H * D), result(W * H, -1);
  for (int i = 0; i < W * H * D; ++i) host[i] = (float)i;

  float *rows, *others;
  size_t pitch, other_pitch;
  OK(cudaMallocPitch(&rows, &pitch, W * sizeof(float), H));
  OK(cudaMallocPitch((void**)&others, &other_pitch, W * sizeof(float), H));
  EXPECT(pitch % 32 == 0 && pitch >= W * sizeof(float));
  OK(cudaMemset2D(others, other_pitch, 0, W * sizeof(float), H));
  OK(cudaMemcpy2D(rows, pitch, host.data(), W * sizeof(float), W * sizeof(float), H, cudaMemcpyHostToDevice));
  const dim3 block(16, 16), grid((W + block.x - 1) / block.x, (H + block.y - 1) / block.y);
  double_rows<<<grid, block>>>(rows, pitch, W, H);
  OK(cudaMemcpy2DAsync(others, other_pitch, rows, pitch, (W - 1) * sizeof(float), H, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy2D(result.data(), W * sizeof(float), others, other_pitch, W * sizeof(float), H, cudaMemcpyDeviceToHost));
  for (int i = 0; i < W * H; ++i) EXPECT(result[i] == (i % W == W - 1 ? 0 : 2.0f * i));
  // A copy whose rows are wider than the pitch cannot be right.
  EXPECT(cudaMemcpy2D(rows, 64, host.data(), 80, 80, H, cudaMemcpyHostToDevice) == cudaErrorInvalidPitchValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidPitchValue && cudaGetLastError() == cudaSuccess);

  cudaExtent extent = make_cudaExtent(W * sizeof(float), H, D);
  cudaPitchedPtr device;
  OK(cudaMalloc3D(&device, extent));
  OK(cudaMemset3D(device, 0, extent));
  cudaMemcpy3DParms p = {0};
  p.srcPtr = make_cudaPitchedPtr(host.data(), W * sizeof(float), W, H);
  p.dstPtr = device;
  p.extent = extent;
  p.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&p));
  doubled<<<D, H>>>(device, extent);

  // A box of 4 x 3 x 2 elements from (5, 6, 3) goes to (1, 2, 0) of a cleared volume.
  std::vector<float> box(W * H * D, 0.0f);
  cudaMemcpy3DParms q;
  memset(&q, 0, sizeof(q));
  q.srcPtr = device;
  q.srcPos = make_cudaPos(5 * sizeof(float), 6, 3);
  q.dstPtr = make_cudaPitchedPtr(box.data(), W * sizeof(float), W, H);
  q.dstPos = make_cudaPos(1 * sizeof(float), 2, 0);
  q.extent = make_cudaExtent(4 * sizeof(float), 3, 2);
  q.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3DAsync(&q, 0));
  OK(cudaDeviceSynchronize());
  for (int z = 0; z < D; ++z)
    for (int y = 0; y < H; ++y)
      for (int x = 0; x < W; ++x) {
        int inside = x >= 1 && x < 5 && y >= 2 && y < 5 && z < 2;
        EXPECT(box[(z * H + y) * W + x] == (inside ? 2.0f * (((z + 3) * H + (y + 4)) * W + (x + 4)) : 0.0f));
      }
}
