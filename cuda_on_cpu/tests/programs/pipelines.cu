// Double buffering, three ways: a pipeline shared by the block, a thread's own pipeline, and
// copies by the block with cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <utility>

#include "expect.h"

namespace cg = cooperative_groups;

__host__ __device__ int compute(const int *tile, int t, int n) { return tile[t] * 2 + tile[(t + 1) % n] - tile[n - 1 - t]; }

template <size_t stages_count>
__global__ void with_shared_state(int *out, int const *in, size_t size, size_t batch_sz) {
  auto grid = cg::this_grid();
  auto block = cg::this_thread_block();
  extern __shared__ int shared[];
  size_t shared_offset[stages_count];
  for (size_t s = 0; s < stages_count; ++s) shared_offset[s] = s * block.size();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope::thread_scope_block, stages_count> shared_state;
  auto pipeline = cuda::make_pipeline(block, &shared_state);
  auto block_batch = [&](size_t batch) -> size_t { return block.group_index().x * block.size() + grid.size() * batch; };
  for (size_t compute_batch = 0, fetch_batch = 0; compute_batch < batch_sz; ++compute_batch) {
    for (; fetch_batch < batch_sz && fetch_batch < (compute_batch + stages_count); ++fetch_batch) {
      pipeline.producer_acquire();
      size_t shared_idx = fetch_batch % stages_count;
      cuda::memcpy_async(block, shared + shared_offset[shared_idx], in + block_batch(fetch_batch), sizeof(int) * block.size(), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    int shared_idx = compute_batch % stages_count;
    out[block_batch(compute_batch) + threadIdx.x] = compute(shared + shared_offset[shared_idx], threadIdx.x, block.size());
    pipeline.consumer_release();
  }
}

__global__ void own_pipeline(int *out, const int *in, int batches) {
  __shared__ int stage[2][64];
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&stage[0][threadIdx.x], &in[threadIdx.x], sizeof(int), pipe);
  pipe.producer_commit();
  for (int b = 0; b < batches; ++b) {
    if (b + 1 < batches) {
      pipe.producer_acquire();
      cuda::memcpy_async(&stage[(b + 1) & 1][threadIdx.x], &in[(b + 1) * 64 + threadIdx.x], sizeof(int), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    __syncthreads();
    out[b * 64 + threadIdx.x] = compute(stage[b & 1], threadIdx.x, 64);
    __syncthreads();
    pipe.consumer_release();
  }
}

__global__ void by_group(int *out, const int *in, int batches) {
  __shared__ int stage[2][64];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, stage[0], in, sizeof(int) * 64);
  for (int b = 0; b < batches; ++b) {
    if (b + 1 < batches) {
      cg::memcpy_async(block, stage[(b + 1) % 2], in + (b + 1) * 64, sizeof(int) * 64);
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block);
    }
    out[b * 64 + threadIdx.x] = compute(stage[b % 2], threadIdx.x, 64);
    block.sync();
  }
}

__global__ void with_barrier(int *out, const int *in, int batches) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ int stage[64];
  __shared__ barrier bar;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  for (int b = 0; b < batches; ++b) {
    cuda::memcpy_async(block, stage, in + b * 64, cuda::aligned_size_t<16>(sizeof(int) * 64), bar);
    barrier::arrival_token token = bar.arrive();
    bar.wait(std::move(token));
    out[b * 64 + threadIdx.x] = compute(stage, threadIdx.x, 64);
    bar.arrive_and_wait();
  }
}

int main() {
  const int batches = 6, n = 64 * batches;
  int *in = zeros<int>(n), *out = zeros<int>(n);
  for (int i = 0; i < n; ++i) in[i] = i * i % 97;
  for (int kernel = 0; kernel < 4; ++kernel) {
    memset(out, 0, n * sizeof(int));
    if (kernel == 0) with_shared_state<2><<<1, 64, 2 * 64 * sizeof(int)>>>(out, in, n, batches);
    if (kernel == 1) own_pipeline<<<1, 64>>>(out, in, batches);
    if (kernel == 2) by_group<<<1, 64>>>(out, in, batches);
    if (kernel == 3) with_barrier<<<1, 64>>>(out, in, batches);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) EXPECT(out[i] == compute(in + i / 64 * 64, i % 64, 64));
  }
}
