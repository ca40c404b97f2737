// 3-D copies: a box out of a volume, doubled on the device, put back somewhere else.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                              \
  {                                                                              \
    const cudaError_t error = call;                                              \
    if (error != cudaSuccess) {                                                  \
      printf("Error: %s:%d, ", __FILE__, __LINE__);                              \
      printf("code: %d, reason: %s\n", error, cudaGetErrorString(error));        \
      exit(1);                                                                   \
    }                                                                            \
  }

const int W = 20, H = 12, D = 6;

// The row of a pitched pointer, as the programming guide shows it.
__global__ void doubled(cudaPitchedPtr devPitchedPtr, cudaExtent extent)
{
  char* devPtr = (char*)devPitchedPtr.ptr;
  size_t pitch = devPitchedPtr.pitch;
  size_t slicePitch = pitch * extent.height;
  int z = blockIdx.x, y = threadIdx.x;
  char* slice = devPtr + z * slicePitch;
  float* row = (float*)(slice + y * pitch);
  for (int x = 0; x < (int)(extent.width / sizeof(float)); ++x) row[x] *= 2.0f;
}

int main(void)
{
  float* host = (float*)malloc(W * H * D * sizeof(float));
  for (int i = 0; i < W * H * D; ++i) host[i] = (float)i;

  cudaExtent extent = make_cudaExtent(W * sizeof(float), H, D);
  cudaPitchedPtr device;
  CHECK(cudaMalloc3D(&device, extent));
  CHECK(cudaMemset3D(device, 0, extent));

  cudaMemcpy3DParms p = {0};
  p.srcPtr = make_cudaPitchedPtr((void*)host, W * sizeof(float), W, H);
  p.dstPtr = device;
  p.extent = extent;
  p.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&p));

  doubled<<<D, H>>>(device, extent);
  CHECK(cudaGetLastError());

  // A box of 4 x 3 x 2 elements from (5, 6, 3) goes to (1, 2, 0) of a cleared volume.
  float* box = (float*)calloc(W * H * D, sizeof(float));
  cudaMemcpy3DParms q;
  memset(&q, 0, sizeof(q));
  q.srcPtr = device;
  q.srcPos = make_cudaPos(5 * sizeof(float), 6, 3);
  q.dstPtr = make_cudaPitchedPtr(box, W * sizeof(float), W, H);
  q.dstPos = make_cudaPos(1 * sizeof(float), 2, 0);
  q.extent = make_cudaExtent(4 * sizeof(float), 3, 2);
  q.kind = cudaMemcpyDeviceToHost;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemcpy3DAsync(&q, 0));
  CHECK(cudaDeviceSynchronize());

  int set = 0, wrong = 0;
  for (int z = 0; z < D; ++z)
    for (int y = 0; y < H; ++y)
      for (int x = 0; x < W; ++x) {
        float value = box[(z * H + y) * W + x];
        int inside = x >= 1 && x < 5 && y >= 2 && y < 5 && z < 2;
        float right = inside ? 2.0f * (((z + 3) * H + (y + 4)) * W + (x + 4)) : 0.0f;
        set += value != 0.0f;
        wrong += value != right;
      }
  printf("%d elements copied, %d wrong, first %.0f, last %.0f\n", set, wrong, box[2 * W + 1], box[(H + 4) * W + 4]);
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(device.ptr));
  free(host);
  free(box);
  return 0;
}
