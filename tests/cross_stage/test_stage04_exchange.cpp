/// @file
/// What brings stage 04's batches together, and what its workers exchange.

#include <array>
#include <memory>

#include "04_minibatch/data/gather.hpp"
#include "04_minibatch/data/resident_data.hpp"
#include "04_minibatch/update.hpp"
#include "cross_stage/cuda_array.hpp"
#include "cross_stage/fused_kernels.hpp"
#include "cross_stage/stage_types.hpp"
#include "cuda/check.hpp"
#include "support.hpp"

namespace stagewise {
namespace {

using cross_stage::bits_of;
using cross_stage::random_order;
using cross_stage::rows_of;
using cross_stage::spare_samples;

template <typename T>
class Stage04 : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  }
};
TYPED_TEST_SUITE(Stage04, Precisions, PrecisionNames);

// ------------------------------------------------------------------------------------- the batch

TYPED_TEST(Stage04, GathersTheRowsThatTheOrderNames) {
  using T = TypeParam;
  struct Batch {
    Index rows;
    Index features;
  };
  for (const auto [rows, features] :
       {Batch{1, 1}, Batch{7, 3}, Batch{5, 4}, Batch{33, 8}, Batch{13, 17}, Batch{300, 12},
        Batch{3, 1024}, Batch{2, 3073}, Batch{1000, 2}}) {
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
      CudaArray<std::int32_t> batch_labels(
          std::vector<std::int32_t>(static_cast<std::size_t>(rows + 1), -7));
      minibatch::gather<T>(nullptr, from_array.get() + shift, labels_array.get(), features,
                           order_array.get(), rows, batch.get() + shift, batch_labels.get());
      std::vector<T> expected = poison<T>(shift);
      const std::vector<T> picked = rows_of(data, features, order);
      expected.insert(expected.end(), picked.begin(), picked.end());
      expected.resize(expected.size() + 3, std::numeric_limits<T>::quiet_NaN());
      std::vector<std::int32_t> expected_labels = rows_of(labels, 1, order);
      expected_labels.push_back(-7);
      EXPECT_EQ(bits_of(batch.read()), bits_of(expected)) << rows << "x" << features;
      EXPECT_EQ(batch_labels.read(), expected_labels) << rows << "x" << features;
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
    stored.push_back(std::is_same_v<Stored, double>
                         ? static_cast<Stored>(value)
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
  CudaArray<std::int32_t> batch_labels(
      std::vector<std::int32_t>(static_cast<std::size_t>(rows + 1), -7));
  minibatch::gather_from_host(nullptr, on_host.data(), stride, labels_array.get(), features,
                              order_array.get(), rows, batch.get(), batch_labels.get());
  EXPECT_EQ(bits_of(batch.read()), bits_of(expected)) << rows << "x" << features << "+" << padding;
  EXPECT_EQ(batch_labels.read(), expected_labels) << rows << "x" << features;
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
  struct Chunk {
    Index steps;
    Index rows;
  };
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
  for (const auto [steps, rows] : {Chunk{1, 1}, Chunk{4, 100}, Chunk{1, 2000}, Chunk{32, 33},
                                   Chunk{8, 128}, Chunk{1, 7}, Chunk{3, 10'000}}) {
    const Index samples = steps * rows;
    CudaArray<std::uint32_t> chunk(
        std::vector<std::uint32_t>(static_cast<std::size_t>(samples + 1), 77'777));
    CudaArray<StepRates> chunk_rates(
        std::vector<StepRates>(static_cast<std::size_t>(steps + 1), {.rate = -1}));
    minibatch::take_chunk(nullptr, order_array.get(), cursor.get(), steps, rows, chunk.get(),
                          progress.data(), rates_array.get(), chunk_rates.get());
    for (Index i = 0; i <= steps; ++i) {
      EXPECT_EQ(chunk_rates.read()[static_cast<std::size_t>(i)].rate,
                i < steps ? static_cast<double>(step + i) : -1);
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
    CUDA_CHECK(cudaMemcpy(read.data(), epoch.orders() + epoch.first(),
                          read.size() * sizeof(std::uint32_t), cudaMemcpyDeviceToHost));
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

// ----------------------------------------------------------------------------- means of workers

/// Parameters of a network and of workers, and the lists of them that the kernels take.
template <typename T>
class WorkersLists {
 public:
  explicit WorkersLists(int workers) : workers_(workers) {
    std::vector<minibatch::MeanParameter<T>> mean;
    std::vector<T*> parts;
    std::vector<T*> gradients;
    Index blocks = 0;
    std::uint64_t seed = 0;
    for (const Index elements : lengths) {
      values_.emplace_back(start_of(elements, ++seed));
      mean.push_back({.value = values_.back().get(),
                      .elements = elements,
                      .first_block = blocks,
                      .l2 = l2_of(mean.size())});
      blocks += minibatch::blocks_for(elements);
      for (int worker = 0; worker < workers; ++worker) {
        parts_.emplace_back(start_of(elements, ++seed));
        gradients_.emplace_back(start_of(elements, ++seed));
        parts.push_back(parts_.back().get());
        gradients.push_back(gradients_.back().get());
      }
    }
    mean_ = std::make_unique<CudaArray<minibatch::MeanParameter<T>>>(mean);
    list_of_parts_ = std::make_unique<CudaArray<T*>>(parts);
    list_of_gradients_ = std::make_unique<CudaArray<T*>>(gradients);
    to_average_ = {.workers = workers,
                   .parameters = static_cast<int>(mean.size()),
                   .blocks = blocks,
                   .mean = mean_->get(),
                   .parts = list_of_parts_->get()};
  }

  const minibatch::WorkersParameters<T>& to_average() const { return to_average_; }
  minibatch::WorkersParameters<T> to_add_up() const {
    minibatch::WorkersParameters<T> parameters = to_average_;
    parameters.parts = list_of_gradients_->get();
    return parameters;
  }

  /// Parameters of one thread, one block and several.
  static constexpr std::array<Index, 5> lengths = {1, 256, 257, 1009, 31};
  static T l2_of(std::size_t parameter) { return parameter % 2 == 0 ? T{0.25} : T{0}; }

  std::vector<T> value(std::size_t parameter) const { return values_[parameter].read(); }
  std::vector<T> part(std::size_t parameter, int worker) const {
    return parts_[number(parameter, worker)].read();
  }
  std::vector<T> gradient(std::size_t parameter, int worker) const {
    return gradients_[number(parameter, worker)].read();
  }

 private:
  static std::vector<T> start_of(Index elements, std::uint64_t seed) {
    return random_values<T>(elements, seed, -1, 2);
  }
  std::size_t number(std::size_t parameter, int worker) const {
    return parameter * static_cast<std::size_t>(workers_) + static_cast<std::size_t>(worker);
  }

  int workers_;
  std::vector<CudaArray<T>> values_;
  std::vector<CudaArray<T>> parts_;
  std::vector<CudaArray<T>> gradients_;
  std::unique_ptr<CudaArray<minibatch::MeanParameter<T>>> mean_;
  std::unique_ptr<CudaArray<T*>> list_of_parts_;
  std::unique_ptr<CudaArray<T*>> list_of_gradients_;
  minibatch::WorkersParameters<T> to_average_;
};

TYPED_TEST(Stage04, UpdatesByTheSumOfTheWorkersGradients) {
  using T = TypeParam;
  for (const int workers : {1, 2, 3, 8}) {
    const WorkersLists<T> before(workers);
    const WorkersLists<T> after(workers);
    const WorkersLists<T> again(workers);
    minibatch::update_by_sum(nullptr, after.to_add_up(), T{0.5});
    minibatch::update_by_sum(nullptr, again.to_add_up(), T{0.5});
    for (std::size_t k = 0; k < WorkersLists<T>::lengths.size(); ++k) {
      std::vector<long double> expected = widened(before.value(k));
      std::vector<long double> sum(expected.size(), 0);
      for (int worker = 0; worker < workers; ++worker) {
        const std::vector<T> gradient = before.gradient(k, worker);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
      }
      for (std::size_t i = 0; i < sum.size(); ++i) {
        const long double l2 = WorkersLists<T>::l2_of(k);
        expected[i] -= 0.5L * (sum[i] + l2 * expected[i]);
      }
      const std::vector<long double> bounds(expected.size(),
                                            16.0L * std::numeric_limits<T>::epsilon());
      SCOPED_TRACE(std::to_string(workers) + " workers, parameter " + std::to_string(k));
      expect_within(after.value(k), expected, bounds);
      EXPECT_EQ(again.value(k), after.value(k));
      for (int worker = 0; worker < workers; ++worker) {
        EXPECT_EQ(after.part(k, worker), before.part(k, worker)) << "a worker's own was changed";
        EXPECT_EQ(after.gradient(k, worker), before.gradient(k, worker));
      }
    }
  }
}

/// As the serial reference takes it: summed in double, worker 0 first, so the same to the last bit.
TYPED_TEST(Stage04, AveragesTheWorkersWeights) {
  using T = TypeParam;
  for (const int workers : {1, 2, 3, 8}) {
    for (const bool workers_too : {false, true}) {
      const WorkersLists<T> before(workers);
      const WorkersLists<T> after(workers);
      minibatch::average_weights(nullptr, after.to_average(), workers_too);
      for (std::size_t k = 0; k < WorkersLists<T>::lengths.size(); ++k) {
        std::vector<T> expected(before.value(k).size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
          double sum = 0;
          for (int worker = 0; worker < workers; ++worker) sum += before.part(k, worker)[i];
          expected[i] = static_cast<T>(sum / workers);
        }
        SCOPED_TRACE(std::to_string(workers) + " workers, parameter " + std::to_string(k));
        EXPECT_EQ(after.value(k), expected);
        for (int worker = 0; worker < workers; ++worker) {
          EXPECT_EQ(after.part(k, worker), workers_too ? expected : before.part(k, worker));
        }
      }
    }
  }
}

}  // namespace
}  // namespace stagewise
