#include "io/checksum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <zlib.h>

namespace stagewise {
namespace {

class Checksum {
 public:
  explicit Checksum(bool in_float) : in_float_(in_float) {}

  void add(const std::string& text) { add(text.c_str(), text.size() + 1); }

  template <typename Unsigned>
  void add(Unsigned number) {
    static_assert(std::endian::native == std::endian::little, "as the bytes are described");
    add(&number, sizeof(number));
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

  std::uint32_t value() const { return static_cast<std::uint32_t>(value_); }

 private:
  void add(const void* bytes, std::size_t size) {
    value_ = ::crc32_z(value_, static_cast<const Bytef*>(bytes), size);
  }

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

  bool in_float_;
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

}  // namespace stagewise
