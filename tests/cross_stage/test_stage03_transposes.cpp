/// @file
/// Every rung of stage 03's transpose ladder, and the column of ones before a matrix, against
/// stage 01's loops.

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "cross_stage/cuda_array.hpp"
#include "cross_stage/gpu_test.hpp"
#include "ladders/transpose/serial.hpp"
#include "ladders/transpose/shift.hpp"
#include "ladders/transpose/transpose.hpp"
#include "support.hpp"

namespace stagewise {
namespace {

using namespace shared_memory;

struct Size {
  Index rows;
  Index cols;
};

std::string name_of(const Size& size) { return std::to_string(size.rows) + "x" + std::to_string(size.cols); }

/// Around warps and tiles, flat and tall, wider than a block; then any.
std::vector<Size> random_sizes(std::uint64_t seed) {
  std::vector<Size> sizes = {{0, 0},    {0, 3},    {3, 0},    {1, 1},    {1, 2},   {2, 1},   {2, 2},
                             {1, 7},    {7, 1},    {3, 5},    {5, 3},    {13, 17}, {31, 33}, {33, 31},
                             {32, 32},  {64, 32},  {5, 1031}, {257, 3},  {1, 256}, {256, 1}, {127, 65},
                             {600, 10}, {3, 2100}, {2100, 3}, {40, 513}, {19, 20}, {20, 19}, {20, 20},
                             {3, 257},  {2, 4099}, {68, 36},  {4, 132},  {132, 4}};
  Random random(seed);
  const auto side = [&] { return static_cast<Index>(std::exp(random.uniform(0, std::log(300)))); };
  for (int i = 0; i < shapes_per_rung(); ++i) sizes.push_back({side(), side()});
  return sizes;
}

/// 2, 3, 4, ...: no two elements are alike, so that none can pass for another. Exact in float, too.
template <typename T>
std::vector<T> numbered(Index n) {
  std::vector<T> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i + 2);
  return values;
}

template <typename T>
std::vector<T> with_ones(const Size& size, const std::vector<T>& x) {
  std::vector<T> y;
  for (Index i = 0; i < size.rows; ++i) {
    y.push_back(1);
    y.insert(y.end(), x.begin() + i * size.cols, x.begin() + (i + 1) * size.cols);
  }
  return y;
}

/// `values` and a NaN behind them, which must stay there.
template <typename T>
std::vector<T> guarded(std::vector<T> values, Index room = 0) {
  values.resize(std::max(values.size(), static_cast<std::size_t>(room)), poison<T>(1)[0]);
  values.push_back(poison<T>(1)[0]);
  return values;
}

template <typename T>
class Transposes : public GpuTest {};

TYPED_TEST_SUITE(Transposes, Precisions, PrecisionNames);

/// Runs some rungs on a matrix of numbers, and expects it turned.
template <typename T>
void expect_transposed(const Size& size, Ladder<TransposeProblem<T>> rungs) {
  if (is_too_large(size.rows * size.cols)) return;
  Workspace workspace;
  const std::vector<T> x = numbered<T>(size.rows * size.cols);
  std::vector<T> expected = poison<T>(std::ssize(x) + 1);
  serial::transpose(size.rows, size.cols, x.data(), expected.data());
  CudaArray there(guarded(x));
  for (const auto& rung : rungs) {
    CudaArray y(poison<T>(size.rows * size.cols + 1));
    const TransposeProblem<T> problem = {.rows = size.rows, .cols = size.cols, .x = there.get(), .y = y.get()};
    ASSERT_EQ(rung.supports(problem).reason, "");
    rung.run(nullptr, problem, workspace);
    expect_within_units(std::string(rung.name) + ", " + name_of(size), 0, y.read(), expected);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TYPED_TEST(Transposes, EveryRung) {
  std::vector<Size> sizes = random_sizes(1);
  sizes.push_back({66'000, 1});
  sizes.push_back({1, 70'001});
  for (const Size& size : sizes) expect_transposed(size, transpose_ladder<TypeParam>());
}

/// So many elements that rungs take their large tiles; with and without whole vectors in a row.
TYPED_TEST(Transposes, LargeTiles) {
  if (is_in_a_slow_preset()) GTEST_SKIP() << "too large for this preset";
  for (const Size& size : {Size{4100, 2100}, Size{2001, 4103}}) {
    expect_transposed(size, transpose_ladder<TypeParam>().last(3));
  }
}

/// So many rows that a block has to turn two tiles, one after the other.
TEST(TallTranspose, MoreTilesThanAGridHasRows) {
  if (is_in_a_slow_preset()) GTEST_SKIP() << "too large for this preset";
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  for (const std::string_view name : {"tile", "swizzled"}) {
    expect_transposed<float>({Index{65'535} * 32 + 33, 2}, {&find_rung(transpose_ladder<float>(), name), 1});
  }
}

TYPED_TEST(Transposes, ColumnOfOnesOutOfPlace) {
  using T = TypeParam;
  for (const Size& size : random_sizes(2)) {
    const std::vector<T> without = numbered<T>(size.rows * size.cols);
    const std::vector<T> with = with_ones(size, without);
    CudaArray from(guarded(without));
    CudaArray wide(guarded(poison<T>(size.rows * (size.cols + 1))));
    insert_ones(nullptr, size.rows, size.cols, from.get(), wide.get());
    expect_within_units("insert_ones " + name_of(size), 0, wide.read(), guarded(with));
    CudaArray narrow(guarded(poison<T>(size.rows * size.cols)));
    remove_column(nullptr, size.rows, size.cols, wide.get(), narrow.get());
    expect_within_units("remove_column " + name_of(size), 0, narrow.read(), guarded(without));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(Transposes, ShiftRightAndLeftInPlace) {
  using T = TypeParam;
  std::vector<Size> sizes = random_sizes(3);
  sizes.push_back({70'001, 1});
  sizes.push_back({1000, 40});
  for (const Size& size : sizes) {
    if (is_too_large(size.rows * size.cols)) continue;
    const std::vector<T> without = numbered<T>(size.rows * size.cols);
    const std::vector<T> with = with_ones(size, without);
    const Index saved = shift_helper_elements(size.rows, size.cols);
    CudaArray helper(guarded(poison<T>(saved)));
    CudaArray matrix(guarded(without, size.rows * (size.cols + 1)));
    shift_right(nullptr, size.rows, size.cols, matrix.get(), helper.get());
    expect_within_units("shift_right " + name_of(size), 0, matrix.read(), guarded(with));

    // What is behind the smaller matrix is nobody's; only the guard counts.
    shift_left(nullptr, size.rows, size.cols, matrix.get(), helper.get());
    std::vector<T> actual = matrix.read();
    ASSERT_TRUE(std::isnan(actual.back())) << name_of(size);
    actual.resize(without.size());
    expect_within_units("shift_left " + name_of(size), 0, actual, without);
    ASSERT_TRUE(std::isnan(helper.read().back())) << name_of(size);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(Transposes, TheHelperHoldsAStaircase) {
  EXPECT_EQ(shift_helper_elements(0, 5), 0);
  EXPECT_EQ(shift_helper_elements(1, 5), 0);
  EXPECT_EQ(shift_helper_elements(3, 4), 0 + 1 + 2);
  EXPECT_EQ(shift_helper_elements(6, 2), 0 + 1 + 2 + 2 + 2 + 2);
  EXPECT_EQ(shift_helper_elements(5, 0), 0);
  for (const Size& size : random_sizes(4)) {
    Index expected = 0;
    for (Index row = 0; row < size.rows; ++row) expected += std::min(row, size.cols);
    EXPECT_EQ(shift_helper_elements(size.rows, size.cols), expected) << name_of(size);
  }
}

}  // namespace
}  // namespace stagewise
