/// @file
/// The main loop on tensor cores: C = A B in double.
///
/// Around the multiplication, nothing changes: loaders say where an element is (loader.cuh),
/// asynchronous copies fill a pipeline of k tiles, and an epilogue stores (epilogue.cuh). What is
/// new is who computes what. A warp's tile of WM x WN consists of products of 16 x 4 by 4 x 8, for
/// which a lane loads single elements, one of every 4 x 8.
///
/// An instruction does 512 multiply-adds, so everything else must be rare. Copies have no branches
/// and are placed between the multiplications, a few at a time. The fragments of the next step are
/// loaded while this one is multiplied. And if C has too few tiles for all warps, the warps of a
/// block share its k tiles (**slices of k**): each adds up some of the steps, and at the end their
/// sums are added up.
#pragma once

#include <utility>

#include "03_shared_memory/gemm/copy_async.cuh"
#include "03_shared_memory/gemm/epilogue.cuh"
#include "03_shared_memory/gemm/mma.cuh"
#include "03_shared_memory/gemm/threads_part.cuh"
#include "03_shared_memory/gemm/tiling.cuh"

namespace stagewise::shared_memory {

/// A block's tile of C, and who computes which part of it.
/// @tparam slices_ how many groups of warps share the steps of a k tile.
/// @tparam stages_ how many k tiles of a factor are in shared memory.
template <int BM_, int BN_, int BK_, int WM_, int WN_, int slices_, int stages_>
struct MmaTiling {
  static constexpr int BM = BM_;
  static constexpr int BN = BN_;
  static constexpr int BK = BK_;
  static constexpr int WM = WM_;
  static constexpr int WN = WN_;
  static constexpr int slices = slices_;
  static constexpr int stages = stages_;
  static constexpr int warps_across = BN / WN;
  static constexpr int warps = BM / WM * warps_across;  ///< per slice
  static constexpr int threads = 32 * warps * slices;
  static constexpr int down = WM / 16;             ///< products of a warp, vertically
  static constexpr int across = WN / 8;            ///< and horizontally
  static constexpr int steps = BK / (8 * slices);  ///< groups of 8 steps along k, per slice

  static_assert(BM % WM == 0 && BN % WN == 0 && WM % 16 == 0 && WN % 8 == 0);
  static_assert(BK % (8 * slices) == 0 && stages >= 2);
};

//! [mma_tile]
/// A k tile that lanes read without bank conflicts: 16 lanes at a time read 4 steps of 4 places. If
/// memory runs along k, the 16 numbers of a place are stored together, and their vectors are
/// permuted by exclusive or (a swizzle); otherwise the places of a step are stored together, with a
/// padding of 4 doubles before those of the next step.
template <int extent, int BK, bool keeps_rows_>
struct MmaTile {
  static constexpr bool keeps_rows = keeps_rows_;
  static constexpr int row_length = keeps_rows ? BK : extent + 4;
  static constexpr int elements = (keeps_rows ? extent : BK) * row_length;
  static_assert(extent % 8 == 0 && (!keeps_rows || BK % 16 == 0), "vectors would leave their row");

  /// The buffer's element for a place and a step.
  static __device__ int index(int place, int step) {
    if constexpr (keeps_rows) {
      return place * BK + ((step / 2) ^ (2 * (place % 4))) * 2 + step % 2;
    } else {
      return step * row_length + place;
    }
  }
};
//! [mma_tile]

/// Whether a loader should recompute where a row begins for each copy.
template <typename Loader>
concept ComputesRows = requires {
  Loader::computes_rows;
};

//! [mma_copies]
/// This thread's copies of one factor.
template <typename Loader, int extent_, int BK_, int threads>
class MmaCopies {
 public:
  using Tile = MmaTile<extent_, BK_, runs_along_in_vectors<Loader>()>;
  static constexpr int count = (extent_ * BK_ / Loader::length + threads - 1) / threads;

  /// Begins a tile at row or column `first`.
  __device__ void start(const Loader& loader, int first) {
    first_ = first;
    if constexpr (!ComputesRows<Loader>) {
#pragma unroll
      for (int i = 0; i < count; ++i) {
        if (is_mine(i)) rows_[i] = loader.row(first + place(loader, i).place);
      }
    }
    look_up(loader, 0);
  }

  /// Requests copy number `i` of the k tile that begins at `step`.
  __device__ void copy(double* buffer, const Loader& loader, int i, int step) {
    if (!is_mine(i)) return;
    const auto [place, s] = this->place(loader, i);
    const Element<double> from = element(loader, row(loader, i, place), i, step + s);
    copy_async<Loader::length * sizeof(double)>(buffer + Tile::index(place, s), from.address,
                                                from.is_inside);
  }

  /// Looks up the addresses of the next k tile's steps, if the loader has to.
  __device__ void look_up(const Loader& loader, int step) {
    if constexpr (LooksUp<Loader>) {
#pragma unroll
      for (int i = 0; i < count; ++i) {
        if (is_mine(i)) steps_[i] = loader.step(step + place(loader, i).step);
      }
    }
  }

 private:
  struct Shape {
    static constexpr int extent = extent_;
    static constexpr int BK = BK_;
  };

  /// All rounds except the last occupy all threads.
  static __device__ bool is_mine(int i) {
    constexpr int all = extent_ * BK_ / Loader::length;
    return (i + 1) * threads <= all || static_cast<int>(threadIdx.x) + i * threads < all;
  }

  __device__ KTilePlace place(const Loader& loader, int i) const {
    return k_tile_place<Shape, threads, Loader::length>(i, loader.memory_runs_along());
  }

  __device__ typename Loader::Row row(const Loader& loader, int i, int place) const {
    if constexpr (ComputesRows<Loader>) {
      return loader.row(first_ + place);
    } else {
      return rows_[i];
    }
  }

  __device__ Element<double> element(const Loader& loader, const typename Loader::Row& row, int i,
                                     int step) const {
    if constexpr (LooksUp<Loader>) {
      return loader.at(row, step, steps_[i]);
    } else {
      return loader.at(row, step);
    }
  }

  int first_;
  typename Loader::Row rows_[count];
  StepOf<Loader> steps_[count];
};
//! [mma_copies]

/// A block's work on a tile of C.
template <typename Tiling, typename LoaderA, typename LoaderB>
class MmaLoop {
 public:
  static constexpr int bytes() {
    constexpr int pipeline = Tiling::stages * (TileA::elements + TileB::elements);
    constexpr int others = (Tiling::slices - 1) * Tiling::warps * 32 * Tiling::WM * Tiling::WN / 32;
    return static_cast<int>(sizeof(double)) * (pipeline > others ? pipeline : others);
  }

  __device__ MmaLoop(double* shared, const LoaderA& a, const LoaderB& b, TilePlace tile,
                     int k_tiles)
      : shared_(shared), loader_a_(a), loader_b_(b), tile_(tile), k_tiles_(k_tiles) {
    copies_a_.start(a, tile.top);
    copies_b_.start(b, tile.left);
  }

  //! [mma_loop]
  /// Adds up all k tiles.
  __device__ void multiply() {
#pragma unroll
    for (int stage = 0; stage + 1 < Tiling::stages; ++stage) {
      copy_between<0, 1>();
      end_of_copies();
    }
    begin_k_tile();
    load_a<0>(0);
    load_b<0>(0);
    // Two at a time if the number of their steps is odd: which of two registers a fragment is in
    // must be known when the loop is compiled.
    constexpr int unrolled = 1 + Tiling::steps % 2;
    for (int k_tile = 0; k_tile < k_tiles_; k_tile += unrolled) {
      multiply_k_tile<0>();
      if constexpr (unrolled == 2) {
        if (k_tile + 1 < k_tiles_) multiply_k_tile<1>();
      }
    }
    __pipeline_wait_prior(0);
  }
  //! [mma_loop]

  /// Adds up the slices; each slice then has a part of the results.
  __device__ void add_slices() {
    if constexpr (Tiling::slices > 1) {
      const int place = static_cast<int>(threadIdx.x) % (32 * Tiling::warps);
      __syncthreads();
#pragma unroll
      for (int i = 0; i < products; ++i) {
        if (owner_of(i) == slice()) continue;
#pragma unroll
        for (int v = 0; v < 4; ++v) partial(i, v, slice(), place) = sums_[i][v];
      }
      __syncthreads();
#pragma unroll
      for (int i = 0; i < products; ++i) {
        if (owner_of(i) != slice()) continue;
#pragma unroll
        for (int other = 1; other < Tiling::slices; ++other) {
#pragma unroll
          for (int v = 0; v < 4; ++v) {
            sums_[i][v] += partial(i, v, (slice() + other) % Tiling::slices, place);
          }
        }
      }
    }
  }

  /// Passes the sums to the epilogue, and stores the results.
  template <typename Epilogue>
  __device__ void finish(const Epilogue& epilogue, int m, int n) const {
#pragma unroll
    for (int i = 0; i < products; ++i) {
      if (owner_of(i) != slice()) continue;
      const int column = tile_.left + warp_column() + i % Tiling::across * 8 + t() * 2;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = tile_.top + warp_row() + i / Tiling::across * 16 + half * 8 + g();
        if (row >= m || column >= n) continue;
        double* const out = epilogue.row(row) + column;
        const double first = epilogue(row, column, sums_[i][2 * half]);
        if (epilogue.vectors) {
          const double second = epilogue(row, column + 1, sums_[i][2 * half + 1]);
          *reinterpret_cast<Vector<double>*>(out) = {first, second};
        } else {
          out[0] = first;
          if (column + 1 < n) out[1] = epilogue(row, column + 1, sums_[i][2 * half + 1]);
        }
      }
    }
  }

 private:
  using CopiesA = MmaCopies<LoaderA, Tiling::BM, Tiling::BK, Tiling::threads>;
  using CopiesB = MmaCopies<LoaderB, Tiling::BN, Tiling::BK, Tiling::threads>;
  using TileA = typename CopiesA::Tile;
  using TileB = typename CopiesB::Tile;
  static constexpr int products = Tiling::down * Tiling::across;
  static constexpr int copies = CopiesA::count + CopiesB::count;

  static __device__ int lane() {
    return static_cast<int>(threadIdx.x) % 32;
  }
  static __device__ int g() {
    return lane() / 4;
  }
  static __device__ int t() {
    return lane() % 4;
  }
  static __device__ int warp() {
    return static_cast<int>(threadIdx.x) / 32 % Tiling::warps;
  }
  static __device__ int slice() {
    return static_cast<int>(threadIdx.x) / 32 / Tiling::warps;
  }
  static __device__ int warp_row() {
    return warp() / Tiling::warps_across * Tiling::WM;
  }
  static __device__ int warp_column() {
    return warp() % Tiling::warps_across * Tiling::WN;
  }

  /// Which slice finishes a product.
  static __device__ constexpr int owner_of(int product) {
    return product * Tiling::slices / products;
  }

  __device__ double* buffer_a(int stage) const {
    return shared_ + stage * TileA::elements;
  }
  __device__ double* buffer_b(int stage) const {
    return shared_ + Tiling::stages * TileA::elements + stage * TileB::elements;
  }

  /// Where a slice stores a sum for another one.
  __device__ double& partial(int product, int v, int from, int place) const {
    const int room = from > owner_of(product) ? from - 1 : from;  // the owner stores none
    return shared_[((room * products + product) * 4 + v) * 32 * Tiling::warps + place];
  }

  /// Requests the copies that are placed before multiplication number `which` of `of`.
  template <int which, int of>
  __device__ void copy_between() {
    const int step = next_ < k_tiles_ ? next_ * Tiling::BK : beyond;
#pragma unroll
    for (int i = 0; i < copies; ++i) {
      if (i * of / copies != which) continue;
      if (i < CopiesA::count) {
        copies_a_.copy(buffer_a(filled_), loader_a_, i, step);
      } else {
        copies_b_.copy(buffer_b(filled_), loader_b_, i - CopiesA::count, step);
      }
    }
  }

  /// Groups the copies requested so far; moves on to the next k tile and buffer.
  __device__ void end_of_copies() {
    __pipeline_commit();
    ++next_;
    filled_ = filled_ + 1 < Tiling::stages ? filled_ + 1 : 0;
    copies_a_.look_up(loader_a_, next_ * Tiling::BK);
    copies_b_.look_up(loader_b_, next_ * Tiling::BK);
  }

  /// Waits until the next k tile is complete, for all threads.
  __device__ void begin_k_tile() {
    __pipeline_wait_prior(Tiling::stages - 2);
    __syncthreads();
  }

  /// Loads this lane's elements of A for 8 steps, into one of two sets of registers.
  template <int set>
  __device__ void load_a(int group) {
    const double* const from = buffer_a(read_);
    const int first = (slice() * Tiling::steps + group) * 8;
#pragma unroll
    for (int i = 0; i < Tiling::down; ++i) {
#pragma unroll
      for (int half = 0; half < 4; ++half) {
        const int row = warp_row() + i * 16 + half % 2 * 8 + g();
        a_[set][i][half] = from[TileA::index(row, first + half / 2 * 4 + t())];
      }
    }
  }

  /// Likewise for B, for 4 steps.
  template <int set>
  __device__ void load_b(int group) {
    const double* const from = buffer_b(read_);
    const int step = (slice() * Tiling::steps + group) * 8 + set * 4 + t();
#pragma unroll
    for (int j = 0; j < Tiling::across; ++j) {
      b_[set][j] = from[TileB::index(warp_column() + j * 8 + g(), step)];
    }
  }

  /// Multiplies 4 steps, and requests copies in between.
  template <int set_a, int half, int group>
  __device__ void multiply_steps() {
    constexpr int all = (2 * Tiling::steps - 1) * products;  // the last ones come after the barrier
    each<products>([&]<int i>() {
      constexpr int number = (2 * group + half) * products + i;
      if constexpr (number < all) copy_between<number, all>();
      constexpr int down = i / Tiling::across;
      mma_16x8x4(sums_[i], a_[set_a][down][2 * half], a_[set_a][down][2 * half + 1],
                 b_[half][i % Tiling::across]);
    });
  }

  template <int count, typename Work>
  static __device__ void each(const Work& work) {
    [&]<int... i>(std::integer_sequence<int, i...>) {
      (work.template operator()<i>(), ...);
    }
    (std::make_integer_sequence<int, count>());
  }

  //! [mma_k_tile]
  /// Multiplies a k tile. Its first fragments must be loaded; at the end, those of the next are.
  template <int first_set>
  __device__ void multiply_k_tile() {
    each<Tiling::steps>([&]<int group>() {
      constexpr int set = (first_set + group) % 2;
      load_b<1>(group);
      multiply_steps<set, 0, group>();
      if constexpr (group + 1 < Tiling::steps) {
        load_a<1 - set>(group + 1);
        load_b<0>(group + 1);
      } else {
        end_of_copies();
        read_ = read_ + 1 < Tiling::stages ? read_ + 1 : 0;
        begin_k_tile();
        load_a<1 - set>(0);
        load_b<0>(0);
      }
      multiply_steps<set, 1, group>();
    });
  }
  //! [mma_k_tile]

  double* shared_;
  const LoaderA& loader_a_;
  const LoaderB& loader_b_;
  TilePlace tile_;
  int k_tiles_;
  int next_ = 0;    ///< the k tile to copy
  int filled_ = 0;  ///< the buffer to which it is copied
  int read_ = 0;    ///< the buffer that is multiplied
  CopiesA copies_a_;
  CopiesB copies_b_;
  double a_[2][Tiling::down][4];
  double b_[2][Tiling::across];
  double sums_[products][4] = {};
};

}  // namespace stagewise::shared_memory
