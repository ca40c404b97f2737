/// @file
/// The last layer, the loss and the way back in one kernel: each block takes a few rows.
///
/// With a warp a row (2_warp_per_row.cu), every warp reads all weights, and the gradient of the
/// weights is left to a product. A block that takes some rows reads the weights once for all of
/// them, into shared memory, before the kernel ahead has ended; and since it has all that the
/// gradient of the weights needs of its rows, it adds that up, too.
///
///     outputs     a warp takes as many rows as leave a lane for each output; a lane multiplies
///                 every 32nd input, and shuffles add up the lanes' sums
///     loss        one lane per output (row_loss.cuh)
///     way back    a thread takes some inputs, for all rows of the block: their gradients, and
///                 those of their weights, summed over the rows in registers
///
/// A warp goes from its rows' inputs to the gradients of their outputs without waiting for another,
/// unless several share its rows. The inputs stay in shared memory for the way back. The sums over
/// the rows of a block are its **share** of the weights' gradient; the next kernel adds up the
/// shares of all blocks (shares.cuh).
///
/// Work: rows x in elements read and written once; the weights read once for each block, and as
/// many shares written; 6 rows in out operations.

#include <type_traits>

#include "03_shared_memory/dependent_launch.cuh"
#include "04_minibatch/linear/activation.cuh"
#include "04_minibatch/output_layer/block_memory.cuh"
#include "04_minibatch/output_layer/block_partial.cuh"
#include "04_minibatch/output_layer/outputs.cuh"
#include "cuda/launch.cuh"

namespace stagewise::minibatch {
namespace {

constexpr int threads = 256;
constexpr int max_outputs = 32;

/// Rows of a block: with fewer, its share takes longer to add up than to compute.
constexpr Index least_rows = 4;

/// Shared memory that is left to the kernel's static arrays, and to other kernels.
constexpr Index for_partials = 4096;

//! [way_back]
/// Computes the gradients of the rows' inputs, and this block's share of the weights' gradient. All
/// threads of the block call it.
/// @param share null: it is not wanted. The gradient of the weights, transposed, then the bias's.
/// @param adds whether to add to what is there.
template <Activation input_activation, int most, typename T>
__device__ void go_back(const OutputLayerProblem<T>& p, const BlockRows& rows,
                        const BlockMemory<most, threads, T>& memory, T* share, bool adds) {
  const LinearProblem<T>& layer = p.layer.forward;
  const auto in = static_cast<int>(layer.in);
  const auto out = static_cast<int>(layer.out);
  const bool wants_dinput = p.layer.dinput != nullptr;
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < in; i += threads) {
    T weights[most];
    T of_weights[most] = {};
    memory.row(i, weights);
    const T* input = memory.inputs + i;
    Index element = rows.first * in + i;
#pragma unroll 2
    for (int row = 0; row < rows.count; ++row) {
      T gradients[most];
      memory.gradients_of(row, gradients);
      T sum = 0;
#pragma unroll
      for (int j = 0; j < most; ++j) {
        sum += gradients[j] * weights[j];
        of_weights[j] += *input * gradients[j];
      }
      if (wants_dinput) {
        p.layer.dinput[element] = Function<input_activation>::back(*input, sum);
      }
      input += in;
      element += in;
    }
    if (share == nullptr) continue;
    if (adds) {
#pragma unroll
      for (int j = 0; j < most; ++j) {
        if (j < out) of_weights[j] += share[j * in + i];
      }
    }
#pragma unroll
    for (int j = 0; j < most; ++j) {
      if (j < out) share[j * in + i] = of_weights[j];
    }
  }
  const auto j = static_cast<int>(threadIdx.x);
  if (share == nullptr || j >= out) return;
  // One row after another, however many fit into shared memory at a time: so processes with
  // different numbers of inputs get the same bits.
  T& of_bias = share[in * out + j];
  T sum = adds ? of_bias : T{0};
  for (int row = 0; row < rows.count; ++row) sum += memory.gradients[row * most + j];
  of_bias = sum;
}
//! [way_back]

//! [output_layer]
/// @tparam has_product whether p.product is given.
/// @param room rows that a block works on at a time, at most.
template <int most, bool has_product, typename T>
__global__ void __launch_bounds__(threads)
    output_layer_kernel(OutputLayerProblem<T> p, int rows_a_block, int room,
                        BlockPartial* partials) {
  extern __shared__ __align__(16) unsigned char bytes[];
  const LinearProblem<T>& layer = p.layer.forward;
  const BlockMemory<most, threads, T> memory(bytes, static_cast<int>(layer.in), room);
  if (p.weight_is_independent) memory.request_weights(layer);
  shared_memory::wait_and_let_next_start();
  if (!p.weight_is_independent) memory.request_weights(layer);
  T* const share =
      p.shares == nullptr ? nullptr : p.shares + blockIdx.x * shares_length(layer.in, layer.out);
  BlockPartial partial;
  const Index begin = static_cast<Index>(blockIdx.x) * rows_a_block;
  const Index end = begin + rows_a_block < layer.rows ? begin + rows_a_block : layer.rows;
  for (Index first = begin; first < end; first += room) {
    const BlockRows rows = {first, static_cast<int>(end - first < room ? end - first : room)};
    if constexpr (has_product) {
      find_losses_of_products(p, rows, memory, first == begin, partial);
    } else {
      find_losses(p, rows, memory, first == begin, partial);
    }
    __syncthreads();
    with_function(p.layer.input_activation, [&]<Activation activation>() {
      go_back<activation>(p, rows, memory, share, first > begin);
    });
    __syncthreads();  // before the next rows take the place of these
  }
  store_partial<threads>(partial, partials + blockIdx.x);
}
//! [output_layer]

/// How many rows fit into a block's shared memory; 0 if fewer than a warp takes at once.
template <int most, typename T>
Index rows_with_room(Index in) {
  using Memory = BlockMemory<most, threads, T>;
  const Index all = cuda::shared_memory_per_block() - for_partials - Memory::bytes_of_weights(in);
  const Index rows = std::max<Index>(all, 0) / Memory::bytes_of_row(in);
  return rows / rows_at_once<most> * rows_at_once<most>;
}

/// Enough blocks for all multiprocessors, each with the same number of rows, or nearly.
template <int most, bool has_product, typename T>
Index launch(cudaStream_t stream, const OutputLayerProblem<T>& p, BlockPartial* partials) {
  using Memory = BlockMemory<most, threads, T>;
  constexpr Index at_once = rows_at_once<most>;
  const LinearProblem<T>& layer = p.layer.forward;
  const Index rows = cuda::pieces(layer.rows, max_shares(layer.rows));
  const Index blocks = cuda::pieces(layer.rows, rows);
  const Index times = cuda::pieces(rows, rows_with_room<most, T>(layer.in));
  const Index room = cuda::pieces(cuda::pieces(rows, times), at_once) * at_once;
  constexpr auto* kernel = output_layer_kernel<most, has_product, T>;
  static const Index besides = shared_memory::allow_shared_memory(kernel);
  const Index bytes = Memory::bytes_of_weights(layer.in) + room * Memory::bytes_of_row(layer.in);
  const int spread = shared_memory::bytes_to_spread(besides, blocks, static_cast<int>(bytes));
  shared_memory::launch<shared_memory::Start::early, kernel>(
      "output_layer",
      shared_memory::LaunchShape{dim3(static_cast<unsigned>(blocks)), dim3(threads),
                                 static_cast<std::size_t>(spread)},
      stream, p, static_cast<int>(rows), static_cast<int>(room), partials);
  return blocks;
}

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
  return out <= max_outputs &&
         with_outputs(out, [&](auto most) { return rows_with_room<most.value, T>(in) > 0; });
}

template <typename T>
Index output_layer(cudaStream_t stream, const OutputLayerProblem<T>& p, BlockPartial* partials) {
  if (p.layer.forward.rows == 0) return 0;
  return with_outputs(p.layer.forward.out, [&](auto most) {
    return p.product != nullptr ? launch<most.value, true>(stream, p, partials)
                                : launch<most.value, false>(stream, p, partials);
  });
}

template bool fits_output_layer<float>(Index, Index);
template bool fits_output_layer<double>(Index, Index);
template Index output_layer(cudaStream_t, const OutputLayerProblem<float>&, BlockPartial*);
template Index output_layer(cudaStream_t, const OutputLayerProblem<double>&, BlockPartial*);

}  // namespace stagewise::minibatch
