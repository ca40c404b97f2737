#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/data_sets/formats.hpp"
#include "io/data_sets/input_file.hpp"
#include "io/file.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

/// The first four bytes of a file: two zeros, 8 for "unsigned bytes", the number of dimensions.
constexpr std::uint32_t images_magic = 0x00000803;
constexpr std::uint32_t labels_magic = 0x00000801;
/// The same of integers of four bytes, in one dimension or two, of which the second describes a label further.
constexpr std::uint32_t wide_labels_magic = 0x00000c01;
constexpr std::uint32_t described_labels_magic = 0x00000c02;

std::string hexadecimal(std::uint32_t value) {
  std::array<char, 11> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", value);
  return text.data();
}

/// The next four bytes as a big-endian number.
std::uint32_t read_number(InputFile& file) {
  const std::vector<std::uint8_t> bytes = file.read(4);
  if (bytes.size() < 4) throw Error(file.path().string() + " ends within its IDX header");
  //! [big_endian]
  std::uint32_t value = 0;
  for (const std::uint8_t byte : bytes) value = (value << 8U) | byte;
  //! [big_endian]
  return value;
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return b > 0 && a > most / b ? most : a * b;  // a header may claim anything
}

std::string kind_of(std::uint32_t magic) { return magic == images_magic ? "images" : "labels"; }

std::uint32_t expect_magic(InputFile& file, std::uint32_t expected) {
  const std::uint32_t found = read_number(file);
  const bool is_wide = found == wide_labels_magic || found == described_labels_magic;
  if (found == expected || (is_wide && expected == labels_magic)) return found;
  const bool is_other_kind = found == images_magic || found == labels_magic;
  throw Error(file.path().string() + " is not an IDX file of " + kind_of(expected) +
              (is_other_kind ? " but one of " + kind_of(found) : "") + ": it begins with " + hexadecimal(found) +
              " where " + hexadecimal(expected) + " was expected");
}

/// Everything behind the header, which must be exactly `count` bytes.
/// @param announced what the header says is there, for the error's sentence.
std::vector<std::uint8_t> read_body(InputFile& file, std::uint64_t count, const std::string& announced) {
  std::vector<std::uint8_t> body = file.read(count);
  if (body.size() < count) {
    throw Error(file.path().string() + " is cut short: its header announces " + announced + ", but only " +
                count_of(std::ssize(body), "byte") + (body.size() == 1 ? " follows it" : " follow it"));
  }
  if (!file.at_end()) {
    throw Error(file.path().string() + " is longer than its header says, which announces " + announced);
  }
  return body;
}

struct Images {
  Index count;
  Index height;
  Index width;
  std::vector<std::uint8_t> pixels;
};

Images read_images(const fs::path& path) {
  InputFile file(path);
  expect_magic(file, images_magic);
  const std::uint32_t count = read_number(file);
  const std::uint32_t height = read_number(file);
  const std::uint32_t width = read_number(file);
  const std::string announced =
      count_of(count, "image") + " of " + std::to_string(height) + " x " + std::to_string(width) + " pixels";
  if (count == 0 || height == 0 || width == 0) {
    throw Error(path.string() + " holds nothing to learn from: its header announces " + announced);
  }
  return {count, height, width, read_body(file, product(std::uint64_t{height} * width, count), announced)};
}

std::vector<std::int32_t> read_labels(const fs::path& path) {
  InputFile file(path);
  const std::uint32_t magic = expect_magic(file, labels_magic);
  const std::uint32_t count = read_number(file);
  const std::uint64_t columns = magic == described_labels_magic ? read_number(file) : 1;
  const std::string announced = count_of(count, "label");
  if (magic == labels_magic || columns == 0) {
    const auto body = read_body(file, count * columns, announced);
    return {body.begin(), body.end()};
  }
  const std::uint64_t width = 4 * columns;
  const std::vector<std::uint8_t> body = read_body(file, product(width, count), announced);
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < body.size(); i += width) {
    if (body[i] != 0 || body[i + 1] != 0) {
      throw Error("label " + std::to_string(i / width) + " (counted from 0) in " + path.string() +
                  " is no class from 0 to 65,535, the largest that is used");
    }
    labels.push_back(body[i + 2] << 8 | body[i + 3]);
  }
  return labels;
}

/// The number of classes to use.
/// @param classes as for read_idx().
int check_labels(const std::vector<std::int32_t>& labels, int classes, const fs::path& path) {
  if (classes == 0) return 1 + *std::max_element(labels.begin(), labels.end());
  const auto wrong = std::find_if(labels.begin(), labels.end(), [&](std::int32_t label) { return label >= classes; });
  if (wrong != labels.end()) {
    throw Error("label " + std::to_string(wrong - labels.begin()) + " (counted from 0) in " + path.string() + " is " +
                std::to_string(*wrong) + ", but the classes are 0 to " + std::to_string(classes - 1));
  }
  return classes;
}

void append_number(std::vector<std::uint8_t>& bytes, Index value) {
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    bytes.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> shift));
  }
}

/// Replaces `from`, which must be in the text, by `to`.
bool replace(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t place = text.find(from);
  if (place == std::string::npos) return false;
  text.replace(place, from.size(), to);
  return true;
}

}  // namespace

Dataset read_idx(const fs::path& images, const fs::path& labels, int classes) {
  Images read = read_images(images);
  std::vector<std::int32_t> classes_read = read_labels(labels);
  if (static_cast<std::uint64_t>(read.count) != classes_read.size()) {
    throw Error(images.string() + " holds " + count_of(read.count, "image") + ", but " + labels.string() + " holds " +
                count_of(std::ssize(classes_read), "label"));
  }
  const int count = check_labels(classes_read, classes, labels);
  return Dataset({read.height, read.width, 1}, count, std::move(read.pixels), std::move(classes_read));
}

Dataset read_idx_images(const fs::path& images) {
  Images read = read_images(images);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(read.count));
  return Dataset({read.height, read.width, 1}, 1, std::move(read.pixels), std::move(labels));
}

void write_idx(const Dataset& dataset, const fs::path& images, const fs::path& labels) {
  const Shape& sample = dataset.sample_shape();
  if (dataset.pixels() == nullptr || sample.rank() != 3 || sample[2] != 1) {
    throw Error("cannot write " + images.string() +
                ": IDX files hold grey images, not samples of "
                "shape " +
                sample.to_string());
  }
  if (dataset.classes() > 256) {
    throw Error("cannot write " + labels.string() +
                ": a label of an IDX file is one byte, but there "
                "are " +
                count_of(dataset.classes(), "class", "classes"));
  }
  std::vector<std::uint8_t> header;
  append_number(header, images_magic);
  for (const Index length : {dataset.size(), sample[0], sample[1]}) append_number(header, length);
  NewFile images_file(images, "images");
  images_file.write(std::as_bytes(std::span(header)));
  images_file.write(std::as_bytes(std::span(*dataset.pixels())));

  std::vector<std::uint8_t> all_labels;
  append_number(all_labels, labels_magic);
  append_number(all_labels, dataset.size());
  all_labels.insert(all_labels.end(), dataset.labels().begin(), dataset.labels().end());
  NewFile labels_file(labels, "labels");
  labels_file.write(std::as_bytes(std::span(all_labels)));

  images_file.complete();
  labels_file.complete();
  images_file.publish();
  labels_file.publish();
}

fs::path idx_labels_path(const fs::path& images) {
  std::string name = images.filename().string();
  if (!replace(name, "images", "labels")) {
    throw Error("cannot tell which labels belong to " + images.string() +
                ": the name of an IDX images file has \"images\" in it, "
                "as in train-images-idx3-ubyte");
  }
  replace(name, "idx3", "idx1");
  return images.parent_path() / name;
}

}  // namespace stagewise
