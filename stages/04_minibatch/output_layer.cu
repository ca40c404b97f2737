/// @file
/// The last layer, the loss and the way back in one kernel: a block a few rows.
///
/// The last layer of a classifier has few outputs. As products, its forward pass, the gradient of
/// its input and that of its weights are three launches of next to no work, with a fourth for the
/// loss between them, and each waits for the one before. But all of them need only a few rows at a
/// time: once a block has these, it can go all the way to the loss and back.
///
///     outputs     a team of warps takes some of the rows, a thread some of the inputs: it adds up
///                 its products for several rows at once, and the threads' sums are added up by
///                 shuffles and through shared memory
///     loss        a few lanes a row (row_loss.cuh)
///     way back    a thread takes the same inputs: their gradients, row by row, and the sums over
///                 the rows of the gradients of their weights, which stay in registers
///
/// So a weight is loaded from shared memory once for several rows, and once for all on the way
/// back. The sums over the rows of a block are its **share** of the weights' gradient; the next
/// kernel adds up the shares of all blocks (shares.cuh).
///
/// Work: rows x in elements read twice, the second time from the cache, and written once; the
/// weights once for each block, and as many shares; 6 rows in out operations.

#include <type_traits>

#include "03_shared_memory/dependent_launch.cuh"
#include "04_minibatch/activation.cuh"
#include "04_minibatch/block_partial.cuh"
#include "04_minibatch/output_layer.hpp"
#include "04_minibatch/output_layer/block_memory.cuh"
#include "04_minibatch/output_layer/dealt_sums.cuh"
#include "04_minibatch/row_loss.cuh"
#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.cuh"

namespace stagewise::minibatch {
namespace {

constexpr int threads = 256;
constexpr int all_warps = threads / 32;
constexpr int max_outputs = 32;
constexpr int lanes_a_row = 8;  ///< for the loss

/// Rows of a block: with fewer, its share takes longer to add up than to compute; with more, they
/// are worked on one after another.
constexpr Index least_rows = 4;
constexpr Index most_rows = 28;

/// What the kernel needs of shared memory for its partials.
constexpr Index for_partials = 4096;

/// An input of several rows, on its way while those before it are used.
template <int at_once, typename T>
class NextInputs {
 public:
  __device__ NextInputs(const T* input, const BlockRows& rows, int in)
      : input_(input), rows_(rows), in_(in) {}

  /// Requests input `i` of the rows from `group` on, if there is one.
  __device__ void fetch(int group, int i) {
    if (i >= in_) return;
#pragma unroll
    for (int r = 0; r < at_once; ++r) values_[r] = input_[rows_.place(group + r) * in_ + i];
  }

  /// What was requested.
  __device__ void take(T (&values)[at_once]) const {
#pragma unroll
    for (int r = 0; r < at_once; ++r) values[r] = values_[r];
  }

 private:
  const T* input_;
  BlockRows rows_;
  int in_;
  T values_[at_once] = {};
};

/// The warps of a block, in teams: each takes other rows, and its threads share the inputs. The
/// fewer threads share them, the fewer sums have to be added up; but each must have some, and each
/// team some rows.
struct Teams {
  int count = 1;          ///< of teams
  int warps = all_warps;  ///< of a team

  __device__ Teams(int in, int groups) {
    while (warps > 1 && 2 * count <= groups && warps * 32 * 4 > in) {
      count *= 2;
      warps /= 2;
    }
  }
  __device__ int threads() const { return warps * 32; }
  __device__ int number() const { return static_cast<int>(threadIdx.x) / threads(); }
  __device__ int member() const { return static_cast<int>(threadIdx.x) % threads(); }
};

//! [outputs]
/// Computes the outputs of the rows. All threads of the block call it.
template <int most, typename T>
__device__ void find_outputs(const OutputLayerProblem<T>& p, const BlockRows& rows,
                             const BlockMemory<most, threads, T>& memory, int room) {
  constexpr int at_once = BlockMemory<most, threads, T>::rows_at_once;
  using Dealt = DealtSums<at_once * most>;
  const LinearProblem<T>& layer = p.layer.forward;
  const auto in = static_cast<int>(layer.in);
  const auto thread = static_cast<int>(threadIdx.x);
  const int own = room * most;  // sums of a warp
  const Teams teams(in, (rows.count + at_once - 1) / at_once);
  const int first = teams.number() * at_once;
  NextInputs<at_once, T> next(layer.input, rows, in);
  next.fetch(first, teams.member());
  for (int group = first; group < rows.count; group += teams.count * at_once) {
    T sums[at_once * most] = {};
#pragma unroll 1
    for (int i = teams.member(); i < in; i += teams.threads()) {
      T x[at_once];
      next.take(x);
      const bool stays = i + teams.threads() < in;
      next.fetch(stays ? group : group + teams.count * at_once,
                 stays ? i + teams.threads() : teams.member());
      T weights[most];
      memory.row(i, weights);
#pragma unroll
      for (int r = 0; r < at_once; ++r) {
#pragma unroll
        for (int j = 0; j < most; ++j) sums[r * most + j] += x[r] * weights[j];
      }
    }
    Dealt::add_up(sums);
    if (!Dealt::is_first_holder()) continue;
#pragma unroll
    for (int k = 0; k < Dealt::held; ++k) {
      memory.sums[thread / 32 * own + group * most + Dealt::first() + k] = sums[k];
    }
  }
  __syncthreads();
  for (int place = thread; place < rows.count * most; place += threads) {
    const int team = place / most / at_once % teams.count;
    T sum = 0;
    for (int warp = 0; warp < teams.warps; ++warp) {
      sum += memory.sums[(team * teams.warps + warp) * own + place];
    }
    const int j = place % most;
    if (layer.bias != nullptr && j < layer.out) sum += layer.bias[j];
    memory.outputs[place] = activate(p.loss.activation, sum);
  }
  __syncthreads();
}
//! [outputs]

/// Computes the loss of the rows and the gradients of their outputs. All threads call it.
template <int most, typename T>
__device__ void find_losses(const OutputLayerProblem<T>& p, const BlockRows& rows,
                            const BlockMemory<most, threads, T>& memory, BlockPartial& partial) {
  const int lane = static_cast<int>(threadIdx.x) % lanes_a_row;
  const auto out = static_cast<int>(p.layer.forward.out);
  for (int row = static_cast<int>(threadIdx.x) / lanes_a_row; row < rows.count;
       row += threads / lanes_a_row) {
    T* const gradient = memory.gradients + row * most;
    const BlockPartial of_row = lose_row<lanes_a_row>(p.loss, memory.outputs + row * most,
                                                      label_of(p.loss, rows.first + row), gradient);
    partial.loss += of_row.loss;
    partial.correct += of_row.correct;
    for (int j = lane; j < most; j += lanes_a_row) {
      if (j >= out) {
        gradient[j] = 0;
      } else if (p.layer.doutput != nullptr) {
        p.layer.doutput[(rows.first + row) * out + j] = gradient[j];
      }
    }
  }
  __syncthreads();
}

//! [way_back]
/// Computes the gradients of the rows' inputs, and this block's share of the weights' gradient. All
/// threads of the block call it.
/// @param share null: it is not wanted. The gradient of the weights, transposed, then the bias's.
/// @param adds whether to add to what is there.
template <int most, typename T>
__device__ void go_back(const OutputLayerProblem<T>& p, const BlockRows& rows,
                        const BlockMemory<most, threads, T>& memory, T* share, bool adds) {
  const LinearProblem<T>& layer = p.layer.forward;
  const auto in = static_cast<int>(layer.in);
  const auto out = static_cast<int>(layer.out);
  constexpr int at_once = BlockMemory<most, threads, T>::rows_at_once;
  const auto place = [&](int row, int i) { return rows.place(row) * in + i; };
  const auto leave = [&](int at, T sum) { share[at] = adds ? share[at] + sum : sum; };
  NextInputs<at_once, T> next(layer.input, rows, in);
  next.fetch(0, static_cast<int>(threadIdx.x));
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < in; i += threads) {
    T weights[most];
    T of_weights[most] = {};
    memory.row(i, weights);
    for (int group = 0; group < rows.count; group += at_once) {
      T x[at_once];
      next.take(x);
      const bool stays = group + at_once < rows.count;
      next.fetch(stays ? group + at_once : 0, stays ? i : i + threads);
#pragma unroll
      for (int r = 0; r < at_once; ++r) {
        if (group + r >= rows.count) continue;
        T gradients[most];
        memory.gradients_of(group + r, gradients);
        T sum = 0;
#pragma unroll
        for (int j = 0; j < most; ++j) {
          sum += gradients[j] * weights[j];
          of_weights[j] += x[r] * gradients[j];
        }
        if (p.layer.dinput == nullptr) continue;
        p.layer.dinput[place(group + r, i)] =
            through_activation(p.layer.input_activation, x[r], sum);
      }
    }
    if (share == nullptr) continue;
#pragma unroll
    for (int j = 0; j < most; ++j) {
      if (j < out) leave(j * in + i, of_weights[j]);
    }
  }
  const auto j = static_cast<int>(threadIdx.x);
  if (share == nullptr || j >= out) return;
  T of_bias = 0;
  for (int row = 0; row < rows.count; ++row) of_bias += memory.gradients[row * most + j];
  leave(in * out + j, of_bias);
}
//! [way_back]

//! [output_layer]
/// @param room rows that a block works on at a time, at most; a multiple of those at once.
template <int most, typename T>
__global__ void __launch_bounds__(threads)
    output_layer_kernel(OutputLayerProblem<T> p, int rows_a_block, int room,
                        BlockPartial* partials) {
  extern __shared__ __align__(16) unsigned char bytes[];
  const LinearProblem<T>& layer = p.layer.forward;
  BlockMemory<most, threads, T> memory(bytes, static_cast<int>(layer.in), room);
  shared_memory::wait_and_let_next_start();
  memory.fetch_weights(layer);
  T* const share =
      p.shares == nullptr ? nullptr : p.shares + blockIdx.x * shares_length(layer.in, layer.out);
  BlockPartial partial;
  const Index begin = static_cast<Index>(blockIdx.x) * rows_a_block;
  for (Index first = begin; first < layer.rows;
       first += static_cast<Index>(gridDim.x) * rows_a_block) {
    const Index left = layer.rows - first;
    const BlockRows rows = {first, left < rows_a_block ? static_cast<int>(left) : rows_a_block};
    find_outputs(p, rows, memory, room);
    find_losses(p, rows, memory, partial);
    go_back(p, rows, memory, share, first > begin);
    __syncthreads();  // before the next rows' sums overwrite the gradients
  }
  store_partial<threads>(partial, partials + blockIdx.x);
}
//! [output_layer]

//! [launch]
/// Enough blocks for all multiprocessors, each with the same number of rows, or nearly.
template <int most, typename T>
Index launch(cudaStream_t stream, const OutputLayerProblem<T>& p, BlockPartial* partials) {
  using Memory = BlockMemory<most, threads, T>;
  const LinearProblem<T>& layer = p.layer.forward;
  const Index most_blocks = max_shares(layer.rows);
  const Index times = cuda::pieces(layer.rows, most_blocks * most_rows);
  const Index rows = cuda::pieces(layer.rows, most_blocks * times);
  const Index blocks = std::min(most_blocks, cuda::pieces(layer.rows, rows));
  const Index room = cuda::pieces(rows, Memory::rows_at_once) * Memory::rows_at_once;
  constexpr auto* kernel = output_layer_kernel<most, T>;
  static const bool has_shared_memory = [] {
    shared_memory::allow_shared_memory(kernel);
    return true;
  }();
  static_cast<void>(has_shared_memory);
  const int spread = shared_memory::bytes_to_spread(
      kernel, blocks, static_cast<int>(Memory::bytes(layer.in, room)));
  shared_memory::launch<shared_memory::Start::early>(
      "output_layer", kernel,
      shared_memory::LaunchShape{dim3(static_cast<unsigned>(blocks)), dim3(threads),
                                 static_cast<std::size_t>(spread)},
      stream, p, static_cast<int>(rows), static_cast<int>(room), partials);
  return blocks;
}
//! [launch]

/// Calls `work(a number of outputs)`, known when it is compiled, that is enough for `out`.
template <typename Work>
auto with_outputs(Index out, const Work& work) {
  if (out <= 4) return work(std::integral_constant<int, 4>());
  if (out <= 8) return work(std::integral_constant<int, 8>());
  if (out <= 12) return work(std::integral_constant<int, 12>());
  if (out <= 16) return work(std::integral_constant<int, 16>());
  return work(std::integral_constant<int, max_outputs>());
}

}  // namespace

Index max_shares(Index rows) {
  return std::min<Index>(cuda::pieces(rows, least_rows), cuda::multiprocessors());
}

template <typename T>
bool fits_output_layer(Index in, Index out) {
  const Index most = cuda::shared_memory_per_block() - for_partials;
  return out <= max_outputs && with_outputs(out, [&](auto outputs) {
           using Memory = BlockMemory<outputs.value, threads, T>;
           return static_cast<Index>(Memory::bytes(in, most_rows + Memory::rows_at_once)) <= most;
         });
}

template <typename T>
Index output_layer(cudaStream_t stream, const OutputLayerProblem<T>& p, BlockPartial* partials) {
  if (p.layer.forward.rows == 0) return 0;
  return with_outputs(p.layer.forward.out,
                      [&](auto most) { return launch<most.value>(stream, p, partials); });
}

template bool fits_output_layer<float>(Index, Index);
template bool fits_output_layer<double>(Index, Index);
template Index output_layer(cudaStream_t, const OutputLayerProblem<float>&, BlockPartial*);
template Index output_layer(cudaStream_t, const OutputLayerProblem<double>&, BlockPartial*);

}  // namespace stagewise::minibatch
