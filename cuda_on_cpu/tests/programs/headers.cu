// Headers that editors add by themselves, those of the toolkit that programs need, and what nvcc includes unasked. Short
// macros stand before them.
#define N 8
#define FACTOR 2
#include "crt/device_functions.h"
#include "cuda.h"
#include "cuda_profiler_api.h"
#include "cuda_runtime.h"
#include "device_launch_parameters.h"
#include <builtin_types.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdint>
#include <cuComplex.h>
#include <cuda/cmath>
#include <cuda_device_runtime_api.h>
#include <cuda_fp16.h>
#include <device_atomic_functions.h>
#include <host_defines.h>
#include <math_constants.h>
#include <math_functions.h>
#include <nvtx3/nvToolsExt.h>
#include <sm_20_atomic_functions.h>
#include <sm_30_intrinsics.h>
#include <vector_functions.h>

#include "expect.h"

#define BLOCK 32
#define K (N / FACTOR)

namespace cg = cooperative_groups;

__global__ void sums(const half *in, float *out) {
  cg::thread_block_tile<N> tile = cg::tiled_partition<N>(cg::this_thread_block());
  __builtin_assume(blockDim.x == BLOCK);
  float sum = cg::reduce(tile, __half2float(in[threadIdx.x]), cg::plus<float>());
  if (tile.thread_rank() == 0) out[threadIdx.x / N] = sum * FACTOR;
}

// y = a * x + y, by pairs, and the sum of y.
__global__ void haxpy(int n, half a, const half *x, half *y, half *sum) {
  half2 *x2 = (half2 *)x, *y2 = (half2 *)y;
  if (threadIdx.x < n / 2) y2[threadIdx.x] = __hfma2(__halves2half2(a, a), x2[threadIdx.x], y2[threadIdx.x]);
  __syncwarp();
  half mine = y[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) mine = mine + __shfl_xor_sync(0xffffffff, mine, d);
  if (threadIdx.x == 0) *sum = mine;
}

// The roots of unity add up to nothing, and a point of a Julia set stays where it is.
__global__ void complex_numbers(double *error, int n) {
  cuDoubleComplex sum = make_cuDoubleComplex(0, 0);
  for (int k = 0; k < n; ++k) {
    double s, c;
    sincos(2 * CUDART_PI * k / n, &s, &c);
    sum = cuCadd(sum, make_cuDoubleComplex(c, s));
  }
  cuDoubleComplex q = cuCdiv(make_cuDoubleComplex(1, 2), make_cuDoubleComplex(3, -4));
  *error = cuCabs(sum) + cuCabs(cuCsub(q, make_cuDoubleComplex(-0.2, 0.4)));
  cuFloatComplex a = make_cuFloatComplex(0.5f, 0.5f);
  a = cuCaddf(cuCmulf(a, a), make_cuFloatComplex(0.5f, 0));
  *error += fabsf(cuCabsf(a) - CUDART_SQRT_HALF_F);
}

int main() {
  cudaProfilerStart();
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = "sums";
  nvtxRangePushEx(&attributes);
  half *in = zeros<half>(BLOCK);
  half *y = zeros<half>(BLOCK + 1);
  float *out = zeros<float>(K);
  for (int i = 0; i < BLOCK; ++i) in[i] = __float2half(i * 0.5f), y[i] = half(1.0f);
  sums<<<cuda::ceil_div(1, BLOCK), BLOCK>>>(in, out);
  haxpy<<<1, BLOCK>>>(BLOCK, __float2half(2), in, y, y + BLOCK);
  OK(cudaDeviceSynchronize());
  nvtxRangePop();
  EXPECT(out[0] == 28 && out[1] == 92 && out[2] == 156 && out[3] == 220);
  EXPECT(__half2float(y[31]) == 32 && static_cast<float>(y[BLOCK]) == 528);
  double *error = zeros<double>(1);
  complex_numbers<<<1, 1>>>(error, 12);
  RESULT(*error < 1e-6);
  cudaProfilerStop();

  EXPECT(isupper('A') != 0 && INT_MAX > 0 && clock() >= 0 && M_PI > 3);
  EXPECT(cuda::ceil_div(0, 3) == 0 && cuda::ceil_div(1024, 256) == 4 && cuda::ceil_div(2147483647, 2) == 1 << 30);
  EXPECT(cuda::round_up(1000, 256) == 1024 && cuda::round_up(1024, 256) == 1024 && cuda::round_down(1000, 256) == 768);
  EXPECT(cuda::ilog2(1) == 0 && cuda::ilog2(1023) == 9 && cuda::ilog10(999) == 2 && cuda::ilog10(1000) == 3);
  EXPECT(cuda::next_power_of_two(0U) == 1 && cuda::next_power_of_two(1024U) == 1024);
  EXPECT(cuda::next_power_of_two(1025U) == 2048 && cuda::prev_power_of_two(1023U) == 512);
  EXPECT(cuda::is_power_of_two(std::uint64_t{1} << 40) && !cuda::is_power_of_two(12));
  static_assert(cuda::ceil_div(std::uint8_t{255}, std::uint8_t{2}) == 128, "");
}
