/// @file
/// The gradient of a convolution's filter; see convolution.cu.
///
/// The result is small, and k is long: for report 001's layers 25 x 32 and 800 x 64, with 576 and
/// 64 steps for each image. So many blocks share a tile, each for a part of the pixels.

#include "03_shared_memory/gemm/epilogue.cuh"
#include "04_minibatch/convolution.hpp"
#include "04_minibatch/convolution/convolution_tiles.cuh"
#include "04_minibatch/convolution/windows.cuh"

namespace stagewise::minibatch {

using shared_memory::is_aligned;
using shared_memory::StridedMatrix;
using shared_memory::Workspace;

//! [filter_gradient]
template <typename T>
void filter_gradient(cudaStream_t stream, const ConvolutionProblem& p, const T* input,
                     const T* doutput, T* dfilter, Workspace& workspace, Math math) {
  const auto k = static_cast<int>(p.output_pixels());
  const auto n = static_cast<int>(p.out);
  const auto multiply = [&]<typename Tiles, typename Table, int length>() {
    with_planned_tiling<Table, T>(
        p.window(), p.out, p.output_pixels(), [&]<typename Tiling>(Tiling /*tiling*/, int parts) {
          launch_layer<Tiling, T, Tiles>(
              stream, p.window(), n, k, WindowColumns<T, length>(p, input),
              StridedMatrix<T, false, length>{doutput, n, k}, false,
              shared_memory::AlphaBeta<T>(dfilter, n, T{1}, T{0}), NothingElse(), parts, workspace);
        });
  };
  with_tables<T>(math, is_aligned(input, p.in) && is_aligned(doutput, p.out), multiply);
}
//! [filter_gradient]

template void filter_gradient(cudaStream_t, const ConvolutionProblem&, const float*, const float*,
                              float*, Workspace&, Math);
template void filter_gradient(cudaStream_t, const ConvolutionProblem&, const double*, const double*,
                              double*, Workspace&, Math);

}  // namespace stagewise::minibatch
