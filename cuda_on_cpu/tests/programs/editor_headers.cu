// Headers that editors add by themselves, and short macros before the headers that are needed.
#define N 8
#define FACTOR 2
#include "crt/device_functions.h"
#include "cuda_runtime.h"
#include "device_launch_parameters.h"
#include <builtin_types.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_device_runtime_api.h>
#include <cuda_fp16.h>
#include <device_atomic_functions.h>
#include <host_defines.h>
#include <math_functions.h>
#include <sm_20_atomic_functions.h>
#include <sm_30_intrinsics.h>
#include <vector_functions.h>
#include <stdio.h>

#define BLOCK 32
#define K (N / FACTOR)

namespace cg = cooperative_groups;

__global__ void sums(const half *in, float *out) {
  cg::thread_block_tile<N> tile = cg::tiled_partition<N>(cg::this_thread_block());
  __builtin_assume(blockDim.x == BLOCK);
  float sum = cg::reduce(tile, __half2float(in[threadIdx.x]), cg::plus<float>());
  if (tile.thread_rank() == 0) out[threadIdx.x / N] = sum * FACTOR;
}

int main() {
  half *in;
  float *out;
  cudaMallocManaged(&in, BLOCK * sizeof(half));
  cudaMallocManaged(&out, K * sizeof(float));
  for (int i = 0; i < BLOCK; ++i) in[i] = __float2half(i * 0.5f);
  sums<<<1, BLOCK>>>(in, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < K; ++i) printf("%g ", out[i]);
  printf("\n%d\n", isupper('A') != 0 && INT_MAX > 0);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
