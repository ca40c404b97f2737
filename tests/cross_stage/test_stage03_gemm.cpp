/// @file
/// Every rung of stage 03's GEMM ladder computes what stage 01 computes.

#include "cross_stage/gemm_rungs.hpp"

namespace stagewise {
namespace {

template <typename T>
struct Stage03Rungs {
  using Scalar = T;
  static auto rungs() { return shared_memory::gemm_ladder<T>(); }
  static auto tiles(std::string_view rung) { return shared_memory::gemm_tiles<T>(rung); }
  /// Those that count tiles along a grid's y, and too many rows for that.
  static std::vector<std::pair<const char*, Index>> tall() {
    if (cuda::runs_on_cpu()) return {};  // where it takes long
    return {{"vector-loads", 4'200'000},
            {"double-buffering", 4'200'000},
            {"warp-tiles", 4'200'000},
            {"async-copies", 4'200'000},
            {std::is_same_v<T, double> ? "tensor-cores" : "fitted-tiles", 2'100'000}};
  }
};

using Stage03Types = testing::Types<Stage03Rungs<float>, Stage03Rungs<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(GemmLadder, Rungs, Stage03Types, NamesOfRungs);

/// What rounds is never picked.
TEST(GemmPrecisions, NoneThatRoundsIsPicked) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    const auto size = [&] { return 1 + static_cast<Index>(random.below(5000)); };
    const GemmProblem<float> problem = {.m = size(), .n = size(), .k = size()};
    EXPECT_EQ(shared_memory::pick_gemm(problem).rounding, 0);
  }
}

/// A choice never asks for more blocks than have k tiles, room and counters.
TEST(GemmTiles, ChoicesStayWithinTheirLimits) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  const auto tiles = shared_memory::gemm_tiles<double>("tensor-cores").info;
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    const auto size = [&](std::uint64_t most) { return 1 + static_cast<Index>(random.below(most)); };
    const Index m = size(i % 2 == 0 ? 300 : 2'000'000);
    const Index n = size(i % 3 == 0 ? 300 : 3000);
    const Index k = size(i % 5 == 0 ? 100'000 : 1000);
    const bool vectors = random.below(2) == 0;
    const shared_memory::TileChoice choice = choose_tile(tiles, m, n, k, vectors);
    ASSERT_LT(choice.tile, tiles.size());
    EXPECT_TRUE(std::isfinite(choice.cycles));
    const auto& tile = tiles[choice.tile];
    EXPECT_TRUE(tile.takes(vectors));
    const Index count = ((m - 1) / tile.BM + 1) * ((n - 1) / tile.BN + 1);
    ASSERT_GE(choice.split_k, 1);
    if (choice.split_k == 1) continue;
    EXPECT_LE(choice.split_k, (k - 1) / tile.BK + 1);
    EXPECT_LE(count, Workspace::counter_count);
    EXPECT_LE(count * choice.split_k * tile.BM * tile.BN, Workspace::capacity<double>());
  }
}

/// Sizes alone: nobody has the memory for these products.
TEST(GemmRungs, ThoseThatCountInIntsRefuseWhatTheyCannotCount) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  constexpr Index large = Index{1} << 31;
  for (const Shape3& shape : std::vector<Shape3>{{large, 1, 1}, {1, large, 1}, {1, 1, large}, {large, large, large}}) {
    const GemmProblem<float> problem = {.m = shape.m, .n = shape.n, .k = shape.k};
    const auto support = find_rung(shared_memory::gemm_ladder<float>(), "fitted-tiles").supports(problem);
    EXPECT_FALSE(support);
    EXPECT_FALSE(support.reason.empty());
    EXPECT_EQ(shared_memory::pick_gemm(problem).name, cuda::runs_on_cpu() ? "warp-tiles" : "async-copies");
  }
}

}  // namespace
}  // namespace stagewise
