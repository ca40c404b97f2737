/// @file
/// The loop: a block multiplies a tile, k tile by k tile, and a launch multiplies matrices.
///
/// The kernel starts early (dependent_launch.cuh): its blocks are there while the kernel before
/// still runs, and if A does not come from that kernel, they already copy the first of it.
#pragma once

#include <algorithm>
#include <utility>

#include <cuda_pipeline_primitives.h>

#include "03_shared_memory/dependent_launch.cuh"
#include "03_shared_memory/tiles/finish.cuh"

namespace stagewise::shared_memory {

/// Calls `work` with the template argument i, for i = 0, ..., count - 1.
template <int count, typename Work>
__device__ __forceinline__ void for_each(const Work& work) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (work.template operator()<i>(), ...);
  }
  (std::make_integer_sequence<int, count>());
}

/// A ring of buffers for each factor. While one k tile is multiplied, the others are being
/// filled.
template <TileConfig Tile, Matrix MatrixA, Matrix MatrixB>
class Pipeline {
 public:
  using T = typename MatrixA::Scalar;
  using CopiesA = typename MatrixA::template Copies<Tile::BM, Tile::BK, Tile::threads>;
  using CopiesB = typename MatrixB::template Copies<Tile::BN, Tile::BK, Tile::threads>;
  static_assert(MatrixCopies<CopiesA, MatrixA> && MatrixCopies<CopiesB, MatrixB>);
  using TileA = typename CopiesA::Tile;
  using TileB = typename CopiesB::Tile;
  static constexpr int elements = Tile::buffers * (TileA::elements + TileB::elements);

 private:
  /// Where buffer number `i` of a factor begins.
  __device__ T* buffer_a(int i) const { return shared_ + i * TileA::elements; }
  /// See above.
  __device__ T* buffer_b(int i) const {
    return shared_ + Tile::buffers * TileA::elements + i * TileB::elements;
  }

 public:
  /// For steps `begin` to `end` - 1 of a tile of C; `begin` is a multiple of BK.
  /// @param shared room for `elements` scalars.
  __device__ Pipeline(T* shared, const MatrixA& a, const MatrixB& b, TilePosition tile, int begin,
                      int end)
      : shared_(shared), matrix_a_(a), matrix_b_(b), steps_(end - begin) {
    copies_a_.start(a, tile.top, begin);
    copies_b_.start(b, tile.left, begin);
  }

  /// Whether the k tile that is multiplied is one of this tile's.
  __device__ bool has_k_tile() const { return steps_ > -(Tile::buffers - 1) * Tile::BK; }

  /// The k tile that is multiplied.
  __device__ const T* a() const { return buffer_a(read_); }
  __device__ const T* b() const { return buffer_b(read_); }

  /// Leaves nothing in flight.
  __device__ void drain() { __pipeline_wait_prior(0); }

  /// Requests as many k tiles as can be in flight, and waits for the first. A kernel may be there
  /// before the one that computes B has ended, or have something else to do while the first copies
  /// are under way.
  /// @param wait_for_b is called after A's copies and before B's, `prologue` after both.
  template <typename Wait, typename Prologue>
  __device__ void fill(const Wait& wait_for_b, const Prologue& prologue) {
#pragma unroll
    for (int i = 0; i + 1 < Tile::buffers; ++i) {
      copy_all(copies_a_, buffer_a(i), matrix_a_, steps_ - i * Tile::BK);
    }
    wait_for_b();
#pragma unroll
    for (int i = 0; i + 1 < Tile::buffers; ++i) {
      copy_all(copies_b_, buffer_b(i), matrix_b_, steps_ - i * Tile::BK);
      __pipeline_commit();
    }
    steps_ -= (Tile::buffers - 1) * Tile::BK;
    filled_ = Tile::buffers - 1;
    prologue();
    wait();
  }

  /// Requests those copies of the next k tile whose turn it is at time `which` of `of`. Past the
  /// end, zeros are copied.
  ///
  /// Copies come two or three at a time, and more if there are too few times: before one that does
  /// not follow another, the compiler inserts three instructions that do nothing.
  template <int of, int which>
  __device__ __forceinline__ void copy() {
    constexpr int copies = CopiesA::count + CopiesB::count;
    constexpr int groups = std::min(of, (copies + 2) / 3);
    constexpr int group = (which * groups + of - 1) / of;  // the first that is not before its turn
    if constexpr (group < groups && group * of / groups == which) {
      constexpr int first = group * copies / groups;
      constexpr int last = (group + 1) * copies / groups;
      for_copies<first, last>([&](int i) {
        if (i < CopiesA::count) {
          copies_a_.copy(buffer_a(filled_), matrix_a_, i, steps_);
        } else {
          copies_b_.copy(buffer_b(filled_), matrix_b_, i - CopiesA::count, steps_);
        }
      });
    }
  }

  /// After all copies of a k tile and all reads of another: moves on to the next of each, and waits
  /// for it. The next to be copied goes where nobody reads any more.
  __device__ void advance() {
    __pipeline_commit();
    steps_ -= Tile::BK;
    filled_ = read_;
    copies_a_.advance(matrix_a_);
    copies_b_.advance(matrix_b_);
    read_ = read_ + 1 < Tile::buffers ? read_ + 1 : 0;
    wait();
  }

 private:
  /// Calls work(i) for some copies. The compiler must know them, or it puts the copies'
  /// pointers into local memory. It does not always unroll the loop for doubles; for floats it
  /// does, and needs fewer registers than for a list of calls.
  template <int first, int last, typename Work>
  static __device__ __forceinline__ void for_copies(const Work& work) {
    if constexpr (sizeof(T) == sizeof(double)) {
      for_each<last - first>([&]<int i>() { work(first + i); });
    } else {
#pragma unroll
      for (int i = first; i < last; ++i) work(i);
    }
  }

  /// Requests all copies of a k tile, and moves on to the next.
  template <typename Copies, typename Matrix>
  static __device__ void copy_all(Copies& copies, T* buffer, const Matrix& matrix, int steps) {
    for_copies<0, Copies::count>([&](int i) { copies.copy(buffer, matrix, i, steps); });
    copies.advance(matrix);
  }

  /// Waits until the oldest k tile is complete, for all threads.
  __device__ void wait() {
    __pipeline_wait_prior(Tile::buffers - 2);
    __syncthreads();
  }

  T* shared_;
  const MatrixA& matrix_a_;
  const MatrixB& matrix_b_;
  int steps_;       ///< from the k tile to copy on; negative past the end
  int filled_ = 0;  ///< the buffer to which it is copied
  int read_ = 0;    ///< the buffer that is multiplied
  CopiesA copies_a_;
  CopiesB copies_b_;
};

/// What a kernel's blocks do while their first copies are under way: nothing.
struct NoPrologue {
  /// All threads of block number `block` of `blocks` call it.
  template <int threads>
  __device__ void run(int /*block*/, int /*blocks*/) const {}
};

//! [multiply_k_tile]
/// Multiplies a k tile, whose first fragments must be loaded; at the end, those of the next are.
/// The copies of another are requested between the multiplications, a few at a time.
template <typename M, typename Buffers>
__device__ __forceinline__ void multiply_k_tile(M& mma, Buffers& pipeline) {
  constexpr int rounds = M::rounds;
  static_assert(rounds % 2 == 0, "each k tile must begin with the same registers");
  for_each<rounds>([&]<int i>() {
    if constexpr (i + 1 == rounds) pipeline.advance();
    mma.load(i + 1, pipeline.a(), pipeline.b());
    if constexpr (i + 1 < rounds) pipeline.template copy<rounds - 1, i>();
    mma.multiply(i);
  });
}
//! [multiply_k_tile]

//! [tile_kernel]
/// @param k how many steps there are, or at most.
/// @param a_is_independent whether A does not depend on the kernel before.
/// @param prologue see NoPrologue.
template <TileConfig Tile, Matrix MatrixA, Matrix MatrixB, Epilogue E, Prologue P>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks)
    tile_kernel(int m, int n, int k, MatrixA a, MatrixB b, bool a_is_independent, E epilogue,
                P prologue, SplitK<typename MatrixA::Scalar> split) {
  using T = typename MatrixA::Scalar;
  using Buffers = Pipeline<Tile, MatrixA, MatrixB>;
  // At a multiple of the banks' 128 bytes, even if other variables come before: otherwise, copies
  // that would write one row of the banks write two.
  extern __shared__ __align__(128) unsigned char memory[];
  T* const shared = reinterpret_cast<T*>(memory);
  const auto tile = static_cast<int>(blockIdx.x);
  const auto part = static_cast<int>(blockIdx.y);  // of k
  const TilePosition position = TileOrder<Tile>{m, n}.at(tile);
  if constexpr (requires { a.choose_steps(0, 0, b); }) {  // each tile has steps of its own
    k = a.choose_steps(position.top, position.top + Tile::BM - 1, b);
  }
  const int begin = split.begin(part) * Tile::BK;
  const int end = split.begin(part + 1) * Tile::BK;

  typename Tile::template Mma<typename Buffers::TileA, typename Buffers::TileB> mma;
  static_assert(Mma<decltype(mma), T>);
  if (!a_is_independent) wait_and_let_next_start();
  Buffers pipeline(shared, a, b, position, begin, end < k ? end : k);
  pipeline.fill(
      [&] {
        if (a_is_independent) wait_and_let_next_start();
      },
      [&] {
        prologue.template run<Tile::threads>(static_cast<int>(part * gridDim.x) + tile,
                                             static_cast<int>(gridDim.y * gridDim.x));
      });
  mma.load(0, pipeline.a(), pipeline.b());
  while (pipeline.has_k_tile()) multiply_k_tile(mma, pipeline);
  pipeline.drain();
  Finish<T, Tile, decltype(mma)>(shared, position, mma, split).run(epilogue, m, n);
}
//! [tile_kernel]

/// C = epilogue(op(A) op(B)) in tiles of one kind.
/// @param split_k how many blocks share a tile.
/// @param a_is_independent,prologue see tile_kernel().
/// @throws Error if the workspace has too little room.
template <TileConfig Tile, Matrix MatrixA, Matrix MatrixB, Epilogue E, Prologue P = NoPrologue>
void launch_tiles(cudaStream_t stream, const ProductSize& size, const MatrixA& a, const MatrixB& b,
                  const E& epilogue, int split_k, Workspace& workspace,
                  bool a_is_independent = false, const P& prologue = {}) {
  using T = typename MatrixA::Scalar;
  constexpr int sums = Tile::slice_k > 1 ? Tile::slice_k * Tile::BM * Tile::BN : 0;
  constexpr int elements = std::max(Pipeline<Tile, MatrixA, MatrixB>::elements, sums);
  constexpr auto* kernel = tile_kernel<Tile, MatrixA, MatrixB, E, P>;
  static const Index static_bytes = allow_shared_memory(kernel);
  const auto m = static_cast<int>(size.m);
  const auto n = static_cast<int>(size.n);
  const Index tiles = TileOrder<Tile>{m, n}.count();
  const int bytes = bytes_to_spread(static_bytes, tiles * split_k, elements * sizeof(T));
  const dim3 blocks(static_cast<unsigned>(tiles), static_cast<unsigned>(split_k));
  launch<Start::early, kernel>(
      "product in tiles", {blocks, dim3(Tile::threads), static_cast<std::size_t>(bytes)}, stream, m,
      n, static_cast<int>(size.k), a, b, a_is_independent, epilogue, prologue,
      split_tiles<Tile, T>(tiles, size.k, split_k, workspace));
}

}  // namespace stagewise::shared_memory
