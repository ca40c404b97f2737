/// @file
/// Stage 03 computes what stage 01 computes, in each of its forms.

#include "03_shared_memory/shared_memory_backend.hpp"
#include "cross_stage/primitives.hpp"
#include "cuda/divide.cuh"

namespace stagewise {
namespace {

using shared_memory::ConvolutionForm;
using shared_memory::FoldBias;

/// @tparam Form has the options; its name is part of the tests'.
template <typename Form>
struct SharedMemory {
  static constexpr bool adds_in_order = false;
  template <typename T>
  static std::unique_ptr<Backend<T>> make() {
    return std::make_unique<SharedMemoryBackend<T>>(Form::options());
  }
};

struct Default : SharedMemory<Default> {
  static SharedMemoryOptions options() { return {}; }
};
struct Unrolled : SharedMemory<Unrolled> {
  static SharedMemoryOptions options() {
    return {.convolution = ConvolutionForm::unrolled, .fold_bias = FoldBias::in_place};
  }
};
struct Implicit : SharedMemory<Implicit> {
  static SharedMemoryOptions options() {
    return {.convolution = ConvolutionForm::implicit, .fold_bias = FoldBias::out_of_place};
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Stage03, Primitives, StageTypes<Default>, StageNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Stage03Unrolled, Primitives, StageTypes<Unrolled>, StageNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Stage03Implicit, Primitives, StageTypes<Implicit>, StageNames);

/// A batch that is unrolled piece by piece gives what it gives in one piece.
TEST(Convolution, BatchesGoThroughALimitedMemoryPieceByPiece) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  const ConvolutionProblem p = {.batch = 7,
                                .height = 9,
                                .width = 8,
                                .in = 3,
                                .filter_height = 3,
                                .filter_width = 2,
                                .out = 5};
  SharedMemoryBackend<double> backend;
  shared_memory::Workspace workspace;
  const Index inputs = p.batch * p.height * p.width * p.in;
  const Index weights = p.filter_height * p.filter_width * p.in * p.out;
  const Index outputs = p.output_pixels() * p.out;
  DeviceArray input(backend, random_values<double>(inputs, 1));
  DeviceArray filter(backend, random_values<double>(weights, 2));
  DeviceArray doutput(backend, random_values<double>(outputs, 3));
  DeviceArray memory(backend, poison<double>(7 * shared_memory::unrolled_elements(p)));

  struct Results {
    std::vector<double> output;
    std::vector<double> dinput;
    std::vector<double> dfilter;
  };
  const auto run = [&](Index images) {
    DeviceArray output(backend, poison<double>(outputs));
    DeviceArray dinput(backend, poison<double>(inputs));
    DeviceArray dfilter(backend, poison<double>(weights));
    const shared_memory::UnrolledImages<double> unrolled = {memory.get(), images};
    shared_memory::convolution<double>(nullptr, ConvolutionForm::unrolled, p, input.get(),
                                       filter.get(), output.get(), unrolled, workspace);
    shared_memory::convolution_backward<double>(nullptr, ConvolutionForm::unrolled, p, input.get(),
                                                filter.get(), doutput.get(), dinput.get(),
                                                dfilter.get(), unrolled, workspace);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
    return Results{output.read(backend), dinput.read(backend), dfilter.read(backend)};
  };
  const Results whole = run(7);
  for (const Index images : {1, 2, 3}) {
    const Results pieces = run(images);
    EXPECT_EQ(pieces.output, whole.output) << images;
    EXPECT_EQ(pieces.dinput, whole.dinput) << images;
    ASSERT_EQ(pieces.dfilter.size(), whole.dfilter.size());
    for (std::size_t i = 0; i < whole.dfilter.size(); ++i) {
      EXPECT_NEAR(pieces.dfilter[i], whole.dfilter[i], 1e-13) << images;  // another order
    }
  }
}

TEST(Divider, DividesAsTheProcessorDoes) {
  constexpr int most = std::numeric_limits<int>::max();
  for (const int divisor :
       {1, 2, 3, 5, 7, 10, 25, 28, 64, 641, 65'535, 65'536, 65'537, most / 2, most - 1, most}) {
    const cuda::Divider by(divisor);
    for (const int number : {0, 1, 2, 3, divisor - 1, divisor, most / 3, most - 1, most}) {
      EXPECT_EQ(by.divide(number).quotient, number / divisor) << number << " / " << divisor;
      EXPECT_EQ(by.divide(number).remainder, number % divisor) << number << " / " << divisor;
    }
    Random random(static_cast<std::uint64_t>(divisor));
    for (int i = 0; i < 2000; ++i) {
      const auto number = static_cast<int>(random.below(std::uint64_t{1} << 31U));
      ASSERT_EQ(by.divide(number).quotient, number / divisor) << number << " / " << divisor;
    }
  }
}

}  // namespace
}  // namespace stagewise
