// The subcommand convolution.

#include "01_serial/convolution.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "01_serial/average_pool.hpp"
#include "01_serial/elementwise.hpp"
#include "cli/text.hpp"
#include "ladders/program/commands.hpp"
#include "ladders/program/convolution_rungs.hpp"
#include "ladders/program/runner.hpp"
#include "tensor/counts.hpp"

namespace stagewise::ladder {
namespace {

/// "10 images of 28x28x1 in float, with 32 filters of 5x5"
std::string describe(const ConvolutionOptions& o) {
  return count_of(o.images, "image") + " of " + by_times({o.size, o.size, o.channels}) + " in " + o.precision +
         ", with " + count_of(o.filters, "filter") + " of " + by_times({o.filter, o.filter});
}

/// How many values there are; doubles, because the products of sizes may overflow an integer.
struct Counts {
  double window = 0;  ///< that a filter sees at once
  double input = 0;
  double filter = 0;
  double bias = 0;
  double sum = 0;  ///< the convolution's output
  double pooled = 0;
  double image_columns = 0;  ///< of one image's im2col matrix

  double operations() const { return 2 * sum * window; }
};

Counts counts_of(const ConvolutionOptions& o) {
  const auto images = static_cast<double>(o.images);
  const auto channels = static_cast<double>(o.channels);
  const auto filters = static_cast<double>(o.filters);
  const auto pixels_of = [](Index side) { return static_cast<double>(side) * static_cast<double>(side); };
  const double window = pixels_of(o.filter) * channels;
  const double output_pixels = pixels_of(o.size - o.filter + 1);
  return {.window = window,
          .input = images * pixels_of(o.size) * channels,
          .filter = window * filters,
          .bias = filters,
          .sum = images * output_pixels * filters,
          .pooled = images * output_pixels * filters / (pooling_side * pooling_side),
          .image_columns = output_pixels * window};
}

/// @throws Error if the problem does not fit into memory.
template <typename T>
void check_layer_fits(const ConvolutionOptions& o) {
  const Counts counts = counts_of(o);
  const double given = counts.input + counts.filter + counts.bias;
  const double found = counts.sum + counts.pooled;
  constexpr double columns_bytes = 64 << 20;  // images_at_a_time(), at least one image
  const double columns =
      std::max(sizeof(T) * counts.image_columns,
               std::min(columns_bytes, sizeof(T) * static_cast<double>(o.images) * counts.image_columns));
  check_memory("the layer of " + describe(o), sizeof(T) * (given + found) + columns,
               (sizeof(T) + sizeof(double)) * (given + found) +
                   sizeof(double) * counts.sum);  // expected: before the relu, and behind it
}

/// Input, filter and bias, on the host and on the GPU, and what becomes of them.
template <typename T>
class Layer {
 public:
  Layer(const ConvolutionOptions& o, Random random, const cuda::Stream& stream)
      : problem_{.batch = o.images,
                 .height = o.size,
                 .width = o.size,
                 .in = o.channels,
                 .filter_height = o.filter,
                 .filter_width = o.filter,
                 .out = o.filters},
        host_input_(random_numbers<T>(o.images * o.size * o.size * o.channels, random)),
        host_filter_(random_numbers<T>(problem_.window() * o.filters, random)),
        host_bias_(random_numbers<T>(o.filters, random)) {
    copy_in(stream, host_input_, input_);
    copy_in(stream, host_filter_, filter_);
    copy_in(stream, host_bias_, bias_);
    if constexpr (has_nvcc && std::is_same_v<T, float>) {
      if (supports_texture(layer())) {
        texture_ = std::make_shared<Texture>(input_.data(), input_.elements());
      }
    }
  }

  LayerProblem<T> layer() {
    return {.convolution = problem_,
            .input = input_.data(),
            .filter = filter_.data(),
            .bias = bias_.data(),
            .columns = {columns_.data(), ladder::images_at_a_time<T>(problem_)},
            .texture = texture_.get(),
            .sum = sum_.data(),
            .output = output_.data()};
  }

  /// Computes by stage 01, in double.
  void compute_expected(bool with_pooling) {
    const std::vector<double> input(host_input_.begin(), host_input_.end());
    const std::vector<double> filter(host_filter_.begin(), host_filter_.end());
    expected_sum_.resize(static_cast<std::size_t>(sum_.elements()));
    serial::convolution(problem_, input.data(), filter.data(), expected_sum_.data());
    if (!with_pooling) return;
    const std::vector<double> bias(host_bias_.begin(), host_bias_.end());
    std::vector<double> activated(expected_sum_.size());
    serial::add_bias(problem_.output_pixels(), problem_.out, expected_sum_.data(), bias.data(), activated.data());
    serial::activate(Activation::relu, sum_.elements(), activated.data(), activated.data());
    expected_output_.resize(static_cast<std::size_t>(pooling().output_elements()));
    serial::average_pool(pooling(), activated.data(), expected_output_.data());
  }

  /// What clears the results, and compares the pooled ones, or those of the convolution.
  Runner::Work work(const Runner& runner, bool with_pooling) {
    const auto& expected = with_pooling ? expected_output_ : expected_sum_;
    const Index pixels = std::ssize(expected) / problem_.out;
    Runner::Work work = runner.work_on(with_pooling ? output_ : sum_, expected, pixels, problem_.out);
    work.prepare = [&] {
      poison(runner.stream(), sum_);
      poison(runner.stream(), output_);
    };
    return work;
  }

 private:
  PoolingProblem pooling() const {
    return {.batch = problem_.batch,
            .height = problem_.output_height(),
            .width = problem_.output_width(),
            .channels = problem_.out,
            .window = pooling_side};
  }

  ConvolutionProblem problem_;
  std::vector<T> host_input_;
  std::vector<T> host_filter_;
  std::vector<T> host_bias_;
  std::vector<double> expected_sum_;
  std::vector<double> expected_output_;
  Tensor<T> input_ = on_device<T>(std::ssize(host_input_));
  Tensor<T> filter_ = on_device<T>(std::ssize(host_filter_));
  Tensor<T> bias_ = on_device<T>(std::ssize(host_bias_));
  Tensor<T> columns_ = on_device<T>(ladder::images_at_a_time<T>(problem_) * ladder::im2col_elements(problem_));
  Tensor<T> sum_ = on_device<T>(problem_.output_pixels() * problem_.out);
  Tensor<T> output_ = on_device<T>(pooling().output_elements());
  std::shared_ptr<const Texture> texture_;
};

bool is_any_run(const Table& table) {
  return std::ranges::any_of(table.rows, [](const Row& row) { return row.skipped.empty(); });
}

template <typename T>
std::vector<Table> run_convolution(const ConvolutionOptions& o) {
  check_layer_fits<T>(o);
  const Counts counts = counts_of(o);
  Runner runner(o);
  Layer<T> operands(o, Random(o.seed), runner.stream());
  const LayerProblem<T> layer = operands.layer();

  // As that of an element of a product (gemm.cpp): each is a sum of as many products of numbers
  // that are uniform in [-1, 1) as a window has values.
  const double deviation = std::sqrt(counts.window) / 3;
  const Row sum_row{.bound = bound_of_sum<T>(counts.window, deviation),
                    .operations = counts.operations(),
                    .bytes = sizeof(T) * (counts.input + counts.filter + counts.sum)};
  // The bias and the pooling are four more additions; neither the relu nor a mean makes a
  // difference larger. The operations are the convolution's again, so that the rates can be
  // compared.
  const Row output_row{.bound = bound_of_sum<T>(counts.window + 4, std::hypot(deviation, 1 / std::sqrt(3.0))),
                       .operations = counts.operations(),
                       .bytes = sizeof(T) * (counts.input + counts.filter + counts.bias + counts.pooled)};
  const bool picks_direct =
      shared_memory::pick_convolution(layer.convolution) == shared_memory::ConvolutionVariant::direct;
  Table sums{.rows = rows_of(convolution_ladder<T>(), o.rung, layer, sum_row, picks_direct ? "direct" : "implicit")};
  Table outputs{"whole layer", "", rows_of(layer_ladder<T>(), o.rung, layer, output_row)};
  const Row& first = sums.rows.empty() ? output_row : sum_row;
  const bool has_both = !sums.rows.empty() && !outputs.rows.empty();
  const std::string of_layer = has_both ? ", those of the whole layer " + scientific(output_row.bound) : "";
  print_problem({{"layer", describe(o)},
                 {"check", "each element is at most " + scientific(first.bound) + " from stage 01's in double" +
                               of_layer + "; inputs are random in [-1, 1)"}},
                first.bytes, first.operations, o.precision);

  operands.compute_expected(is_any_run(outputs));
  std::vector<Table> tables;
  const auto run_table = [&](Table& table, Ladder<LayerProblem<T>> ladder, bool with_pooling) {
    if (table.rows.empty()) return;
    runner.run(table, ladder, layer, operands.work(runner, with_pooling));
    tables.push_back(table);
  };
  run_table(sums, convolution_ladder<T>(), false);
  run_table(outputs, layer_ladder<T>(), true);
  return tables;
}

}  // namespace

void declare(CLI::App& command, ConvolutionOptions& options) {
  add_size(command, "images", "images in the batch", options.images);
  add_size(command, "size", "height and width of an image", options.size);
  add_size(command, "channels", "channels of an image", options.channels);
  add_size(command, "filter", "height and width of a filter", options.filter);
  add_size(command, "filters", "filters, each a channel of the output", options.filters);
  std::vector<std::string> rungs = names_of(convolution_ladder<float>());
  for (const std::string& name : names_of(layer_ladder<float>())) rungs.push_back(name);
  add_options(command, options, rungs);
}

Results run(const ConvolutionOptions& o) {
  if (o.filter > o.size) {
    throw UsageError("--filter " + std::to_string(o.filter) + " is larger than --size " + std::to_string(o.size) +
                     ": it must fit into the image");
  }
  return {
      "convolution",
      {{"images", o.images}, {"size", o.size}, {"channels", o.channels}, {"filter", o.filter}, {"filters", o.filters}},
      o.precision == "double" ? run_convolution<double>(o) : run_convolution<float>(o)};
}

}  // namespace stagewise::ladder
