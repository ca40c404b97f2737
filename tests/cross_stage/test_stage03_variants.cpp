/// @file
/// What lies beside stage 03 trains the same: folded biases, and the products of the ladder.

#include "03_shared_memory/shared_memory_executor.hpp"
#include "cross_stage/trainings.hpp"
#include "ladders/gemm/gemm.hpp"
#include "reports/003/fold_bias/fold_bias_executor.hpp"

namespace stagewise {
namespace {

using shared_memory::FoldBias;

class Stage03Variants : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

template <typename T>
void expect_stage_02_folded(FoldBias fold, const std::string& beginning) {
  cross_stage::expect_stage_02<T>(
      [&] { return std::make_unique<FoldBiasExecutor<T>>(SharedMemoryOptions(), fold); }, beginning,
      shared_memory::fold_biases);
}

TEST_F(Stage03Variants, AFoldedBiasGivesTheSameNumbers) {
  for (const FoldBias fold : {FoldBias::in_place, FoldBias::out_of_place}) {
    expect_stage_02_folded<float>(fold, "mlp");
    expect_stage_02_folded<double>(fold, "");
  }
}

TEST_F(Stage03Variants, EveryProductOfTheLadderTrainsTheSame) {
  const auto ladder = ladder::gemm_ladder<double>();
  for (const auto& rung : ladder) {
    if (!rung.supports({})) continue;
    const SharedMemoryOptions options = {.gemm = std::string(rung.name)};
    cross_stage::expect_stage_02<double>(
        [&] { return std::make_unique<SharedMemoryExecutor<double>>(options, ladder); },
        "mlp_squared_error");
  }
}

}  // namespace
}  // namespace stagewise
