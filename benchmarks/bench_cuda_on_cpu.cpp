/// @file
/// What a thread costs in CUDA on the CPU: with and without barriers, on one core and on two. The
/// kernels are written as the translator would write them.
///
/// Run it: `bench_cuda_on_cpu`. Column per_thread: the time of a thread, or of a thread and
/// barrier, divided by their number; goals are 10 ns without a barrier and 40 ns a barrier, on one
/// core. Says nothing about GPUs.

#include <chrono>
#include <string>

#include <benchmark/benchmark.h>

#include "cuda_on_cpu/settings.hpp"
#include "cuda_runtime.h"

namespace cuda_on_cpu {
namespace {

void axpy(const float* x, float* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += 2 * x[i];
}

constexpr int barriers = 64;

void barriers_only() {
  for (int i = 0; i < barriers; ++i) __syncthreads();
}

constexpr int shuffles = 64;

void shuffles_only(float* y) {
  auto value = static_cast<float>(threadIdx.x);
  for (int i = 0; i < shuffles; ++i) value = __shfl_xor_sync(0xffffffffU, value, 1);
  y[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

/// Runs `launch`, which does `operations`, on so many workers.
template <class Run>
void measure(benchmark::State& state, double operations, const Run& run) {
  settings().workers = static_cast<unsigned>(state.range(0));
  run();  // the first starts the workers
  for ([[maybe_unused]] const auto iteration : state) run();
  state.counters["per_thread"] = benchmark::Counter(
      operations, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void thread_without_barrier(benchmark::State& state) {
  constexpr int blocks = 1024;
  constexpr int threads = 256;
  float* x = nullptr;
  float* y = nullptr;
  cudaMalloc(&x, sizeof(float) * blocks * threads);
  cudaMalloc(&y, sizeof(float) * blocks * threads);
  cudaMemset(x, 0, sizeof(float) * blocks * threads);
  cudaMemset(y, 0, sizeof(float) * blocks * threads);
  measure(state, blocks * threads, [=] {
    Launch("axpy", {blocks, threads})([=](auto... a) { axpy(a...); }, x, y);
  });
  cudaFree(x);
  cudaFree(y);
}

void barrier(benchmark::State& state) {
  constexpr int blocks = 64;
  const auto threads = static_cast<int>(state.range(1));
  measure(state, 1.0 * blocks * threads * barriers, [=] {
    Launch("barriers", {blocks, threads})([=](auto... a) { barriers_only(a...); });
  });
}

void shuffle_of_a_warp(benchmark::State& state) {
  constexpr int blocks = 64;
  constexpr int threads = 256;
  float* y = nullptr;
  cudaMalloc(&y, sizeof(float) * blocks * threads);
  measure(state, 1.0 * blocks * threads * shuffles, [=] {
    Launch("shuffles", {blocks, threads})([=](auto... a) { shuffles_only(a...); }, y);
  });
  cudaFree(y);
}

void launch_of_one_thread(benchmark::State& state) {
  measure(state, 1, [] { Launch("empty", {1, 1})([](auto...) {}); });
}

BENCHMARK(thread_without_barrier)->ArgName("workers")->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(barrier)
    ->ArgNames({"workers", "threads"})
    ->ArgsProduct({{1, 2}, {64, 256, 1024}})
    ->UseRealTime();
BENCHMARK(shuffle_of_a_warp)->ArgName("workers")->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(launch_of_one_thread)->ArgName("workers")->Arg(1)->UseRealTime();

}  // namespace
}  // namespace cuda_on_cpu
