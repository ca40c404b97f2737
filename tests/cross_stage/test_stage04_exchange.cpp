/// @file
/// What brings stage 04's batches together.

#include <utility>
#include <vector>

#include "04_minibatch/data/gather.hpp"
#include "04_minibatch/data/resident_data.hpp"
#include "cross_stage/cuda_array.hpp"
#include "cross_stage/gpu_test.hpp"
#include "cuda/check.hpp"
#include "support.hpp"
#include "tensor/random.hpp"

namespace stagewise {
namespace {

/// Samples that a batch is picked from; some of them are in none.
constexpr Index spare_samples = 7;

/// The samples of a batch, some of them twice.
std::vector<std::uint32_t> random_order(Index rows, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint32_t> order(static_cast<std::size_t>(rows));
  for (std::uint32_t& sample : order) {
    sample = static_cast<std::uint32_t>(random.below(static_cast<std::uint64_t>(rows + spare_samples)));
  }
  return order;
}

/// The rows of `data` [.., width] that `order` names.
template <typename T>
std::vector<T> rows_of(const std::vector<T>& data, Index width, const std::vector<std::uint32_t>& order) {
  std::vector<T> rows;
  for (const std::uint32_t sample : order) {
    const auto begin = data.begin() + static_cast<Index>(sample) * width;
    rows.insert(rows.end(), begin, begin + width);
  }
  return rows;
}

template <typename T>
class Stage04 : public GpuTest {};
TYPED_TEST_SUITE(Stage04, Precisions, PrecisionNames);

TYPED_TEST(Stage04, GathersTheRowsThatTheOrderNames) {
  using T = TypeParam;
  for (const auto& [rows, features] :
       {std::pair<Index, Index>{1, 1}, {7, 3}, {5, 4}, {33, 8}, {13, 17}, {300, 12}, {3, 1024}, {2, 3073}, {1000, 2}}) {
    for (const Index shift : {0, 1, 2}) {
      const std::vector<std::uint32_t> order = random_order(rows, 5);
      const auto data = random_values<T>((rows + spare_samples) * features, 1);
      const auto labels = random_labels(rows + spare_samples, 9, 2);
      std::vector<T> shifted = poison<T>(shift);
      shifted.insert(shifted.end(), data.begin(), data.end());
      CudaArray<T> from_array(shifted);
      CudaArray<std::int32_t> labels_array(labels);
      CudaArray<std::uint32_t> order_array(order);
      CudaArray<T> batch(poison<T>(rows * features + shift + 3));
      CudaArray<std::int32_t> batch_labels(std::vector<std::int32_t>(static_cast<std::size_t>(rows + 1), -7));
      minibatch::gather<T>(nullptr, from_array.get() + shift, labels_array.get(), features, order_array.get(), rows,
                           batch.get() + shift, batch_labels.get());
      std::vector<T> expected = poison<T>(shift);
      const std::vector<T> picked = rows_of(data, features, order);
      expected.insert(expected.end(), picked.begin(), picked.end());
      expected.resize(expected.size() + 3, std::numeric_limits<T>::quiet_NaN());
      std::vector<std::int32_t> expected_labels = rows_of(labels, 1, order);
      expected_labels.push_back(-7);
      const std::string what = std::to_string(rows) + "x" + std::to_string(features);
      expect_within_units(what, 0, batch.read(), expected);
      EXPECT_EQ(batch_labels.read(), expected_labels) << what;
    }
  }
}

/// Rows of a data set as the host would put them together, bit for bit; `padding` numbers apart.
template <typename Stored, typename T>
void expect_gathers_from_host(Index rows, Index features, Index padding) {
  const Index samples = rows + spare_samples;
  const std::vector<std::int32_t> labels = random_labels(samples, 9, 2);
  std::vector<Stored> stored;
  for (const double value : random_values<double>(samples * features, 1)) {
    stored.push_back(std::is_same_v<Stored, double> ? static_cast<Stored>(value)
                                                    : static_cast<Stored>(255.999 * std::abs(value)));
  }
  const Dataset dataset({features}, 9, stored, labels);
  const std::vector<std::uint32_t> order = random_order(rows, 5);
  std::vector<T> expected(static_cast<std::size_t>(rows * features));
  dataset.gather(order, expected.data());
  expected.push_back(std::numeric_limits<T>::quiet_NaN());
  std::vector<std::int32_t> expected_labels = rows_of(labels, 1, order);
  expected_labels.push_back(-7);

  const Index stride = features + padding;
  Tensor<Stored> on_host({samples, stride}, cuda::pinned_memory());
  for (Index sample = 0; sample < samples; ++sample) {
    std::copy_n(stored.begin() + sample * features, features, on_host.data() + sample * stride);
  }
  CudaArray<std::int32_t> labels_array(labels);
  CudaArray<std::uint32_t> order_array(order);
  CudaArray<T> batch(poison<T>(rows * features + 1));
  CudaArray<std::int32_t> batch_labels(std::vector<std::int32_t>(static_cast<std::size_t>(rows + 1), -7));
  minibatch::gather_from_host(nullptr, on_host.data(), stride, labels_array.get(), features, order_array.get(), rows,
                              batch.get(), batch_labels.get());
  const std::string what = std::to_string(rows) + "x" + std::to_string(features);
  expect_within_units(what + "+" + std::to_string(padding), 0, batch.read(), expected);
  EXPECT_EQ(batch_labels.read(), expected_labels) << what;
}

TYPED_TEST(Stage04, GathersTheRowsOfTheHost) {
  using T = TypeParam;
  for (const Index rows : {1, 7, 63, 65, 600}) {
    for (const Index features : {1, 2, 3, 4, 17, 784}) {
      for (const Index padding : {0, 1, 112}) {
        expect_gathers_from_host<std::uint8_t, T>(rows, features, padding);
        expect_gathers_from_host<double, T>(rows, features, padding);
      }
    }
  }
  minibatch::gather_from_host<double, T>(nullptr, nullptr, 3, nullptr, 3, nullptr, 0, nullptr,
                                         nullptr);  // of no rows
}

/// An epoch of 40,000 samples, in chunks of different sizes.
TEST(TakeChunk, GoesThroughTheOrderOnce) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  const std::vector<std::uint32_t> order = random_order(40'000, 6);
  CudaArray<std::uint32_t> order_array(order);
  CudaArray<minibatch::Cursor> cursor(std::vector<minibatch::Cursor>(1));
  std::vector<StepRates> rates(60);
  for (std::size_t i = 0; i < rates.size(); ++i) rates[i].rate = static_cast<double>(i);
  CudaArray<StepRates> rates_array(rates);
  Tensor<std::int64_t> progress({1}, cuda::pinned_memory());
  *progress.data() = -1;
  Index first = 0;
  std::int64_t step = 0;
  for (const auto& [steps, rows] :
       {std::pair<Index, Index>{1, 1}, {4, 100}, {1, 2000}, {32, 33}, {8, 128}, {1, 7}, {3, 10'000}}) {
    const Index samples = steps * rows;
    CudaArray<std::uint32_t> chunk(std::vector<std::uint32_t>(static_cast<std::size_t>(samples + 1), 77'777));
    CudaArray<StepRates> chunk_rates(std::vector<StepRates>(static_cast<std::size_t>(steps + 1), {.rate = -1}));
    minibatch::take_chunk(nullptr, order_array.get(), cursor.get(), steps, rows, chunk.get(), progress.data(),
                          rates_array.get(), chunk_rates.get());
    for (Index i = 0; i <= steps; ++i) {
      EXPECT_EQ(chunk_rates.read()[static_cast<std::size_t>(i)].rate, i < steps ? static_cast<double>(step + i) : -1);
    }
    std::vector<std::uint32_t> expected(order.begin() + first, order.begin() + first + samples);
    expected.push_back(77'777);
    EXPECT_EQ(chunk.read(), expected) << steps << " steps of " << rows;
    const minibatch::Cursor now = cursor.read().front();
    EXPECT_EQ(*progress.data(), step) << "those that are done, not those that begin";
    EXPECT_EQ(now.chunk_step, step);
    first += samples;
    step += steps;
    EXPECT_EQ(now.first, first);
    EXPECT_EQ(now.step, step);
  }
  // Without samples, and with nobody who wants to know: batches that come from elsewhere.
  minibatch::take_chunk(nullptr, nullptr, cursor.get(), 1, 0, nullptr, nullptr);
  const minibatch::Cursor now = cursor.read().front();
  EXPECT_EQ(now.first, first);
  EXPECT_EQ(now.step, step + 1);
  EXPECT_EQ(now.chunk_step, step);
}

/// Prepared or not, and prepared again before it begins.
TEST(EpochOrder, IsTheOneThatTheEpochBeginsWith) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  constexpr Index samples = 1'000;
  std::vector<std::vector<std::uint32_t>> orders;
  for (std::uint64_t seed = 0; seed < 4; ++seed) orders.push_back(random_order(samples, seed));
  EpochOrder epoch(samples, 1);
  const auto expect_begins = [&](const std::vector<std::uint32_t>& order) {
    epoch.begin_epoch(order);
    std::vector<std::uint32_t> read(static_cast<std::size_t>(samples));
    CUDA_CHECK(cudaMemcpy(read.data(), epoch.orders() + epoch.first(), read.size() * sizeof(std::uint32_t),
                          cudaMemcpyDeviceToHost));
    EXPECT_EQ(read, order);
    return epoch.first();
  };
  expect_begins(orders[0]);
  epoch.prepare_epoch(orders[1]);
  const Index first = expect_begins(orders[1]);
  epoch.prepare_epoch(orders[2]);
  EXPECT_NE(expect_begins(orders[2]), first) << "the epoch before may still read there";
  expect_begins(orders[3]);
  epoch.prepare_epoch(orders[2]);
  epoch.prepare_epoch(orders[0]);
  expect_begins(orders[0]);
  expect_begins(orders[0]);
  const std::vector<std::uint32_t> shorter(orders[1].begin(), orders[1].begin() + 10);
  epoch.prepare_epoch(orders[2]);
  epoch.prepare_epoch(shorter);
  expect_begins(orders[1]);
}

}  // namespace
}  // namespace stagewise
