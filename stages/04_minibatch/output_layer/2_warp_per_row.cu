/// @file
/// The last layer, the loss and the way back in one kernel: each warp takes a row.
///
/// Behind 1_loss.cu, which is given the outputs, three launches are left: a product for the
/// outputs, one for the gradient of the inputs, one for that of the weights. But a row's outputs
/// depend on this row only, and so does the gradient of its inputs. So a warp goes all the way: its
/// lanes multiply every 32nd input each, shuffles add up what they have, row_loss() takes the row
/// to the loss and back to the gradient of its outputs, and from there each lane goes back to its
/// inputs. The outputs are never stored, and two launches are saved.
///
/// It is slower nevertheless (benchmarks/results/h200_one_loop.md); why was not measured. Every
/// warp reads all weights, twice, and a batch of 100 has only 100 warps. And the gradient of the
/// weights, a sum over all rows, is still a product of its own. 3_block_of_rows.cu does both in
/// another way.
///
/// Work: rows x in elements read and written once; the weights read twice for each row, from the
/// cache; 4 rows in out operations.

#include "04_minibatch/linear/activation.cuh"
#include "04_minibatch/output_layer/block_partial.cuh"
#include "04_minibatch/output_layer/row_loss.cuh"
#include "cuda/launch.cuh"

namespace stagewise::minibatch {
namespace {

constexpr int warp_size = 32;
constexpr int threads = 256;
constexpr int warps = threads / warp_size;
constexpr int max_outputs = 32;

//! [warp_per_row]
template <typename T>
__global__ void warp_per_row_kernel(OutputLayerProblem<T> p, BlockPartial* partials) {
  __shared__ T outputs_of_warps[warps][max_outputs];
  __shared__ T gradients_of_warps[warps][max_outputs];
  const LinearProblem<T>& layer = p.layer.forward;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  T* const outputs = outputs_of_warps[warp];
  T* const gradients = gradients_of_warps[warp];
  BlockPartial partial;
  for (Index row = static_cast<Index>(blockIdx.x) * warps + warp; row < layer.rows;
       row += static_cast<Index>(gridDim.x) * warps) {
    const T* const input = layer.input + row * layer.in;
    for (Index j = 0; j < layer.out; ++j) {
      T sum = 0;
      for (Index i = lane; i < layer.in; i += warp_size) {
        sum += input[i] * layer.weight[i * layer.out + j];
      }
      sum = shared_memory::sum_of_warp(sum);
      if (layer.bias != nullptr) sum += layer.bias[j];
      if (lane == 0) outputs[j] = activate(p.loss.activation, sum);
    }
    __syncwarp();  // lane 0 has written what all of them read
    add(row_loss(p.loss, outputs, label_of(p.loss, row), gradients), partial);
    __syncwarp();
    for (Index j = lane; j < layer.out; j += warp_size) {
      p.layer.doutput[row * layer.out + j] = gradients[j];
    }
    if (p.layer.dinput == nullptr) continue;
    for (Index i = lane; i < layer.in; i += warp_size) {
      T sum = 0;
      for (Index j = 0; j < layer.out; ++j) sum += gradients[j] * layer.weight[i * layer.out + j];
      p.layer.dinput[row * layer.in + i] =
          through_activation(p.layer.input_activation, input[i], sum);
    }
  }
  store_partial<threads>(partial, partials + blockIdx.x);
}
//! [warp_per_row]

}  // namespace

template <typename T>
Index warp_per_row(cudaStream_t stream, const OutputLayerProblem<T>& p, BlockPartial* partials) {
  const Index rows = p.layer.forward.rows;
  if (rows == 0) return 0;
  const Index blocks = std::min(cuda::pieces(rows, warps), max_partials());
  warp_per_row_kernel<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(p, partials);
  CUDA_CHECK_LAUNCH("warp_per_row");
  return blocks;
}

template Index warp_per_row(cudaStream_t, const OutputLayerProblem<float>&, BlockPartial*);
template Index warp_per_row(cudaStream_t, const OutputLayerProblem<double>&, BlockPartial*);

}  // namespace stagewise::minibatch
