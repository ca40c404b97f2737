#include "check_cuda.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#ifndef EXERCISE_ON_GPU  // where nothing is counted: only results are checked
#include "cuda_on_cpu/counters.hpp"
#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/settings.hpp"
#endif

namespace exercise {

void pass_counted(const std::string& what) {
  if (is_counting()) pass(what);
}

void expect_no_error(const std::string& what) {
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  expect(error == cudaSuccess, what, ", CUDA reports: ", cudaGetErrorString(error), ".");
}

namespace {

/// "4 x 2", or "4" if there is only x.
std::string extents(dim3 size) {
  std::string result = text(size.x);
  if (size.y > 1 || size.z > 1) result += say(" x ", size.y);
  if (size.z > 1) result += say(" x ", size.z);
  return result;
}

}  // namespace

std::string described(const Shape& shape) {
  return say(extents(shape.grid), shape.blocks() == 1 ? " block of " : " blocks of ",
             extents(shape.block), shape.threads_of_block() == 1 ? " thread" : " threads");
}

void expect_kernel(const Counts& counts, const std::string& what) {
  expect(counts.launches > 0, what,
         ", the results are right, but no kernel was launched: let the threads of a kernel compute "
         "them, and launch it by kernel<<<blocks, threads>>>(...).");
}

void expect_threads(const Counts& counts, const std::string& what, double needed,
                    const std::string& why) {
  expect_kernel(counts, what);
  expect(counts.shape.threads() >= needed, what,
         ", the results are right, but the launch has only ", described(counts.shape),
         "; let it have at least ", several(needed, "thread"), ", ", why, ".");
}

void expect_blocks_of_warps(const Counts& counts, const std::string& what) {
  const Shape& shape = counts.shape;
  const double block = shape.threads_of_block();
  expect(static_cast<int>(block) % 32 == 0, what, ", the launch has ", described(shape),
         ": the last warp of each block is not full, since a warp has 32 threads",
         block < shape.blocks() && block < 32 ? "; are blocks and threads swapped?"
                                              : "; let a block have a multiple of 32.");
}

void expect_full_warps(const Counts& counts, const std::string& what) {
  const double lanes = std::min(counts.lanes_per_load, counts.lanes_per_store);
  expect(lanes >= 24, what, ", only ", lanes,
         " of the 32 threads of a warp take part in an access to memory, on average: let all of "
         "them work, on neighbouring numbers.");
}

void expect_sectors(double sectors, double most, const std::string& what,
                    const std::string& request, const std::string& advice) {
  expect(sectors <= most, what, ", a warp's ", request, " takes ", sectors,
         " sectors of memory on average; 4 are enough ", advice, ".");
}

#ifdef EXERCISE_ON_GPU

void* allocate(std::size_t bytes, const std::string& /*name*/) {
  void* memory = nullptr;
  cudaMalloc(&memory, bytes);
  return memory;
}

bool is_counting() {
  return false;
}

Counts counts_since_last_call() {
  return {};
}

Calls calls() {
  static std::uint64_t launches = 0;
  return {.launches = ++launches};
}

#else

void* allocate(std::size_t bytes, const std::string& name) {
  static std::deque<std::string> places;  // which may be needed until the end
  places.push_back("the check for " + name);
  void* memory = nullptr;
  cudaMalloc(&memory, bytes, {places.back().c_str(), 0});
  return memory;
}

bool is_counting() {
  return std::getenv("STAGEWISE_CPU_OBSERVE") == nullptr;
}

Calls calls() {
  cuda_on_cpu::Counters& counters = cuda_on_cpu::counters();
  counters.most_threads = 0;
  return {.launches = counters.launches,
          .copies = counters.copies,
          .host_synchronizations = counters.host_synchronizations,
          .shape = {counters.grid, counters.block}};
}

Counts counts_since_last_call() {
  static cuda_on_cpu::MemoryCounts before;
  static cuda_on_cpu::Counters calls_before;
  cuda_on_cpu::count_accesses();
  const cuda_on_cpu::MemoryCounts after = cuda_on_cpu::counted_accesses();
  cuda_on_cpu::Counters& calls = cuda_on_cpu::counters();
  const cuda_on_cpu::AccessCounts loads = after.loads - before.loads;
  const cuda_on_cpu::AccessCounts plain_stores = after.stores - before.stores;
  const cuda_on_cpu::AccessCounts atomics = after.atomics - before.atomics;
  cuda_on_cpu::AccessCounts stores = plain_stores;
  stores += atomics;
  const cuda_on_cpu::AccessCounts shared_loads = after.shared_loads - before.shared_loads;
  const cuda_on_cpu::AccessCounts shared_stores = after.shared_stores - before.shared_stores;
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  const auto ratio = [&](std::uint64_t a, std::uint64_t b) {
    return b == 0 ? 0 : number(a) / number(b);
  };
  const Counts result{
      .launches = number(calls.launches - calls_before.launches),
      .graph_launches = number(calls.graph_launches - calls_before.graph_launches),
      .copies = number(calls.copies - calls_before.copies),
      .loads = number(loads.requests),
      .stores = number(stores.requests),
      .loaded_bytes = number(loads.bytes),
      .stored_bytes = number(plain_stores.bytes),
      .sectors_per_load = ratio(loads.sectors, loads.requests),
      .sectors_per_store = ratio(stores.sectors, stores.requests),
      .asked_bytes = 32 * number(loads.sectors + stores.sectors),
      .distinct_bytes = number(after.distinct_bytes - before.distinct_bytes),
      .atomics = number(atomics.requests),
      .shared_loads = number(shared_loads.requests),
      .shared_stores = number(shared_stores.requests),
      .cycles_per_shared_load = ratio(shared_loads.wavefronts, shared_loads.requests),
      .cycles_per_shared_store = ratio(shared_stores.wavefronts, shared_stores.requests),
      .bank_conflicts = number(shared_loads.conflicts + shared_stores.conflicts),
      .shared_atomics = number(after.shared_atomics.requests - before.shared_atomics.requests),
      .lanes_per_load = ratio(loads.lanes, loads.requests),
      .lanes_per_store = ratio(stores.lanes, stores.requests),
      .atomic_lanes = number(atomics.lanes),
      .shape = calls.most_threads == 0 ? Shape{dim3(0, 0, 0), dim3(0, 0, 0)}
                                       : Shape{calls.grid, calls.block}};
  before = after;
  calls.most_threads = 0;
  calls_before = calls;
  return result;
}

#endif

}  // namespace exercise

int main() {
#ifndef EXERCISE_ON_GPU
  cuda_on_cpu::watch_faults();
  cuda_on_cpu::settings().protect = true;  // as on a computer with a GPU, the host cannot read it
#endif
  exercise::check();
  std::puts("done");
  return 0;
}
