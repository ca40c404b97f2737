/// @file
/// The gradient of a convolution's input; see convolution.cu, and convolution/taps.cuh for the
/// idea.

#include "04_minibatch/convolution.hpp"
#include "04_minibatch/convolution/convolution_tiles.cuh"
#include "04_minibatch/convolution/taps.cuh"

namespace stagewise::minibatch {

/// An epilogue: the sums are stored where the pixels are.
template <typename T>
struct PixelGradients {
  static constexpr int read_ahead = 0;

  T* out;
  int n;  ///< channels
  PixelOrder order;
  bool vectors;

  /// Where row number `i` is stored.
  __device__ T* row(int i) const {
    const auto [image, y, x] = order.pixel(i);
    return out + static_cast<Index>((image * order.height() + y) * order.width() + x) * n;
  }

  /// See AlphaBeta.
  template <typename Work>
  __device__ void with_finish(const Work& work) const {
    work(shared_memory::NoSource(), [](int /*row*/, T sum, T /*source*/) { return sum; });
  }
};

namespace {

using shared_memory::is_aligned;

//! [input_gradient_kernel]
template <typename T, typename Tiles, typename Tiling, typename MatrixA, typename MatrixB>
__global__ void __launch_bounds__(Tiling::threads, Tiling::blocks)
    input_gradient_kernel(int n, MatrixA a, MatrixB b, PixelGradients<T> epilogue) {
  extern __shared__ __align__(128) unsigned char memory[];
  shared_memory::wait_and_let_next_start();
  const int m = a.order.rows();
  const shared_memory::TileOrder<Tiling> order = {m, n};
  const shared_memory::TilePlace place = order.place(static_cast<int>(blockIdx.x));
  a.range = a.order.taps(place.top, place.top + Tiling::BM - 1);
  b.range = a.range;

  using Work =
      shared_memory::MultipliedTile<T, Tiles::template Multiplier, Tiling, MatrixA, MatrixB>;
  Work work(reinterpret_cast<T*>(memory), place);
  work.multiply(a, b, 0, a.range.count() * a.out);
  work.finish(epilogue, m, n, {.count = 1});
}
//! [input_gradient_kernel]

}  // namespace

//! [input_gradient]
template <typename T>
void input_gradient(cudaStream_t stream, const ConvolutionProblem& p, const T* filter,
                    const T* doutput, T* dinput, Math math) {
  const auto in = static_cast<int>(p.in);
  const auto out = static_cast<int>(p.out);
  const PixelOrder order(p);
  const Index pixels = p.batch * p.height * p.width;
  const PixelGradients<T> epilogue = {dinput, in, order, is_aligned(dinput, p.in)};
  const auto multiply = [&]<typename Tiles, typename Table, int length>() {
    using A = GradientTaps<T, length>;
    using B = FilterTaps<T, length, Tiles::turns_one>;
    const A a = {doutput, out, order, TapSteps(p.out)};
    const B b = {filter, in, out, static_cast<int>(p.filter_width), TapSteps(p.out)};
    with_many_tiles<Table, T>(pixels, p.in, [&]<typename Tiling>(Tiling /*tiling*/) {
      constexpr int bytes =
          shared_memory::MultipliedTile<T, Tiles::template Multiplier, Tiling, A, B>::bytes();
      constexpr auto* kernel = input_gradient_kernel<T, Tiles, Tiling, A, B>;
      static const bool is_allowed = [] {
        shared_memory::allow_shared_memory(kernel);
        return true;
      }();
      static_cast<void>(is_allowed);
      const dim3 blocks(static_cast<unsigned>(shared_memory::tile_count<Tiling>(pixels, p.in)));
      shared_memory::launch<shared_memory::Start::early, kernel>(
          "input_gradient",
          shared_memory::LaunchShape{blocks, dim3(Tiling::threads),
                                     static_cast<std::size_t>(bytes)},
          stream, in, a, b, epilogue);
    });
  };
  with_tables<T>(math, is_aligned(doutput, p.out) && is_aligned(filter, p.out), multiply);
}
//! [input_gradient]

template void input_gradient(cudaStream_t, const ConvolutionProblem&, const float*, const float*,
                             float*, Math);
template void input_gradient(cudaStream_t, const ConvolutionProblem&, const double*, const double*,
                             double*, Math);

}  // namespace stagewise::minibatch
