/// @file
/// A kernel that holds a multilayer perceptron, stays on the GPU and answers one request after
/// another.
#pragma once

#include "latency/flagged_words.hpp"
#include "network/problems.hpp"

namespace stagewise::minibatch {

/// Layers that fit into the arguments of a launch.
constexpr int max_persistent_layers = 16;

/// Threads in a block of the kernel: 8 warps, each of which computes one unit at a time.
constexpr int persistent_threads = 256;
constexpr int persistent_warps = persistent_threads / 32;

/// A layer of the kernel's, all pointers the GPU's.
template <typename T>
struct PersistentLayer {
  int in = 0;
  int out = 0;
  const T* weight = nullptr;  ///< [in, out]
  const T* bias = nullptr;    ///< [out]; null: none
  Activation activation = Activation::none;
  Word* input = nullptr;  ///< where its input arrives, `in` messages

  /// Where in its shared memory a block keeps its units' weights and biases, in elements; negative
  /// where they do not fit, and are read from global memory every time.
  int kept_at = -1;
};

/// What a launch of the kernel is told. Block 0 computes the last layer and answers; the others
/// share the units of each hidden layer.
template <typename T>
struct PersistentMlp {
  int layer_count = 0;
  // NOLINTNEXTLINE(modernize-avoid-c-arrays): std::array has no functions for kernels
  PersistentLayer<T> layers[max_persistent_layers];
  Word* mailbox = nullptr;  ///< of the host: the input, `in` messages of the first layer
  Word* answer = nullptr;   ///< of the host: the class

  bool has_cut = false;  ///< whether one output names the class, which is 1 from `cut` on
  T cut = 0;

  int blocks = 1;  ///< 1 without hidden layers; else at most the widest hidden layer's units + 1
  int kept_begins = 0;  ///< elements of shared memory in front of what is kept
  int shared_elements = 0;

  std::uint32_t first_request = 0;
  std::uint32_t last_request =
      0;  ///< the kernel ends after this one; no_request: when it is told to
};

/// The part of `count` pieces of work that number `worker` of `workers` does.
struct Share {
  int begin;
  int end;
  __host__ __device__ int size() const { return end - begin; }
};

/// Everyone has some if there are no more workers than pieces.
__host__ __device__ inline Share share_of(int count, int worker, int workers) {
  const long long all = count;
  return {static_cast<int>(all * worker / workers), static_cast<int>(all * (worker + 1) / workers)};
}

/// Launches the kernel; all its blocks run at once, as they wait for each other. Words in global
/// memory hold no_request before the first launch. A request whose words say stop_request ends it.
/// @throws Error if the blocks do not fit on the GPU all at once.
template <typename T>
void launch_persistent_mlp(cudaStream_t stream, const PersistentMlp<T>& mlp);

}  // namespace stagewise::minibatch
