#include "data/generators.hpp"

namespace stagewise {

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
