#include "io/checksum.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <zlib.h>

#include "tensor/digest.hpp"

namespace stagewise {
namespace {

class Checksum {
 public:
  explicit Checksum(bool in_float) : in_float_(in_float) {}

  void add(const std::string& text) {
    for (const char c : text) add(static_cast<std::uint8_t>(c));
    add(std::uint8_t{0});
  }

  template <typename Unsigned>
  void add(Unsigned number) {
    constexpr unsigned byte = 8;
    if (buffer_.size() - used_ < sizeof(number)) digest();
    for (std::size_t i = 0; i < sizeof(number); ++i) {
      buffer_[used_++] = static_cast<Bytef>(number >> (byte * i));
    }
  }

  void add(const std::vector<ParameterValues>& parameters) {
    std::vector<const ParameterValues*> sorted;
    for (const ParameterValues& parameter : parameters) sorted.push_back(&parameter);
    std::sort(sorted.begin(), sorted.end(),
              [](const auto* a, const auto* b) { return a->name < b->name; });
    for (const ParameterValues* const parameter : sorted) {
      add(parameter->name);
      for (int i = 0; i < parameter->shape.rank(); ++i) {
        add(static_cast<std::uint64_t>(parameter->shape[i]));
      }
      for (const double value : parameter->values) add_value(value);
    }
  }

  std::uint32_t value() {
    digest();
    return static_cast<std::uint32_t>(value_);
  }

 private:
  /// As the file has it: what is too large for a float is infinite there.
  void add_value(double value) {
    if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
    if (!in_float_) return add(std::bit_cast<std::uint64_t>(value));
    const bool fits = !(std::abs(value) > std::numeric_limits<float>::max());
    const float stored = fits ? static_cast<float>(value)
                              : std::copysign(std::numeric_limits<float>::infinity(),
                                              static_cast<float>(std::copysign(1.0, value)));
    add(std::bit_cast<std::uint32_t>(stored));
  }

  void digest() {
    value_ = ::crc32(value_, buffer_.data(), static_cast<uInt>(used_));
    used_ = 0;
  }

  bool in_float_;
  std::array<Bytef, 4096> buffer_{};
  std::size_t used_ = 0;
  uLong value_ = ::crc32(0, nullptr, 0);
};

}  // namespace

std::uint32_t checksum_of(const Checkpoint& checkpoint) {
  const bool in_float = checkpoint.precision == "float";
  Checksum checksum(in_float);
  checksum.add(checkpoint.model);
  checksum.add(std::string(in_float ? "float" : "double"));
  checksum.add(checkpoint.seed);
  checksum.add(static_cast<std::uint64_t>(checkpoint.epoch));
  checksum.add(static_cast<std::uint64_t>(checkpoint.step));
  for (const auto& [name, value] : checkpoint.settings) {
    checksum.add(name);
    checksum.add(value);
  }
  checksum.add(checkpoint.parameters);
  for (const std::vector<ParameterValues>& worker : checkpoint.workers) checksum.add(worker);
  checksum.add(checkpoint.optimizer);
  return checksum.value();
}

std::uint64_t digest_of(const Checkpoint& checkpoint) {
  Digest digest;
  digest.add_all(checkpoint.model);
  digest.add_all(checkpoint.precision);
  for (const std::uint64_t number : {checkpoint.seed, static_cast<std::uint64_t>(checkpoint.epoch),
                                     static_cast<std::uint64_t>(checkpoint.step)}) {
    digest.add(number);
  }
  for (const auto& [name, value] : checkpoint.settings) {
    digest.add_all(name);
    digest.add_all(value);
  }
  const auto add = [&](const std::vector<ParameterValues>& parameters) {
    for (const ParameterValues& parameter : parameters) {
      digest.add_all(parameter.name);
      digest.add_all(parameter.values);
    }
  };
  add(checkpoint.parameters);
  for (const std::vector<ParameterValues>& worker : checkpoint.workers) add(worker);
  add(checkpoint.optimizer);
  return digest.value();
}

}  // namespace stagewise
