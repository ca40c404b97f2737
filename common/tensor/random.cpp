#include "tensor/random.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace stagewise {
namespace {

/// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014): every input bit reaches every output
/// bit, so that neighbouring seeds and epochs give unrelated streams.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

}  // namespace

Random::Random(std::uint64_t seed, Purpose purpose, std::uint64_t epoch, std::uint64_t worker)
    : engine_(mix(mix(mix(mix(seed) + static_cast<std::uint64_t>(purpose)) + epoch) + worker)) {}

double Random::uniform() { return static_cast<double>(bits() >> 11U) * 0x1.0p-53; }

double Random::uniform(double low, double high) { return low + (high - low) * uniform(); }

double Random::normal() {
  if (has_spare_normal_) {
    has_spare_normal_ = false;
    return spare_normal_;
  }
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));  // 1 - u is never 0
  const double angle = 2 * std::numbers::pi * uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_normal_ = true;
  return radius * std::cos(angle);
}

std::uint64_t Random::below(std::uint64_t bound) {
  // 2^64 mod bound numbers at the bottom would make small results too likely: draw again for those.
  const std::uint64_t excess = (0 - bound) % bound;
  std::uint64_t draw = bits();
  while (draw < excess) draw = bits();
  return draw % bound;
}

void shuffle(std::vector<std::uint32_t>& order, Random& random) {
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random.below(i)]);
  }
}

}  // namespace stagewise
