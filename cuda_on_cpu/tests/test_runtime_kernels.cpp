#include <numeric>
#include <random>
#include <vector>

#include "cooperative_groups/reduce.h"
#include "cuda/atomic"
#include "runtime.hpp"

// Kernels are written as the translator would write them, and in the manner of CUDA.
// NOLINTBEGIN(*-avoid-c-arrays,*-non-const-global-variables,*-implicit-widening-*,*-implicit-bool-conversion,*-use-auto,*-integer-division)
namespace cuda_on_cpu {
namespace {

constexpr unsigned all = 0xffffffffU;

__constant__ float factors[4];
__device__ int global_counter;

void number_threads(int* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  atomicAdd(out + block * blockDim.x * blockDim.y * blockDim.z + thread,
            static_cast<int>(thread + 1));
}

template <class T>
void reverse(T* data) {
  auto& tile = ::cuda_on_cpu::shared<T[256]>([] {}, "tile");
  auto& other = ::cuda_on_cpu::shared<volatile T[256]>([] {}, "other", 32);
  tile[threadIdx.x] = data[blockIdx.x * blockDim.x + threadIdx.x];
  other[threadIdx.x] = T{1};
  __syncthreads();
  data[blockIdx.x * blockDim.x + threadIdx.x] =
      tile[blockDim.x - 1 - threadIdx.x] + other[(threadIdx.x + 1) % blockDim.x] - T{1};
}

void block_sum(const double* in, double* out) {
  double* const s = ::cuda_on_cpu::dynamic_shared<double>("s");
  s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

void warp_functions(unsigned* out) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  unsigned sum = lane + warp;
  for (unsigned offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(all, sum, offset);
  unsigned* const mine = out + threadIdx.x * 9;
  mine[0] = __shfl_sync(all, sum, 0);
  mine[1] = __ballot_sync(all, lane % 3 == 0);
  mine[2] = static_cast<unsigned>(__any_sync(all, lane == 5)) +
            2U * static_cast<unsigned>(__all_sync(all, lane < 31));
  mine[3] = __match_any_sync(all, lane / 4);
  mine[4] = __reduce_add_sync(all, lane);
  mine[5] = static_cast<unsigned>(__shfl_xor_sync(all, static_cast<double>(lane) + 0.5, 1) * 2);
  mine[6] = __shfl_up_sync(all, lane, 3);
  mine[7] = __shfl_sync(all, lane, 2, 8);
  // Two halves, each on its own.
  if (lane < 16) {
    mine[8] = __reduce_max_sync(0xffffU, lane);
  } else {
    mine[8] = __reduce_max_sync(0xffff0000U, lane);
  }
}

void counting_barriers(int* out) {
  const int thread = static_cast<int>(threadIdx.x);
  const int count = __syncthreads_count(thread % 2);
  const int and_all = __syncthreads_and(thread >= 0) + __syncthreads_and(thread > 0);
  const int or_any = __syncthreads_or(thread == 1) + __syncthreads_or(thread < 0);
  out[thread] = count * 100 + and_all * 10 + or_any;
}

void grid_sum(int* data, int n) {
  const auto grid = cooperative_groups::this_grid();
  for (int stride = 1; stride < n; stride *= 2) {
    grid.sync();
    const auto i = static_cast<int>(grid.thread_rank());
    if (i % (2 * stride) == 0 && i + stride < n) data[i] += data[i + stride];
  }
}

void tiles(float* out) {
  const auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
  float value = static_cast<float>(threadIdx.x);
  for (unsigned offset = 4; offset > 0; offset /= 2) value += tile.shfl_down(value, offset);
  out[threadIdx.x] = cooperative_groups::reduce(tile, tile.thread_rank() == 0 ? value : 0.0F,
                                                cooperative_groups::plus<float>());
}

void scale(float* data) {
  data[threadIdx.x] *= factors[threadIdx.x % 4];
  atomicAdd(&global_counter, 1);
}

class Kernels : public testing::TestWithParam<ThreadOrder> {
 protected:
  void SetUp() override { settings().thread_order = GetParam(); }

 private:
  WithSettings settings_;
};

TEST_P(Kernels, EveryThreadOfEveryBlockRunsOnce) {
  const dim3 grid(3, 2, 2);
  const dim3 block(5, 3, 2);
  int* const out = on_device(std::vector<int>(360));
  Launch("number_threads", {grid, block})([=](auto... a) { number_threads(a...); }, out);
  const std::vector<int> result = from_device(out, 360);
  for (int i = 0; i < 360; ++i) ASSERT_EQ(result[i], i % 30 + 1);
  EXPECT_EQ(cudaFree(out), cudaSuccess);
}

TEST_P(Kernels, SharedMemoryAndBarriers) {
  std::vector<float> values(2560);
  std::iota(values.begin(), values.end(), 0.0F);
  float* const data = on_device(values);
  Launch("reverse<T>", {10, 256})([=](auto... a) { reverse<float>(a...); }, data);
  const std::vector<float> result = from_device(data, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(result[i], values[i / 256 * 256 + 255 - i % 256]);
  }
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

TEST_P(Kernels, DynamicSharedMemory) {
  double* const in = on_device(std::vector<double>(1024 * 7, 0.5));
  double* const out = on_device(std::vector<double>(7));
  Launch("block_sum", {7, 1024, 1024 * sizeof(double)})([=](auto... a) { block_sum(a...); }, in,
                                                        out);
  for (const double sum : from_device(out, 7)) ASSERT_EQ(sum, 512);
  EXPECT_EQ(cudaFree(in), cudaSuccess);
  EXPECT_EQ(cudaFree(out), cudaSuccess);
}

TEST_P(Kernels, WarpFunctions) {
  unsigned* const out = on_device(std::vector<unsigned>(96 * 9));
  Launch("warp_functions", {1, 96})([=](auto... a) { warp_functions(a...); }, out);
  const std::vector<unsigned> result = from_device(out, 96 * 9);
  for (unsigned thread = 0; thread < 96; ++thread) {
    const unsigned lane = thread % 32;
    const unsigned* const mine = result.data() + thread * 9;
    EXPECT_EQ(mine[0], 496 + 32 * (thread / 32));
    EXPECT_EQ(mine[1], 0x49249249U);
    EXPECT_EQ(mine[2], 1U);
    EXPECT_EQ(mine[3], 0xfU << lane / 4 * 4);
    EXPECT_EQ(mine[4], 496U);
    EXPECT_EQ(mine[5], (lane ^ 1U) * 2 + 1);
    EXPECT_EQ(mine[6], lane < 3 ? lane : lane - 3);
    EXPECT_EQ(mine[7], lane / 8 * 8 + 2);
    EXPECT_EQ(mine[8], lane < 16 ? 15U : 31U);
  }
  EXPECT_EQ(cudaFree(out), cudaSuccess);
}

TEST_P(Kernels, BarriersThatCount) {
  int* const out = on_device(std::vector<int>(67));
  Launch("counting_barriers", {1, 67})([=](auto... a) { counting_barriers(a...); }, out);
  for (const int value : from_device(out, 67)) ASSERT_EQ(value, 3311);
  EXPECT_EQ(cudaFree(out), cudaSuccess);
}

TEST_P(Kernels, GridBarrier) {
  int n = 300;
  int* data = on_device(std::vector<int>(n, 1));
  void* arguments[] = {&data, &n};
  EXPECT_EQ(cudaLaunchCooperativeKernel(grid_sum, 3, 100, arguments), cudaSuccess);
  EXPECT_EQ(from_device(data, 1)[0], 300);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

TEST_P(Kernels, TilesOfAWarp) {
  float* const out = on_device(std::vector<float>(64));
  Launch("tiles", {1, 64})([=](auto... a) { tiles(a...); }, out);
  const std::vector<float> result = from_device(out, 64);
  for (int i = 0; i < 64; ++i) ASSERT_EQ(result[i], static_cast<float>(i / 8 * 64 + 28));
  EXPECT_EQ(cudaFree(out), cudaSuccess);
}

TEST_P(Kernels, ConstantAndGlobalVariables) {
  const float values[] = {1, 2, 3, 4};
  EXPECT_EQ(cudaMemcpyToSymbol(factors, values, sizeof values), cudaSuccess);
  const int zero = 0;
  EXPECT_EQ(cudaMemcpyToSymbol(global_counter, &zero, sizeof zero), cudaSuccess);
  float* const data = on_device(std::vector<float>(8, 2));
  Launch("scale", {1, 8})([=](auto... a) { scale(a...); }, data);
  EXPECT_EQ(from_device(data, 8), (std::vector<float>{2, 4, 6, 8, 2, 4, 6, 8}));
  int count = 0;
  EXPECT_EQ(cudaMemcpyFromSymbol(&count, global_counter, sizeof count), cudaSuccess);
  EXPECT_EQ(count, 8);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

/// Correct kernels, 1,000 launches of random extents: nothing may be reported.
TEST_P(Kernels, CorrectKernelsRaiseNoReport) {
  const Outcome outcome = outcome_of([] {
    std::mt19937 random(7);
    const auto up_to = [&](unsigned count) { return static_cast<int>(random() % count); };
    float* const data = on_device(std::vector<float>(256 * 16, 1));
    double* const in = on_device(std::vector<double>(512 * 16, 1));
    double* const out = on_device(std::vector<double>(16));
    const int pairs = 500;
    for (int i = 0; i < pairs; ++i) {
      const int blocks = up_to(16) + 1;
      const int threads = up_to(256) + 1;
      const unsigned power = 1U << up_to(10);
      Launch("reverse<T>", {blocks, threads})([=](auto... a) { reverse<float>(a...); }, data);
      Launch("block_sum", {blocks, power, power * sizeof(double)})(
          [=](auto... a) { block_sum(a...); }, in, out);
    }
  });
  EXPECT_EQ(outcome.text, "");
  EXPECT_EQ(outcome.error, cudaSuccess);
}

std::string name_of(const testing::TestParamInfo<ThreadOrder>& order) {
  const char* const names[] = {"Forward", "Reverse", "Random"};
  return names[static_cast<int>(order.param)];
}

INSTANTIATE_TEST_SUITE_P(All, Kernels,
                         testing::Values(ThreadOrder::forward, ThreadOrder::reverse,
                                         ThreadOrder::random),
                         name_of);

TEST(Intrinsics, GiveTheDocumentedResults) {
  EXPECT_EQ(__popc(0xf0f0U), 8);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__brev(1U), 0x80000000U);
  EXPECT_EQ(__brev(0x12345678U), 0x1e6a2c48U);
  EXPECT_FLOAT_EQ(__expf(1.0F), 2.7182818F);
  EXPECT_FLOAT_EQ(rsqrtf(4.0F), 0.5F);
  EXPECT_EQ(max(1.0F, 2.0F), 2.0F);
  EXPECT_EQ(min(3, 2), 2);
  EXPECT_EQ(__float_as_int(1.0F), 0x3f800000);
  EXPECT_EQ(alignof(float4), 16U);
  EXPECT_EQ(alignof(float2), 8U);
  EXPECT_EQ(alignof(float3), 4U);
  EXPECT_EQ(sizeof(double4), 32U);
  unsigned value = 5;
  EXPECT_EQ(atomicInc(&value, 5), 5U);
  EXPECT_EQ(value, 0U);
  EXPECT_EQ(atomicDec(&value, 9), 0U);
  EXPECT_EQ(value, 9U);
  EXPECT_EQ(atomicCAS(&value, 9U, 4U), 9U);
  EXPECT_EQ(atomicMax(&value, 8U), 4U);
  EXPECT_EQ(value, 8U);
  double sum = 1;
  EXPECT_EQ(atomicAdd(&sum, 0.5), 1.0);
  EXPECT_EQ(sum, 1.5);
  const ::cuda::atomic_ref<unsigned, ::cuda::thread_scope_device> counter(value);
  EXPECT_EQ(counter.fetch_add(3, ::cuda::memory_order_relaxed), 8U);
  EXPECT_EQ(counter.load(::cuda::memory_order_acquire), 11U);
  counter.store(1, ::cuda::memory_order_release);
  EXPECT_EQ(value, 1U);
}

}  // namespace
}  // namespace cuda_on_cpu
// NOLINTEND(*-avoid-c-arrays,*-non-const-global-variables,*-implicit-widening-*,*-implicit-bool-conversion,*-use-auto,*-integer-division)
