#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "io/data_sets/formats.hpp"
#include "io/data_sets/input_file.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

constexpr Index side = 32;
constexpr Index colors = 3;
constexpr int class_count = 10;
constexpr std::size_t plane_bytes = side * side;
constexpr std::size_t record_bytes = 1 + colors * plane_bytes;

//! [planes]
void append_pixels(const std::vector<std::uint8_t>& record, std::vector<std::uint8_t>& pixels) {
  const std::uint8_t* const red = record.data() + 1;
  const std::uint8_t* const green = red + plane_bytes;
  const std::uint8_t* const blue = green + plane_bytes;
  for (std::size_t i = 0; i < plane_bytes; ++i) {
    pixels.push_back(red[i]);
    pixels.push_back(green[i]);
    pixels.push_back(blue[i]);
  }
}
//! [planes]

void read_file(const std::filesystem::path& path, std::vector<std::uint8_t>& pixels,
               std::vector<std::int32_t>& labels) {
  InputFile file(path);
  std::uint64_t records = 0;
  for (; !file.at_end(); ++records) {
    const std::vector<std::uint8_t> record = file.read(record_bytes);
    if (record.size() < record_bytes) {
      throw Error(path.string() + " is cut short or no CIFAR-10 file: behind " +
                  count_of(static_cast<std::int64_t>(records), "whole record") + " of " +
                  count_of(record_bytes, "byte") + " it ends with " +
                  count_of(static_cast<std::int64_t>(record.size()), "byte"));
    }
    if (record[0] >= class_count) {
      throw Error("the label of record " + std::to_string(records) + " (counted from 0) in " + path.string() + " is " +
                  std::to_string(record[0]) + ", but the classes are 0 to " + std::to_string(class_count - 1));
    }
    labels.push_back(record[0]);
    append_pixels(record, pixels);
  }
  if (records == 0) throw Error(path.string() + " holds not one CIFAR-10 record");
}

}  // namespace

Dataset read_cifar10(const std::vector<std::filesystem::path>& files) {
  std::vector<std::uint8_t> pixels;
  std::vector<std::int32_t> labels;
  for (const std::filesystem::path& path : files) read_file(path, pixels, labels);
  return Dataset({side, side, colors}, class_count, std::move(pixels), std::move(labels));
}

}  // namespace stagewise
