/// @file
/// A persistent kernel that holds a multilayer perceptron and answers one request after another.
#pragma once

#include "ladders/persistent/flagged_words.hpp"
#include "network/problems.hpp"

namespace stagewise::minibatch {

/// The largest number of layers, which must fit into the arguments of a launch.
constexpr int max_persistent_layers = 16;

/// Threads per block: 8 warps, each of which computes one unit at a time.
constexpr int persistent_threads = 256;
constexpr int persistent_warps = persistent_threads / 32;

/// A layer of the kernel; all pointers are to GPU memory.
template <typename T>
struct PersistentLayer {
  int in = 0;
  int out = 0;
  const T* weight = nullptr;  ///< [in, out]
  const T* bias = nullptr;    ///< [out]; null: none
  Activation activation = Activation::none;
  Word* input = nullptr;  ///< where its input arrives, as `in` messages

  /// Where in its shared memory a block keeps its units' weights and biases, in elements; negative
  /// if they do not fit and are read from global memory every time.
  int kept_at = -1;
};

/// The arguments of a launch. Block 0 computes the last layer and answers; the others share the
/// units of each hidden layer.
template <typename T>
struct PersistentMlp {
  int layer_count = 0;
  // NOLINTNEXTLINE(modernize-avoid-c-arrays): std::array has no functions for kernels
  PersistentLayer<T> layers[max_persistent_layers];
  Word* mailbox = nullptr;  ///< in host memory: the first layer's input, as `in` messages
  Word* answer = nullptr;   ///< in host memory: the class

  bool has_cut = false;  ///< whether a single output decides: class 1 from `cut` on
  T cut = 0;

  int blocks = 1;       ///< 1 without hidden layers; otherwise at most 1 + the widest one's units
  int kept_begins = 0;  ///< elements of shared memory before the weights that are kept
  int shared_elements = 0;

  std::uint32_t first_request = 0;
  std::uint32_t last_request = 0;  ///< the kernel ends after this request; no_request: when it is told to
};

/// The part of `count` pieces of work that worker number `worker` of `workers` does.
struct Share {
  int begin;
  int end;
  __host__ __device__ int size() const { return end - begin; }
};

/// Every worker has some if there are no more workers than pieces.
__host__ __device__ inline Share share_of(int count, int worker, int workers) {
  const long long all = count;
  return {static_cast<int>(all * worker / workers), static_cast<int>(all * (worker + 1) / workers)};
}

/// Launches the kernel. All its blocks run at the same time, since they wait for each other. Words
/// in global memory must contain no_request before the first launch. A request whose words contain
/// stop_request ends it.
/// @throws Error if the blocks do not all fit on the GPU at the same time.
template <typename T>
void launch_persistent_mlp(cudaStream_t stream, const PersistentMlp<T>& mlp);

}  // namespace stagewise::minibatch
