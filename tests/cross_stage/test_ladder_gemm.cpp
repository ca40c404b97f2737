/// @file
/// The rungs of the GEMM ladder beyond stage 03's compute what stage 01 computes, to their
/// rounding.

#include "cross_stage/gemm_rungs.hpp"
#include "ladders/gemm/gemm.hpp"

namespace stagewise {
namespace {

template <typename T>
struct LadderRungs {
  using Scalar = T;
  static Ladder<GemmProblem<T>> rungs() {
    static const std::vector<GemmRung<T>> beyond = [] {
      const auto of_stage = shared_memory::gemm_ladder<T>();
      std::vector<GemmRung<T>> rungs;
      for (const GemmRung<T>& rung : ladder::gemm_ladder<T>()) {
        const auto is_same = [&](const GemmRung<T>& one) { return one.name == rung.name; };
        if (std::none_of(of_stage.begin(), of_stage.end(), is_same)) rungs.push_back(rung);
      }
      return rungs;
    }();
    return beyond;
  }
  static auto tiles(std::string_view rung) { return ladder::gemm_tiles<T>(rung); }
  static std::vector<std::pair<const char*, Index>> tall() {
    if (cuda::runs_on_cpu()) return {{"padded", 2'100'000}};
    return {{"padded", 2'100'000}, {"wgmma-bf16", 2'100'000}};
  }
};

using LadderTypes = testing::Types<LadderRungs<float>, LadderRungs<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(GemmLadderBeyond, Rungs, LadderTypes, NamesOfRungs);

template <typename T>
class WgmmaRungs : public Rungs<LadderRungs<T>> {};

TYPED_TEST_SUITE(WgmmaRungs, Precisions, PrecisionNames);

/// Sizes at which the rungs with wgmma use their larger tile, several of them per block, with all
/// transposes, and rows that do not divide into vectors.
TYPED_TEST(WgmmaRungs, ComputeWhatStage01Computes) {
  using T = TypeParam;
  const std::vector<Shape3> shapes = {
      {1700, 1900, 200}, {2047, 1601, 129}, {4001, 3995, 67}, {90, 9000, 260}, {9000, 90, 64}};
  for (const char* const name : {"wgmma-bf16", "wgmma-tf32"}) {
    const GemmRung<T>& rung = find_rung(ladder::gemm_ladder<T>(), name);
    if (!rung.supports({})) GTEST_SKIP() << name << ": " << rung.supports({}).reason;
    for (const auto [m, n, k] : shapes) {
      for (int transposes = 0; transposes < 4; ++transposes) {
        this->check(rung,
                    {.op_a = transposes % 2 == 0 ? Transpose::no : Transpose::yes,
                     .op_b = transposes / 2 == 0 ? Transpose::no : Transpose::yes,
                     .m = m,
                     .n = n,
                     .k = k,
                     .alpha = T{2},
                     .beta = static_cast<T>(transposes - 1)},
                    17);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

/// The error of a product of 100 x 100, relative to the result in double.
double relative_error(const GemmRung<float>& rung, Index k) {
  constexpr Index m = 100;
  Workspace workspace;
  const std::vector<float> a = random_values<float>(m * k, 1);
  const std::vector<float> b = random_values<float>(m * k, 2);
  CudaArray there_a(a);
  CudaArray there_b(b);
  CudaArray there_c(poison<float>(m * m));
  rung.run(nullptr, {.m = m, .n = m, .k = k, .a = there_a.get(), .b = there_b.get(), .c = there_c.get()}, workspace);
  const std::vector<double> a_in_double(a.begin(), a.end());
  const std::vector<double> b_in_double(b.begin(), b.end());
  std::vector<double> expected(m * m);
  serial::gemm(serial::GemmVariant::reordered,
               GemmProblem<double>{
                   .m = m, .n = m, .k = k, .a = a_in_double.data(), .b = b_in_double.data(), .c = expected.data()});
  const std::vector<float> found = there_c.read();
  double errors = 0;
  double squares = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    errors += std::pow(static_cast<double>(found[i]) - expected[i], 2);
    squares += expected[i] * expected[i];
  }
  return std::sqrt(errors / squares);
}

/// Rounding costs what the number of bits says, and two parts of a number win it back.
TEST(GemmPrecisions, ErrorsAreThoseOfTheirBits) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  const auto ladder = ladder::gemm_ladder<float>();
  if (!find_rung(ladder, "tf32").supports({})) GTEST_SKIP() << "no tensor cores for floats";
  for (const Index k : {64, 784, 1501}) {
    const double exact = relative_error(find_rung(ladder, "warp-tiles"), k);
    const double tf32 = relative_error(find_rung(ladder, "tf32"), k);
    const double bf16 = relative_error(find_rung(ladder, "bf16"), k);
    const double split = relative_error(find_rung(ladder, "3xtf32"), k);
    EXPECT_LT(exact, 1e-6);
    EXPECT_GT(tf32, 1e-4) << "not rounded, k = " << k;
    EXPECT_LT(tf32, 6e-4) << "k = " << k;
    EXPECT_GT(bf16, 4 * tf32) << "k = " << k;
    EXPECT_LT(bf16, 12 * tf32) << "k = " << k;
    EXPECT_LT(split, 1.5 * exact) << "k = " << k;
    for (const auto& [name, same] : {std::pair("wgmma-tf32", tf32), std::pair("wgmma-bf16", bf16)}) {
      if (!find_rung(ladder, name).supports({})) continue;
      const double error = relative_error(find_rung(ladder, name), k);
      EXPECT_GT(error, 0.9 * same) << name << ", k = " << k;
      EXPECT_LT(error, 1.1 * same) << name << ", k = " << k;
    }
  }
}

TEST(GemmRungsBeyond, AnUnknownRungIsRefusedWithTheNames) {
  try {
    find_rung(ladder::gemm_ladder<float>(), "tile-17");
    FAIL() << "there is a rung named tile-17";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("no rung named 'tile-17'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("tile-8, tile-32"), std::string::npos);
  }
}

}  // namespace
}  // namespace stagewise
