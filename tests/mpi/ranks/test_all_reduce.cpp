/// @file
/// Sums over several GPUs by kernels that access each other's memory, on as many ranks as mpirun
/// has started: are they exact, whoever comes late, and do they end if somebody does not come?

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "05_mpi/transport/peer.hpp"
#include "cross_stage/gpu_test.hpp"
#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "cuda/memory.hpp"
#include "mpi/ranks/ranks.hpp"
#include "support.hpp"
#include "tensor/random.hpp"

namespace stagewise {
namespace {

using mpi::PeerTransport;

constexpr std::chrono::seconds patience(60);

template <typename T>
void copy_in(const std::vector<T>& from, T* to, const cuda::Stream& stream) {
  CUDA_CHECK(cudaMemcpyAsync(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream.get()));
  stream.synchronize();
}

template <typename T>
std::vector<T> copy_out(const T* from, Index count, const cuda::Stream& stream) {
  std::vector<T> to(static_cast<std::size_t>(count));
  CUDA_CHECK(cudaMemcpyAsync(to.data(), from, to.size() * sizeof(T), cudaMemcpyDeviceToHost, stream.get()));
  stream.synchronize();
  return to;
}

/// What a rank adds in some round: whole numbers, so that sums are exact in any order, or others.
template <typename T>
std::vector<T> numbers_of(int rank, std::uint64_t round, Index count, bool are_whole = true) {
  Random random(1000 * round + static_cast<std::uint64_t>(rank));
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) {
    value = are_whole ? static_cast<T>(random.below(2001)) - 1000 : static_cast<T>(random.normal());
  }
  return values;
}

/// Their sums over all ranks, in the order of these.
template <typename T>
std::vector<T> sums_of(std::uint64_t round, Index count, bool are_whole = true) {
  std::vector<T> sums(static_cast<std::size_t>(count), 0);
  for (int rank = 0; rank < test_world().size(); ++rank) {
    const std::vector<T> values = numbers_of<T>(rank, round, count, are_whole);
    std::transform(sums.begin(), sums.end(), values.begin(), sums.begin(), std::plus<>());
  }
  return sums;
}

/// How many rounds a test runs: the environment variable STAGEWISE_TEST_SUMS, if it is set.
std::uint64_t rounds_asked(std::uint64_t otherwise) {
  const char* const asked = std::getenv("STAGEWISE_TEST_SUMS");
  return asked != nullptr ? std::stoull(asked) : otherwise;
}

/// Sometimes this rank comes late.
void dawdle(Random& random) {
  if (random.below(3) == 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(2000)));
  }
}

template <typename T>
class AllReduceKernels : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = mpi::reason_against("peer", test_placement());
    if (!reason.empty()) GTEST_SKIP() << reason;
  }

  static Index most() { return cuda::runs_on_cpu() ? 5'000 : 1'000'000; }

  using Way = void (PeerTransport<T>::*)(const cuda::Stream&, const mpi::Piece<T>&);
  static constexpr std::array<Way, 2> ways = {&PeerTransport<T>::one_shot, &PeerTransport<T>::two_shot};
};
TYPED_TEST_SUITE(AllReduceKernels, Precisions, PrecisionNames);

/// One after another, long and short ones, with ranks that are late in turn: in the order of the
/// ranks, on all of them, in both ways.
TYPED_TEST(AllReduceKernels, AddUpExactly) {
  using T = TypeParam;
  const cuda::Stream stream;
  PeerTransport<T> sums(test_world(), patience);
  const std::vector<Index> sizes = {1, 2, 3, 31, 4 * 97, 1'000, this->most() / 3, this->most()};
  const std::vector<T*> places = sums.memory_for(sizes);
  Random own(static_cast<std::uint64_t>(test_world().rank()));
  Random same(1);
  const std::uint64_t rounds = rounds_asked(cuda::runs_on_cpu() ? 40 : 2'000);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::size_t i = same.below(sizes.size() - (round % 10 == 0 ? 0 : 2));  // few long ones
    const std::size_t way = same.below(2);
    copy_in(numbers_of<T>(test_world().rank(), round, sizes[i], false), places[i], stream);
    dawdle(own);
    (sums.*this->ways[way])(stream, {places[i], sizes[i]});
    ASSERT_EQ(copy_out(places[i], sizes[i], stream), sums_of<T>(round, sizes[i], false))
        << "round " << round << ", " << sizes[i] << " numbers in " << way + 1 << " shots";
  }
}

/// The sums are the gradients of parameters, and are not stored themselves. All numbers stay exact.
TYPED_TEST(AllReduceKernels, UpdateParameters) {
  using T = TypeParam;
  const cuda::Stream stream;
  PeerTransport<T> sums(test_world(), patience);
  const auto longest = static_cast<Index>(mpi::max_one_shot_bytes(test_world().size()) / sizeof(T));
  for (const Index count : {Index{1}, Index{63}, Index{1'001}, this->most(), longest + 5}) {
    const std::vector<T*> places = sums.memory_for(std::vector<Index>{count, count});
    const std::vector<T> own = numbers_of<T>(test_world().rank(), 3, count);
    const std::vector<T> gradient = sums_of<T>(3, count);
    std::vector<T> parameters = numbers_of<T>(50, 3, count);
    copy_in(own, places[0], stream);
    copy_in(parameters, places[1], stream);
    const mpi::Update<T> update = {.parameters = places[1],
                                   .learning_rate = T{0.5},
                                   .l2 = T{0.25},
                                   .l2_from = count == longest + 5 ? longest + 2 : count / 3};
    for (const auto way : {this->ways[0], this->ways[1], &PeerTransport<T>::add_up}) {
      (sums.*way)(stream, {places[0], count, update});
      for (Index i = 0; i < count; ++i) {
        T& parameter = parameters[static_cast<std::size_t>(i)];
        const T l2 = i < update.l2_from ? T{0} : T{0.25};
        parameter -= T{0.5} * (gradient[static_cast<std::size_t>(i)] + l2 * parameter);
      }
      ASSERT_EQ(copy_out(places[1], count, stream), parameters) << count;
      ASSERT_EQ(copy_out(places[0], count, stream), own) << count;
    }
  }
}

/// In memory that no other rank knows, at odd places, and longer than an inbox. What is beside the
/// numbers stays as it is.
TYPED_TEST(AllReduceKernels, AddUpInAnyMemory) {
  using T = TypeParam;
  const cuda::Stream stream;
  PeerTransport<T> sums(test_world(), patience);
  const auto longest = static_cast<Index>(mpi::max_one_shot_bytes(test_world().size()) / sizeof(T));
  for (const Index count : {Index{1}, Index{64}, Index{501}, longest + 3}) {
    Tensor<T> memory({count + 4}, cuda::device_memory());
    std::vector<T> before = numbers_of<T>(test_world().rank(), 7, count);
    before.insert(before.begin(), {T{111}});
    before.insert(before.end(), {T{222}, T{333}, T{444}});
    copy_in(before, memory.data(), stream);
    ASSERT_EQ(sums.buffer_of(memory.data() + 1, count), nullptr);
    sums.add_up(stream, {memory.data() + 1, count});
    std::vector<T> expected = sums_of<T>(7, count);
    expected.insert(expected.begin(), {T{111}});
    expected.insert(expected.end(), {T{222}, T{333}, T{444}});
    ASSERT_EQ(copy_out(memory.data(), count + 4, stream), expected) << count;
  }
}

/// A recording finds another number of the sum, and the other inbox, each time that it is launched.
TYPED_TEST(AllReduceKernels, AreRecorded) {
  using T = TypeParam;
  const cuda::Stream stream;
  PeerTransport<T> sums(test_world(), patience);
  const std::vector<Index> sizes = {10, this->most()};
  const std::vector<T*> places = sums.memory_for(sizes);
  const cuda::ExecutableGraph graph(stream, [&] {
    for (int i = 0; i < 3; ++i) sums.one_shot(stream, {places[0], sizes[0]});
    sums.two_shot(stream, {places[1], sizes[1]});
    sums.two_shot(stream, {places[1], sizes[1]});
  });
  Random own(static_cast<std::uint64_t>(test_world().rank()));
  const auto n = static_cast<T>(test_world().size());
  // To make the numbers takes longer than to add them up.
  constexpr std::uint64_t different = 3;
  std::vector<std::vector<T>> numbers;
  std::vector<std::vector<T>> expected;
  for (std::uint64_t k = 0; k < different; ++k) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      numbers.push_back(numbers_of<T>(test_world().rank(), k + i, sizes[i]));
      expected.push_back(sums_of<T>(k + i, sizes[i]));
      for (T& value : expected.back()) value *= i == 0 ? n * n : n;
    }
  }
  const std::uint64_t rounds = rounds_asked(7);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::size_t first = round % different * sizes.size();
    for (std::size_t i = 0; i < sizes.size(); ++i) copy_in(numbers[first + i], places[i], stream);
    dawdle(own);
    graph.launch(stream);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      ASSERT_EQ(copy_out(places[i], sizes[i], stream), expected[first + i]) << round << ", " << i;
    }
  }
}

/// The numbers of sums begin again after 2^32 of them, and 0 is none of them.
TYPED_TEST(AllReduceKernels, CountBeyondTheLargestNumber) {
  using T = TypeParam;
  const cuda::Stream stream;
  const int rank = test_world().rank();
  const Index count = 100;
  Tensor<T> values({count}, cuda::device_memory());
  Tensor<std::uint32_t> numbers({mpi::max_sum_blocks}, cuda::device_memory());
  Tensor<unsigned> lost({1}, cuda::pinned_memory());
  *lost.data() = 0;
  copy_in(std::vector<std::uint32_t>(mpi::max_sum_blocks, 0xfffffffbU), numbers.data(), stream);
  const auto ranks = static_cast<std::size_t>(test_world().size());
  const mpi::PeerBuffer inboxes(test_world(), 2 * ranks * count * 16);
  mpi::OneShot<T> sum{
      .peers = {.rank = rank,
                .count = test_world().size(),
                .patience = {.lost = lost.data(), .nanoseconds = std::chrono::nanoseconds(patience).count()}},
      .values = values.data(),
      .count = count,
      .capacity = count,
      .numbers = numbers.data()};
  inboxes.store_addresses(sum.inbox);
  std::vector<std::uint32_t> found;
  for (std::uint64_t round = 0; round < 6; ++round) {
    copy_in(numbers_of<T>(rank, round, count), values.data(), stream);
    mpi::one_shot(stream.get(), sum, 1);
    ASSERT_EQ(copy_out(values.data(), count, stream), sums_of<T>(round, count)) << round;
    found.push_back(copy_out(numbers.data(), mpi::max_sum_blocks, stream).back());
  }
  EXPECT_EQ(found, (std::vector<std::uint32_t>{0xfffffffcU, 0xfffffffdU, 0xfffffffeU, 1, 2, 3}));
}

/// Each message of a bucket lies behind the one before it, so that all are one sum.
TYPED_TEST(AllReduceKernels, AddUpBucketsOfTheTransport) {
  using T = TypeParam;
  const cuda::Stream stream;
  const auto transport = mpi::make_transport<T>("peer", test_world());
  const std::vector<Index> counts = {10, 2'560, 1, 64, 700};
  const std::vector<T*> places = transport->memory_for(counts);
  ASSERT_EQ(places.size(), counts.size());
  std::vector<mpi::Piece<T>> bucket;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    copy_in(numbers_of<T>(test_world().rank(), i, counts[i]), places[i], stream);
    bucket.push_back({places[i], counts[i]});
  }
  std::swap(bucket[1], bucket[2]);  // an order in which not all follow each other
  transport->begin(bucket, stream);
  transport->finish();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    EXPECT_EQ(copy_out(places[i], counts[i], stream), sums_of<T>(i, counts[i])) << i;
  }
  EXPECT_NO_THROW(transport->check());
}

/// The last rank does not come. The others give up, say who is missing, and wait no longer.
TYPED_TEST(AllReduceKernels, GiveUp) {
  using T = TypeParam;
  if (test_world().size() == 1) GTEST_SKIP() << "alone, there is nobody to wait for";
  const int last = test_world().size() - 1;
  for (const auto way : this->ways) {
    const cuda::Stream stream;
    PeerTransport<T> sums(test_world(), std::chrono::seconds(1));
    const Index count = 100;
    T* const place = sums.memory_for(std::vector<Index>{count}).front();
    const std::vector<T> own = numbers_of<T>(test_world().rank(), 1, count);
    copy_in(own, place, stream);
    if (test_world().rank() != last) {
      EXPECT_FALSE(sums.lost_rank());
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < 50; ++i) (sums.*way)(stream, {place, count});
      stream.synchronize();
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
      EXPECT_EQ(sums.lost_rank(), last);
      EXPECT_EQ(copy_out(place, count, stream), own) << "what is not whole is left alone";
    }
    test_world().wait_patiently();
  }
}

}  // namespace
}  // namespace stagewise
