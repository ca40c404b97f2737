#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "01_serial/average_pool.hpp"
#include "01_serial/convolution.hpp"
#include "support.hpp"

namespace stagewise {
namespace {

template <typename T>
class SerialConvolution : public testing::Test {};

TYPED_TEST_SUITE(SerialConvolution, Precisions, PrecisionNames);

/// Images and filters that are no squares, of one pixel, as large as each other; channels of both
/// sides below, at and beyond the 16 that the input gradient is added up in.
const std::vector<ConvolutionProblem> problems = {
    // batch, height, width, in, filter height, filter width, out
    {1, 1, 1, 1, 1, 1, 1},   {3, 4, 7, 3, 1, 1, 1},  {1, 7, 4, 1, 1, 3, 3},
    {3, 5, 8, 1, 2, 3, 1},   {3, 8, 5, 3, 4, 2, 17}, {1, 6, 9, 17, 3, 5, 3},
    {3, 4, 6, 17, 3, 1, 16}, {1, 9, 3, 3, 9, 3, 33}, {3, 8, 5, 1, 3, 3, 17},
    {3, 6, 7, 17, 5, 5, 17},
};

Index input_elements(const ConvolutionProblem& p) {
  return p.batch * p.height * p.width * p.in;
}

Index filter_elements(const ConvolutionProblem& p) {
  return p.filter_height * p.filter_width * p.in * p.out;
}

Index output_elements(const ConvolutionProblem& p) {
  return p.output_pixels() * p.out;
}

std::string name_of(const ConvolutionProblem& p) {
  return std::to_string(p.batch) + " images " + std::to_string(p.height) + "x" +
         std::to_string(p.width) + "x" + std::to_string(p.in) + ", filter " +
         std::to_string(p.filter_height) + "x" + std::to_string(p.filter_width) + "x" +
         std::to_string(p.in) + "x" + std::to_string(p.out);
}

/// Calls `visit(i, f, o)` for every product of the definition, with the numbers of the elements of
/// input, filter and output: the shapes written out, nothing taken from the code under test.
template <typename Visit>
void for_each_product(const ConvolutionProblem& p, const Visit& visit) {
  const Index rows = p.height - p.filter_height + 1;
  const Index cols = p.width - p.filter_width + 1;
  for (Index b = 0; b < p.batch; ++b) {
    for (Index o = 0; o < p.out; ++o) {
      for (Index c = 0; c < p.in; ++c) {
        for (Index y = 0; y < rows; ++y) {
          for (Index x = 0; x < cols; ++x) {
            for (Index i = 0; i < p.filter_height; ++i) {
              for (Index j = 0; j < p.filter_width; ++j) {
                visit(((b * p.height + y + i) * p.width + x + j) * p.in + c,
                      ((i * p.filter_width + j) * p.in + c) * p.out + o,
                      ((b * rows + y) * cols + x) * p.out + o);
              }
            }
          }
        }
      }
    }
  }
}

/// Sums of products, how large they are without signs, and how many there are: what rounding can
/// do to a sum grows with both.
struct Sums {
  explicit Sums(Index n) : values(static_cast<std::size_t>(n), 0), sizes(values), terms(values) {}

  void add(Index at, long double x, long double y) {
    values[at] += x * y;
    sizes[at] += std::abs(x * y);
    terms[at] += 1;
  }

  template <typename T>
  std::vector<long double> bounds() const {
    std::vector<long double> result(values.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = (terms[i] + 1) * std::numeric_limits<T>::epsilon() * sizes[i];
    }
    return result;
  }

  std::vector<long double> values;
  std::vector<long double> sizes;
  std::vector<long double> terms;
};

TYPED_TEST(SerialConvolution, Forward) {
  using T = TypeParam;
  for (const ConvolutionProblem& p : problems) {
    SCOPED_TRACE(name_of(p));
    const auto input = random_values<T>(input_elements(p), 1, -1, 2);
    const auto filter = random_values<T>(filter_elements(p), 2);
    Sums expected(output_elements(p));
    for_each_product(p, [&](Index i, Index f, Index o) { expected.add(o, input[i], filter[f]); });

    std::vector<T> output = poison<T>(output_elements(p));
    serial::convolution(p, input.data(), filter.data(), output.data());
    expect_within(output, expected.values, expected.bounds<T>());
  }
}

TYPED_TEST(SerialConvolution, Backward) {
  using T = TypeParam;
  for (const ConvolutionProblem& p : problems) {
    SCOPED_TRACE(name_of(p));
    const auto input = random_values<T>(input_elements(p), 1, -1, 2);
    const auto filter = random_values<T>(filter_elements(p), 2);
    const auto doutput = random_values<T>(output_elements(p), 3);
    Sums expected_dinput(input_elements(p));
    Sums expected_dfilter(filter_elements(p));
    for_each_product(p, [&](Index i, Index f, Index o) {
      expected_dinput.add(i, filter[f], doutput[o]);
      expected_dfilter.add(f, input[i], doutput[o]);
    });

    std::vector<T> dinput = poison<T>(input_elements(p));
    std::vector<T> dfilter = poison<T>(filter_elements(p));
    serial::convolution_backward(p, input.data(), filter.data(), doutput.data(), dinput.data(),
                                 dfilter.data());
    expect_within(dinput, expected_dinput.values, expected_dinput.bounds<T>());
    expect_within(dfilter, expected_dfilter.values, expected_dfilter.bounds<T>());

    // The first layer of a network asks for no input gradient; the filter's is the same.
    std::vector<T> dfilter_alone = poison<T>(filter_elements(p));
    serial::convolution_backward<T>(p, input.data(), filter.data(), doutput.data(), nullptr,
                                    dfilter_alone.data());
    EXPECT_EQ(dfilter_alone, dfilter);
  }
}

/// No samples, no output; but the gradient of a filter that has seen nothing is zero, not
/// undefined.
TYPED_TEST(SerialConvolution, OfAnEmptyBatch) {
  using T = TypeParam;
  ConvolutionProblem p = problems.back();
  p.batch = 0;
  const auto filter = random_values<T>(filter_elements(p), 2);
  std::vector<T> dfilter = poison<T>(filter_elements(p));
  serial::convolution<T>(p, nullptr, filter.data(), nullptr);
  serial::convolution_backward<T>(p, nullptr, filter.data(), nullptr, nullptr, dfilter.data());
  EXPECT_EQ(dfilter, std::vector<T>(dfilter.size(), 0));
}

const std::vector<PoolingProblem> poolings = {
    {.batch = 1, .height = 1, .width = 1, .channels = 1, .window = 1},
    {.batch = 3, .height = 2, .width = 5, .channels = 3, .window = 1},
    {.batch = 1, .height = 2, .width = 2, .channels = 17, .window = 2},
    {.batch = 3, .height = 6, .width = 2, .channels = 3, .window = 2},
    {.batch = 1, .height = 4, .width = 10, .channels = 1, .window = 2},
    {.batch = 3, .height = 3, .width = 9, .channels = 17, .window = 3},
    {.batch = 1, .height = 12, .width = 6, .channels = 3, .window = 3},
};

std::string name_of(const PoolingProblem& p) {
  return std::to_string(p.batch) + " images " + std::to_string(p.height) + "x" +
         std::to_string(p.width) + "x" + std::to_string(p.channels) + ", window " +
         std::to_string(p.window);
}

/// Calls `visit(i, o)` for every element of the input and the element of the output that it is part
/// of, window by window.
template <typename Visit>
void for_each_pooled(const PoolingProblem& p, const Visit& visit) {
  const Index rows = p.height / p.window;
  const Index cols = p.width / p.window;
  for (Index o = 0; o < p.batch * rows * cols * p.channels; ++o) {
    const Index c = o % p.channels;
    const Index x = o / p.channels % cols;
    const Index y = o / p.channels / cols % rows;
    const Index b = o / p.channels / cols / rows;
    for (Index i = 0; i < p.window; ++i) {
      for (Index j = 0; j < p.window; ++j) {
        const Index row = b * p.height + y * p.window + i;
        visit((row * p.width + x * p.window + j) * p.channels + c, o);
      }
    }
  }
}

TYPED_TEST(SerialConvolution, AveragePool) {
  using T = TypeParam;
  for (const PoolingProblem& p : poolings) {
    SCOPED_TRACE(name_of(p));
    const Index pixels = p.batch * p.height * p.width;
    const auto input = random_values<T>(pixels * p.channels, 4, -1, 2);
    Sums expected(pixels * p.channels / (p.window * p.window));
    const long double share = 1.0L / static_cast<long double>(p.window * p.window);
    for_each_pooled(p, [&](Index i, Index o) { expected.add(o, input[i], share); });

    std::vector<T> output = poison<T>(static_cast<Index>(expected.values.size()));
    serial::average_pool(p, input.data(), output.data());
    expect_within(output, expected.values, expected.bounds<T>());
  }
}

/// The filter is laid over the image as it is, not turned around as in a mathematician's
/// convolution; channels are innermost. By hand, so that the definition above has a witness.
TYPED_TEST(SerialConvolution, ByHand) {
  using T = TypeParam;
  const ConvolutionProblem p = {.batch = 1,
                                .height = 2,
                                .width = 3,
                                .in = 1,
                                .filter_height = 2,
                                .filter_width = 2,
                                .out = 2};
  const std::vector<T> image = {1, 2, 3, 4, 5, 6};
  // Output channel 0 picks the window's lower left pixel, channel 1 ten times its upper right one.
  const std::vector<T> filter = {0, 0, 0, 10, 1, 0, 0, 0};
  std::vector<T> output = poison<T>(4);
  serial::convolution(p, image.data(), filter.data(), output.data());
  EXPECT_EQ(output, (std::vector<T>{4, 20, 5, 30}));
}

}  // namespace
}  // namespace stagewise
