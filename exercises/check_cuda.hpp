/// @file
/// For checks of kernels: memory of the GPU, and what launches do.
#pragma once

#include <cuda_runtime.h>

#include "check.hpp"

namespace exercise {

/// Ends the check if a call of the runtime or a launch has failed.
void expect_no_error(const std::string& what);

/// Memory of the GPU, exactly as large as asked for: what is beyond it is found.
void* allocate(std::size_t bytes, const std::string& name);

/// An array in it. What nobody has written is NaN.
template <class T>
class DeviceArray {
 public:
  /// @param name what the task calls it, for what is said of a wrong access
  DeviceArray(std::size_t size, const std::string& name)
      : data_(static_cast<T*>(allocate(size * sizeof(T), name))), size_(size) {}
  DeviceArray(const std::vector<T>& values, const std::string& name)
      : DeviceArray(values.size(), name) {
    cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() { return data_; }

  /// Waits for the GPU.
  std::vector<T> values() const {
    std::vector<T> result(size_);
    cudaDeviceSynchronize();
    cudaMemcpy(result.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost);
    return result;
  }

 private:
  T* data_;
  std::size_t size_;
};

/// What stands between <<< and >>>.
struct Shape {
  dim3 grid;
  dim3 block;

  double blocks() const { return static_cast<double>(grid.x) * grid.y * grid.z; }
  double threads_of_block() const { return static_cast<double>(block.x) * block.y * block.z; }
  double threads() const { return blocks() * threads_of_block(); }
};

/// "4 x 2 blocks of 256 threads"
std::string described(const Shape& shape);

/// What some launches have done.
struct Counts {
  double launches;
  double graph_launches;
  double copies;
  double loads;             ///< requests of warps to global memory
  double stores;            ///< likewise, atomic functions included
  double loaded_bytes;      ///< of global memory, by all threads
  double stored_bytes;      ///< likewise, without atomic functions
  double sectors_per_load;  ///< of 32 bytes
  double sectors_per_store;
  double asked_bytes;     ///< of global memory, by all warps, in sectors
  double distinct_bytes;  ///< of global memory, that a launch has read, and those it has written
  double atomics;         ///< requests to global memory
  double shared_loads;    ///< requests to shared memory
  double shared_stores;
  double cycles_per_shared_load;  ///< 1 without bank conflicts
  double cycles_per_shared_store;
  double bank_conflicts;   ///< cycles that they add
  double shared_atomics;   ///< requests to shared memory
  double lanes_per_load;   ///< threads that take part in a request to global memory
  double lanes_per_store;  ///< likewise, atomic functions included
  double atomic_lanes;     ///< threads that call atomic functions of global memory, each time
  Shape shape;             ///< of the launch with the most threads
};

/// Whether this run counts; another one looks for races instead.
bool is_counting();

/// What is right so far, of what has been counted.
void pass_counted(const std::string& what);

/// What all launches since this was last called have done, in the run that counts.
Counts counts_since_last_call();

/// Counts what `work` does, in the run that counts: only then calls `judge` with it.
template <class Work, class Judge>
void count(const Work& work, const Judge& judge) {
  if (is_counting()) counts_since_last_call();
  work();
  cudaDeviceSynchronize();
  if (is_counting()) judge(counts_since_last_call());
}

/// Calls of the runtime so far. A GPU does not tell: there, it is one more launch each time.
struct Calls {
  std::uint64_t launches = 0;
  std::uint64_t copies = 0;
  std::uint64_t host_synchronizations = 0;
  Shape shape = {dim3(0, 0, 0),
                 dim3(0, 0, 0)};  ///< of the largest launch since the last call; 0 on a GPU
};
Calls calls();

/// Ends the check if the host has done the work, which it can by copies.
void expect_kernel(const Counts& counts, const std::string& what);

/// Ends the check if few threads do the work of many.
/// @param needed so many threads should a launch have, as `why` says: "one for each number"
void expect_threads(const Counts& counts, const std::string& what, double needed,
                    const std::string& why);

/// Ends the check if the blocks are no multiple of a warp.
void expect_blocks_of_warps(const Counts& counts, const std::string& what);

/// Ends the check if most threads of a warp are idle.
void expect_full_warps(const Counts& counts, const std::string& what);

/// Ends the check if a warp's requests take too many sectors.
/// @param request "load of x".
/// @param advice "if neighbouring threads read neighbouring numbers".
void expect_sectors(double sectors, double most, const std::string& what,
                    const std::string& request, const std::string& advice);

}  // namespace exercise
