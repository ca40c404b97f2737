#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "data/generators.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "tensor/option_error.hpp"

namespace stagewise {
namespace {

void expect_at_least(const std::string& option, Index value, Index least) {
  if (value >= least) return;
  throw OptionError("--" + option + " is " + std::to_string(value) + ", but must be at least " + std::to_string(least),
                    {option});
}

}  // namespace

void check(const GaussianOptions& options) {
  expect_at_least("features", options.features, 1);
  expect_at_least("classes", options.classes, 2);
  expect_at_least("samples", options.samples, 1);
  if (!std::isfinite(options.spacing)) {
    throw OptionError("--spacing must be a finite number", {"spacing"});
  }
  if (!std::isfinite(options.deviation) || options.deviation < 0) {
    throw OptionError("--deviation must be a finite number of at least 0", {"deviation"});
  }
  constexpr Index max_classes = 65536;
  if (options.classes > max_classes) {
    throw OptionError(
        "--classes is " + std::to_string(options.classes) + ", but must be at most " + std::to_string(max_classes),
        {"classes"});
  }
  constexpr Index max_values = Index{1} << 33;  // 64 GiB
  if (options.features > max_values / options.samples) {
    throw OptionError("--samples " + std::to_string(options.samples) + " of --features " +
                          std::to_string(options.features) + " are more than " + with_thousands(max_values) +
                          " numbers",
                      {"samples", "features"});
  }
}

Dataset make_gaussian(const GaussianOptions& options, Index count, std::uint64_t seed, Purpose purpose) {
  check(options);
  const auto samples = static_cast<std::size_t>(count);
  const auto features = static_cast<std::size_t>(options.features);
  std::vector<double> x;
  x.reserve(samples * features);
  std::vector<std::int32_t> labels(samples);
  //! [gaussian]
  for (std::size_t i = 0; i < samples; ++i) {
    labels[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(options.classes));
    Random random(seed, purpose, i);
    for (std::size_t j = 0; j < features; ++j) {
      x.push_back(labels[i] * options.spacing + options.deviation * random.normal());
    }
  }
  //! [gaussian]
  return Dataset({options.features}, options.classes, std::move(x), std::move(labels));
}

Dataset make_step(Index count, std::uint64_t seed, Purpose purpose) {
  const auto samples = static_cast<std::size_t>(count);
  std::vector<double> x(samples);
  std::vector<std::int32_t> labels(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    Random random(seed, purpose, i);
    x[i] = random.uniform();
    labels[i] = x[i] >= 0.5 ? 1 : 0;
  }
  return Dataset({1}, 2, std::move(x), std::move(labels));
}

}  // namespace stagewise
