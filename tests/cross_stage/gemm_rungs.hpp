/// @file
/// What every rung of a GEMM ladder is put through: it computes what stage 01 computes, whatever
/// the shape. Used like primitives.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <sstream>
#include <utility>

#include "01_serial/gemm.hpp"
#include "03_shared_memory/kernels.hpp"
#include "cross_stage/cuda_array.hpp"
#include "cross_stage/gpu_test.hpp"
#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "support.hpp"

namespace stagewise {

using shared_memory::GemmRung;

struct Shape3 {
  Index m;
  Index n;
  Index k;
};

/// Sizes that lie just below and above those of tiles, and others.
inline Index random_size(Random& random, Index most) {
  constexpr std::array<Index, 20> edges = {1,  2,  3,  4,  7,  8,  15,  16,  17,  31,
                                           32, 33, 63, 64, 65, 97, 127, 128, 129, 200};
  const Index size = random.below(2) == 0 ? edges[random.below(edges.size())]
                                          : 1 + static_cast<Index>(random.below(static_cast<std::uint64_t>(most)));
  return std::min(size, most);
}

/// A block for each element of C takes long on a CPU, so these rungs get few elements.
inline Shape3 random_shape(Random& random, bool is_dot_product) {
  const Index most = is_dot_product ? 12 : 150;
  return {random_size(random, most), random_size(random, most), random_size(random, is_dot_product ? 700 : 150)};
}

template <typename T>
T random_factor(Random& random) {
  constexpr std::array factors = {0.0, 1.0, -1.0, 0.75, -2.5, 5.0};
  return static_cast<T>(factors[random.below(factors.size())]);
}

/// By how much more a result may be off if the rung rounds its input. An element of A is below 1,
/// one of B below 2, so a product is off by up to 4 roundings. The errors of k products add up like
/// random numbers, of a standard deviation of half a rounding each. And tensor cores cut off what
/// they add.
template <typename T>
T rounding_bound(const GemmRung<T>& rung, const GemmProblem<T>& p, T scale) {
  if (rung.rounding == 0) return 0;
  const auto length = static_cast<double>(p.k);
  const double rounded = 4.5 * rung.rounding * std::abs(static_cast<double>(p.alpha));
  return static_cast<T>(rounded * std::sqrt(length)) +
         static_cast<T>(length / 8) * std::numeric_limits<T>::epsilon() * scale;
}

/// The command that runs a rung on a problem of that shape.
template <typename T>
std::string command_of(const GemmRung<T>& rung, const GemmProblem<T>& p) {
  std::ostringstream text;
  text << "ladder gemm --rung " << rung.name << " --m " << p.m << " --n " << p.n << " --k " << p.k
       << (p.op_a == Transpose::yes ? " --transpose-a" : "") << (p.op_b == Transpose::yes ? " --transpose-b" : "");
  if (p.alpha != 1) text << " --alpha " << p.alpha;
  if (p.beta != 0) text << " --beta " << p.beta;
  if (std::is_same_v<T, double>) text << " --precision double";
  return text.str();
}

/// @tparam Tested has the rungs, and the tables of those with tiles; see test_stage03_gemm.cpp.
template <typename Tested>
class Rungs : public testing::Test {
 protected:
  using Scalar = typename Tested::Scalar;

  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
    workspace_ = std::make_unique<Workspace>();
  }

  /// Runs a rung on random matrices, and expects stage 01's result and nothing written beyond it.
  /// @param repeats whether to expect the same bits in another run: nothing may depend on which
  ///        block comes first.
  void check(const GemmRung<Scalar>& rung, const GemmProblem<Scalar>& shape, std::uint64_t seed, bool repeats = false) {
    check_with([&](const GemmProblem<Scalar>& p, Workspace& w) { rung.run(nullptr, p, w); }, command_of(rung, shape),
               rung, shape, seed, repeats);
  }

  /// The same for what `run` enqueues and `what` describes, a variant of the rung.
  /// @param offsets the elements before A, B and C.
  template <typename Run>
  void check_with(const Run& run, const std::string& what, const GemmRung<Scalar>& rung,
                  const GemmProblem<Scalar>& shape, std::uint64_t seed, bool repeats = false,
                  const std::array<Index, 3>& offsets = {}) {
    GemmProblem<Scalar> p = shape;
    const Index before_c = offsets[2];
    const std::vector<Scalar> a = random_values<Scalar>(offsets[0] + p.m * p.k, seed);
    const std::vector<Scalar> b = random_values<Scalar>(offsets[1] + p.k * p.n, seed + 1, -1, 2);
    std::vector<Scalar> c = p.beta == 0 ? poison<Scalar>(p.m * p.n) : random_values<Scalar>(p.m * p.n, seed + 2);
    // Nobody is to touch what comes before and behind.
    c.insert(c.begin(), static_cast<std::size_t>(before_c), Scalar{-77});
    c.push_back(Scalar{-77});
    p.a = a.data() + offsets[0];
    p.b = b.data() + offsets[1];
    const auto computed = [&] {
      CudaArray there_a(a);
      CudaArray there_b(b);
      CudaArray there_c(c);
      GemmProblem<Scalar> there = p;
      there.a = there_a.get() + offsets[0];
      there.b = there_b.get() + offsets[1];
      there.c = there_c.get() + before_c;
      run(there, *workspace_);
      return there_c.read();
    };
    const std::vector<Scalar> actual = computed();

    std::vector<Scalar> expected = c;
    p.c = expected.data() + before_c;
    serial::gemm(serial::GemmVariant::reordered, p);
    const auto without_guards = [&](const std::vector<Scalar>& values) {
      return std::vector<Scalar>(values.begin() + before_c, values.end() - 1);
    };
    Scalar scale = 0;
    for (const Scalar value : without_guards(expected)) scale = std::max(scale, std::abs(value));
    const Scalar bound = static_cast<Scalar>(8 + 2 * std::sqrt(static_cast<double>(p.k))) *
                             std::numeric_limits<Scalar>::epsilon() * scale +
                         rounding_bound(rung, p, scale);
    ASSERT_EQ(actual.back(), Scalar{-77}) << what << " writes behind C";
    ASSERT_EQ(std::count(actual.begin(), actual.begin() + before_c, Scalar{-77}), before_c)
        << what << " writes before C";
    expect_computed<Scalar>(what, without_guards(actual), without_guards(expected), {p.m, p.n, rung.tile}, bound,
                            [&] { return without_guards(computed()); });
    for (int i = 0; repeats && i < 2; ++i) EXPECT_EQ(computed(), actual) << what << " differs, again";
  }

  void expect_counters_at_zero() {
    std::vector<unsigned> counters(Workspace::counter_count, 1U);
    CUDA_CHECK(cudaMemcpy(counters.data(), workspace_->counters(), counters.size() * sizeof(unsigned),
                          cudaMemcpyDeviceToHost));
    for (const unsigned counter : counters) ASSERT_EQ(counter, 0U);
  }

 private:
  std::unique_ptr<Workspace> workspace_;
};

TYPED_TEST_SUITE_P(Rungs);

TYPED_TEST_P(Rungs, EveryRungComputesWhatStage01Computes) {
  using T = typename TypeParam::Scalar;
  for (const GemmRung<T>& rung : TypeParam::rungs()) {
    Random random(7);
    for (int i = 0; i < shapes_per_rung(); ++i) {
      const auto [m, n, k] = random_shape(random, rung.name.starts_with("dot-"));
      const GemmProblem<T> problem = {.op_a = random.below(2) == 0 ? Transpose::no : Transpose::yes,
                                      .op_b = random.below(2) == 0 ? Transpose::no : Transpose::yes,
                                      .m = m,
                                      .n = n,
                                      .k = k,
                                      .alpha = random_factor<T>(random),
                                      .beta = random_factor<T>(random)};
      if (!rung.supports(problem)) continue;
      this->check(rung, problem, 100 + static_cast<std::uint64_t>(i));
      if (this->HasFatalFailure()) return;
    }
  }
  this->expect_counters_at_zero();
}

/// Empty matrices, a k of 0, more rows of blocks than a grid has, and few tiles with a long k;
/// three times.
TYPED_TEST_P(Rungs, EveryRungTakesUnusualShapes) {
  using T = typename TypeParam::Scalar;
  const std::vector<Shape3> shapes = {{0, 3, 2},    {3, 0, 2},    {3, 4, 0},    {1, 1, 1},    {1, 1, 3000},
                                      {2, 3, 5001}, {1100, 1, 2}, {1, 1100, 2}, {35, 23, 801}};
  for (const GemmRung<T>& rung : TypeParam::rungs()) {
    for (const auto [m, n, k] : shapes) {
      for (const T beta : {T{0}, T{2}}) {
        const GemmProblem<T> problem = {.m = m, .n = n, .k = k, .alpha = T{3}, .beta = beta};
        if (!rung.supports(problem)) continue;
        this->check(rung, problem, 5, true);
        if (this->HasFatalFailure()) return;
      }
    }
  }
  this->expect_counters_at_zero();
}

/// The rungs that have tiles to pick from, and can be used here.
template <typename Tested>
auto rungs_with_tiles() {
  using T = typename Tested::Scalar;
  std::vector<const GemmRung<T>*> rungs;
  for (const GemmRung<T>& rung : Tested::rungs()) {
    if (!Tested::tiles(rung.name).info.empty() && rung.supports({})) {
      rungs.push_back(&rung);
    }
  }
  return rungs;
}

/// 32 or 64 rows a tile, and 65,535 tiles in a grid's y.
TYPED_TEST_P(Rungs, TakesMoreRowsThanAGridHas) {
  using T = typename TypeParam::Scalar;
  if (TypeParam::tall().empty()) GTEST_SKIP() << "takes long on a CPU";
  for (const auto& [name, m] : TypeParam::tall()) {
    const GemmRung<T>& rung = find_rung(TypeParam::rungs(), name);
    const GemmProblem<T> problem = {.m = m, .n = 1, .k = 2, .alpha = 1};
    if (rung.supports(problem)) this->check(rung, problem, 9);
    if (this->HasFatalFailure()) return;
  }
}

/// Each tile of the top rungs, whichever they would pick: alone and shared by several blocks, at
/// sizes around those of the tile, with vectors and with single numbers.
TYPED_TEST_P(Rungs, EveryTileComputesWhatStage01Computes) {
  using T = typename TypeParam::Scalar;
  const auto check_tile = [&](const GemmRung<T>& rung, std::size_t index) {
    const auto tiles = TypeParam::tiles(rung.name);
    const shared_memory::TileInfo& tile = tiles.info[index];
    std::vector<Shape3> shapes = {
        {tile.BM + 4, tile.BN - 4, Index{6} * tile.BK},   // vectors
        {2 * tile.BM - 4, tile.BN + 8, 3 * tile.BK - 4},  // ... and a k that ends within a k tile
        {tile.BM - 1, 2 * tile.BN + 1, 5 * tile.BK + 3},  // single numbers
        {tile.BM, 3, 1}};
    if (tile.BM * tile.BN <= 1024) {  // blocks that are added up in groups
      shapes.push_back({tile.BM, tile.BN, 70 * tile.BK + 4});
      EXPECT_GT(max_split_k(tile, tile.BM, tile.BN, shapes.back().k), 32);
    }
    Random random(11);
    for (const auto [m, n, k] : shapes) {
      const int most = max_split_k(tile, m, n, k);
      for (const int split_k : std::set<int>{1, std::min(2, most), most}) {
        for (int transposes = 0; transposes < 4; ++transposes) {
          if (split_k > 1 && transposes != split_k % 4) continue;  // sums do not know them
          const GemmProblem<T> problem = {.op_a = transposes % 2 == 0 ? Transpose::no : Transpose::yes,
                                          .op_b = transposes / 2 == 0 ? Transpose::no : Transpose::yes,
                                          .m = m,
                                          .n = n,
                                          .k = k,
                                          .alpha = random_factor<T>(random),
                                          .beta = random_factor<T>(random)};
          if (!tile.takes(shared_memory::copies_vectors(problem))) continue;
          this->check_with([&](const GemmProblem<T>& p, Workspace& w) { tiles.run(nullptr, p, index, split_k, w); },
                           command_of(rung, problem) + ", tile " + std::to_string(tile.BM) + "x" +
                               std::to_string(tile.BN) + ", split-k " + std::to_string(split_k),
                           rung, problem, 13, split_k == most);
          if (this->HasFatalFailure()) return;
        }
      }
    }
  };
  if (rungs_with_tiles<TypeParam>().empty())
    GTEST_SKIP() << "no rung here has tiles, or asynchronous copies are not supported";
  for (const GemmRung<T>* const rung : rungs_with_tiles<TypeParam>()) {
    const auto tiles = TypeParam::tiles(rung->name).info;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      if (shared_memory::fits_block(tiles[i])) check_tile(*rung, i);
      if (this->HasFatalFailure()) return;
    }
  }
  this->expect_counters_at_zero();
}

/// At the limit of a workspace's sums and counters, and beyond.
TYPED_TEST_P(Rungs, TilesHaveAsManyBlocksAsTheWorkspaceHasRoomFor) {
  using T = typename TypeParam::Scalar;
  if (rungs_with_tiles<TypeParam>().empty())
    GTEST_SKIP() << "no rung here has tiles, or asynchronous copies are not supported";
  const GemmRung<T>& rung = *rungs_with_tiles<TypeParam>().front();
  const auto tiles = TypeParam::tiles(rung.name);
  const auto largest = std::max_element(tiles.info.begin(), tiles.info.end(), [](const auto& one, const auto& other) {
    return one.BM * one.BN < other.BM * other.BN;
  });
  const shared_memory::TileInfo& tile = *largest;
  const auto index = static_cast<std::size_t>(largest - tiles.info.begin());
  const GemmProblem<T> problem = {.m = tile.BM, .n = tile.BN - 4, .k = 3 * tile.BK, .alpha = 1};
  const auto most = static_cast<int>(shared_memory::split_k_room(Index{tile.BM} * tile.BN * tile.scalar_bytes));
  ASSERT_LE(Index{most} * tile.BM * tile.BN, Workspace::capacity<T>());
  ASSERT_GT(Index{most + 1} * tile.BM * tile.BN, Workspace::capacity<T>());
  const auto check_split_k = [&](int split_k) {
    this->check_with([&](const GemmProblem<T>& p, Workspace& w) { tiles.run(nullptr, p, index, split_k, w); },
                     "split-k " + std::to_string(split_k), rung, problem, 13);
  };
  check_split_k(most);
  this->expect_counters_at_zero();
  EXPECT_THROW(check_split_k(most + 1), Error);
  for (const auto& any : tiles.info) {
    const Index room = shared_memory::split_k_room(any.BM * any.BN * any.scalar_bytes);
    for (const Index count : {Index{1}, room / 33, room / 2}) {
      const auto split_k = static_cast<int>(room / count);
      EXPECT_LE(count * (1 + shared_memory::split_k_groups(split_k)), Workspace::counter_count);
    }
  }
}

/// Matrices that begin anywhere: a row may be a multiple of 16 bytes long and not begin at one.
TYPED_TEST_P(Rungs, EveryRungTakesMatricesThatBeginAnywhere) {
  using T = typename TypeParam::Scalar;
  const GemmProblem<T> problem = {.m = 36, .n = 68, .k = 40, .alpha = 2, .beta = -1};
  for (const GemmRung<T>& rung : TypeParam::rungs()) {
    if (rung.name.starts_with("dot-") || !rung.supports({})) continue;  // no vectors, and slow
    for (const Index offset : {1, 2, 3}) {
      for (std::size_t which = 0; which < 3; ++which) {
        std::array<Index, 3> offsets = {};
        offsets[which] = offset;
        this->check_with([&](const GemmProblem<T>& p, Workspace& workspace) { rung.run(nullptr, p, workspace); },
                         command_of(rung, problem) + ", operand " + std::to_string(which) + " from element " +
                             std::to_string(offset) + " on,",
                         rung, problem, 1, false, offsets);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(Rungs, EveryRungComputesWhatStage01Computes, EveryRungTakesUnusualShapes,
                            TakesMoreRowsThanAGridHas, EveryTileComputesWhatStage01Computes,
                            TilesHaveAsManyBlocksAsTheWorkspaceHasRoomFor, EveryRungTakesMatricesThatBeginAnywhere);

/// "float" and "double".
struct NamesOfRungs {
  template <typename Tested>
  static std::string GetName(int index) {  // NOLINT(*-naming): GoogleTest wants this name
    return PrecisionNames::GetName<typename Tested::Scalar>(index);
  }
};

}  // namespace stagewise
