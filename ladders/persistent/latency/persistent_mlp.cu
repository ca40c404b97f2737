/// @file
/// One image through a multilayer perceptron without a launch and without a copy.
///
/// The captured path still pays for a launch, two copies and a wait, each of which crosses the bus
/// between host and GPU, while the arithmetic for one image is small. What changes:
/// - The kernel never ends. It looks into the host's memory for the next image, and writes the
///   class there: one read and one write cross the bus.
/// - Weights stay in shared memory, where each block keeps those of its own units.
/// - Blocks tell each other what they have computed by values that carry their request's number
///   (flagged_words.hpp), so a layer costs one trip through the L2 cache: no fence, no counter.
///
/// The blocks fetch the image from the host in shares and pass these on in global memory. If each
/// block fetched all of it, it would cross the bus once per block: 33 blocks and 6 KB for
/// 784-256-10.
///
/// Nothing is overwritten too early: the host sends the next request after the answer to this one,
/// the answer needs every unit of every layer, and a block computes its units after it has read all
/// of its input. So when the answer arrives, no block is still reading.
///
/// Bytes: 8 for each input across the bus (16 in double) and 8 back; no weights from L2 where all
/// are kept. Run it: stage04_minibatch evaluate --load F --batch-size 1 --latency

#include <cuda/atomic>

#include "03_shared_memory/warp.cuh"
#include "04_minibatch/linear/activation.cuh"
#include "cuda/check.hpp"
#include "ladders/persistent/latency/persistent_mlp.hpp"

namespace stagewise::minibatch {
namespace {

/// Words in host memory and in GPU memory, shared among all threads of both.
using AtomicWord = ::cuda::atomic_ref<Word, ::cuda::thread_scope_system>;

template <typename T>
__device__ void send(Word* to, int i, const Message<T>& message) {
  for (int w = 0; w < words_of<T>; ++w) {
    AtomicWord(to[i * words_of<T> + w]).store(message.words[w], ::cuda::memory_order_relaxed);
  }
}

//! [fetch]
/// Calls use(i, message) for the messages `share` of a request, once each has arrived. The threads
/// of the block divide them among themselves.
template <typename T, typename Use>
__device__ void fetch(Word* from, Share share, std::uint32_t request, const Use& use) {
  constexpr int at_once = 4;  // loads in flight: a thread waits for memory once, not four times
  const int step = static_cast<int>(blockDim.x);
  for (int begin = share.begin + static_cast<int>(threadIdx.x); begin < share.end; begin += at_once * step) {
    Message<T> messages[at_once] = {};
    bool all_here = false;
    while (!all_here) {
#pragma unroll
      for (int m = 0; m < at_once; ++m) {
        const int i = begin + m * step;
        if (i >= share.end) continue;
        for (int w = 0; w < words_of<T>; ++w) {
          messages[m].words[w] = AtomicWord(from[i * words_of<T> + w]).load(::cuda::memory_order_relaxed);
        }
      }
      all_here = true;
#pragma unroll
      for (int m = 0; m < at_once; ++m) {
        if (begin + m * step >= share.end) continue;
        for (const Word word : messages[m].words) {
          all_here &= number_of(word) == request || number_of(word) == stop_request;
        }
      }
      if (!all_here) __nanosleep(0);  // on a CPU, lets other threads run
    }
#pragma unroll
    for (int m = 0; m < at_once; ++m) {
      if (begin + m * step < share.end) use(begin + m * step, messages[m]);
    }
  }
}
//! [fetch]

/// Copies a layer's input to shared memory. All threads of the block call it.
/// @return whether it was a request to stop instead.
template <typename T>
__device__ bool receive(const PersistentLayer<T>& layer, std::uint32_t request, T* x) {
  bool stopped = false;
  fetch<T>(layer.input, {0, layer.in}, request, [&](int i, const Message<T>& message) {
    stopped |= number_of(message.words[0]) == stop_request;
    x[i] = value_of(message);
  });
  return __syncthreads_or(stopped ? 1 : 0) != 0;
}

/// Keeps the weights of some units in shared memory, unit by unit, each followed by its bias.
template <typename T>
__device__ void keep_weights(const PersistentLayer<T>& layer, Share units, T* shared) {
  if (layer.kept_at < 0) return;
  T* const kept = shared + layer.kept_at;
  const int row = layer.in + 1;
  const int step = static_cast<int>(blockDim.x);
  for (int i = static_cast<int>(threadIdx.x); i < units.size() * row; i += step) {
    const int k = i / units.size();  // neighbouring threads read neighbouring units
    const int unit = i % units.size();
    T value = 0;
    if (k < layer.in) {
      value = layer.weight[static_cast<Index>(k) * layer.out + units.begin + unit];
    } else if (layer.bias != nullptr) {
      value = layer.bias[units.begin + unit];
    }
    kept[unit * row + k] = value;
  }
}

/// The product of an input and a unit's weights, which are `stride` apart: each lane of the warp
/// takes every 32nd input, and all lanes get the sum.
template <typename T>
__device__ T dot(int n, const T* x, const T* weight, Index stride) {
  T sum = 0;
#pragma unroll 8
  for (int k = static_cast<int>(threadIdx.x) % 32; k < n; k += 32) sum += x[k] * weight[k * stride];
  return shared_memory::sum_of_warp(sum);
}

/// Calls use(unit, output) for some units of a layer, with one warp per unit.
template <typename T, typename Use>
__device__ void compute_units(const PersistentLayer<T>& layer, Share units, const T* x, const T* shared,
                              const Use& use) {
  for (int unit = units.begin + static_cast<int>(threadIdx.x) / 32; unit < units.end; unit += persistent_warps) {
    T sum = 0;
    if (layer.kept_at >= 0) {
      const T* const kept = shared + layer.kept_at + (unit - units.begin) * (layer.in + 1);
      sum = dot(layer.in, x, kept, 1) + kept[layer.in];
    } else {
      sum = dot(layer.in, x, layer.weight + unit, layer.out);
      if (layer.bias != nullptr) sum += layer.bias[unit];
    }
    if (threadIdx.x % 32 == 0) use(unit, activate(layer.activation, sum));
  }
}

/// The main loop of a block that computes a share of the hidden layers.
template <typename T>
__device__ void serve_hidden_layers(const PersistentMlp<T>& mlp, T* shared) {
  const int worker = static_cast<int>(blockIdx.x) - 1;
  const int workers = static_cast<int>(gridDim.x) - 1;
  const int hidden = mlp.layer_count - 1;
  for (int l = 0; l < hidden; ++l) {
    keep_weights(mlp.layers[l], share_of(mlp.layers[l].out, worker, workers), shared);
  }
  //! [serve]
  for (std::uint32_t request = mlp.first_request;; request = request_after(request)) {
    Word* const image = mlp.layers[0].input;
    fetch<T>(mlp.mailbox, share_of(mlp.layers[0].in, worker, workers), request,
             [&](int i, const Message<T>& message) { send(image, i, message); });
    bool stopped = false;
    for (int l = 0; l < hidden; ++l) {
      const PersistentLayer<T>& layer = mlp.layers[l];
      const Share units = share_of(layer.out, worker, workers);
      if (units.size() == 0) continue;
      stopped = stopped || receive(layer, request, shared);
      const std::uint32_t number = stopped ? stop_request : request;  // passes on the end
      compute_units(layer, units, shared, shared,
                    [&](int unit, T output) { send(mlp.layers[l + 1].input, unit, make_message(number, output)); });
      __syncthreads();  // before the next input overwrites this one
    }
    if (stopped || request == mlp.last_request) return;
  }
  //! [serve]
}

/// The class that the outputs indicate; the lowest wins ties.
template <typename T>
__device__ int class_of(const PersistentMlp<T>& mlp, const T* outputs, int count) {
  if (mlp.has_cut) return outputs[0] >= mlp.cut ? 1 : 0;
  int best = 0;
  for (int i = 1; i < count; ++i) {
    if (outputs[i] > outputs[best]) best = i;
  }
  return best;
}

/// The main loop of block 0.
template <typename T>
__device__ void serve_last_layer(const PersistentMlp<T>& mlp, T* shared) {
  const PersistentLayer<T>& layer = mlp.layers[mlp.layer_count - 1];
  T* const outputs = shared + mlp.kept_begins - layer.out;
  keep_weights(layer, {0, layer.out}, shared);
  for (std::uint32_t request = mlp.first_request;; request = request_after(request)) {
    if (receive(layer, request, shared)) return;
    compute_units(layer, {0, layer.out}, shared, shared, [&](int unit, T output) { outputs[unit] = output; });
    __syncthreads();
    if (threadIdx.x == 0) {
      const auto found = static_cast<std::uint32_t>(class_of(mlp, outputs, layer.out));
      AtomicWord(*mlp.answer).store(make_word(request, found), ::cuda::memory_order_relaxed);
    }
    if (request == mlp.last_request) return;
  }
}

template <typename T>
__global__ void __launch_bounds__(persistent_threads) persistent_mlp_kernel(PersistentMlp<T> mlp) {
  extern __shared__ __align__(16) unsigned char bytes[];
  T* const shared = reinterpret_cast<T*>(bytes);
  if (blockIdx.x == 0) {
    serve_last_layer(mlp, shared);
  } else {
    serve_hidden_layers(mlp, shared);
  }
}

}  // namespace

template <typename T>
void launch_persistent_mlp(cudaStream_t stream, const PersistentMlp<T>& mlp) {
  const auto bytes = static_cast<std::size_t>(mlp.shared_elements) * sizeof(T);
  CUDA_CHECK(cudaFuncSetAttribute(persistent_mlp_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)));
  PersistentMlp<T> argument = mlp;
  void* arguments[] = {&argument};
  CUDA_CHECK(cudaLaunchCooperativeKernel(persistent_mlp_kernel<T>, dim3(static_cast<unsigned>(mlp.blocks)),
                                         dim3(persistent_threads), arguments, bytes, stream));
}

template void launch_persistent_mlp(cudaStream_t, const PersistentMlp<float>&);
template void launch_persistent_mlp(cudaStream_t, const PersistentMlp<double>&);

}  // namespace stagewise::minibatch
