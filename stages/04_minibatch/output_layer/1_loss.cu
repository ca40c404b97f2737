/// @file
/// The loss, its gradient and the predictions in one kernel.
///
/// Stage 03 took four: the loss wrote probabilities, the gradient read them again; argmax read the
/// outputs a second time; and one block added up what the others had written. Here a warp does all
/// of it for its row while it has the row at hand. Each block leaves a partial (block_partial.cuh).
/// Probabilities and single losses are not stored at all.
///
/// What is left: the outputs and their gradient go through memory, with a product before this
/// kernel and two behind it (2_warp_per_row.cu).
///
/// Work: rows x classes elements read and written once; an exponential for each.

#include "04_minibatch/output_layer/block_partial.cuh"
#include "04_minibatch/output_layer/row_loss.cuh"
#include "cuda/launch.cuh"

namespace stagewise::minibatch {
namespace {

constexpr int warp_size = 32;
constexpr int threads = 256;
constexpr int warps = threads / warp_size;

//! [loss]
template <typename T>
__global__ void loss_kernel(LossProblem<T> p, BlockPartial* partials) {
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  BlockPartial partial;
  for (Index row = static_cast<Index>(blockIdx.x) * warps + warp; row < p.rows;
       row += static_cast<Index>(gridDim.x) * warps) {
    const BlockPartial of_row =
        row_loss(p, p.outputs + row * p.classes, label_of(p, row), p.doutputs + row * p.classes);
    add(of_row, partial);
  }
  store_partial<threads>(partial, partials + blockIdx.x);
}
//! [loss]

/// One warp adds up the partials of a batch.
__global__ void add_to_totals_kernel(TotalsProblem p) {
  add_partials(p);
}

}  // namespace

Index max_partials() {
  return Index{8} * cuda::multiprocessors();
}

template <typename T>
Index loss(cudaStream_t stream, const LossProblem<T>& problem, BlockPartial* partials) {
  if (problem.rows == 0) return 0;
  const Index blocks = std::min(cuda::pieces(problem.rows, warps), max_partials());
  loss_kernel<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(problem, partials);
  CUDA_CHECK_LAUNCH("loss");
  return blocks;
}

void add_to_totals(cudaStream_t stream, const TotalsProblem& problem) {
  add_to_totals_kernel<<<1, warp_size, 0, stream>>>(problem);
  CUDA_CHECK_LAUNCH("add_to_totals");
}

template Index loss(cudaStream_t, const LossProblem<float>&, BlockPartial*);
template Index loss(cudaStream_t, const LossProblem<double>&, BlockPartial*);

}  // namespace stagewise::minibatch
