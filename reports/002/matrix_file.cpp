#include "reports/002/matrix_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <span>
#include <string>
#include <system_error>

#include "io/file.hpp"
#include "io/regular_file.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

//! [header]
constexpr std::array<std::uint8_t, 8> magic = {0x93, 'C', 'S', '3', '7', '8', 'H', 0};
constexpr std::size_t header_bytes = magic.size() + 2 * sizeof(std::uint32_t);

/// The least significant byte first.
std::uint32_t little_endian(const std::uint8_t* bytes) {
  return bytes[0] | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 |
         std::uint32_t{bytes[3]} << 24;
}
//! [header]

void append(std::vector<std::uint8_t>& bytes, std::uint32_t number) {
  for (const int shift : {0, 8, 16, 24}) {
    bytes.push_back(static_cast<std::uint8_t>(number >> shift));
  }
}

std::string size_of(const Matrix& matrix) {
  return std::to_string(matrix.height) + " x " + std::to_string(matrix.width);
}

/// Fits: the product of two numbers of 32 bits has at most 64.
std::uint64_t count_of(const Matrix& matrix) {
  return std::uint64_t{matrix.height} * matrix.width;
}

std::vector<std::uint8_t> contents_of(const fs::path& path) {
  const auto failure = [&](const std::string& reason) {
    return Error("the matrix " + path.string() + " cannot be read: " + reason);
  };
  const std::string objection = objection_to_reading(path);
  if (!objection.empty()) throw failure(objection);
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) throw failure(error.message());

  std::ifstream file(path, std::ios::binary);
  if (!file) throw failure("it may not be opened");
  std::vector<std::uint8_t> bytes(size);
  // A stream reads characters; these are the same bytes.
  // NOLINTNEXTLINE(*-reinterpret-cast)
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size))) {
    throw failure("its bytes could not be read");
  }
  return bytes;
}

/// @param name of the file, for the sentence.
void expect_usable(const Matrix& matrix, const std::string& name) {
  if (matrix.height == 0 || matrix.width == 0) {
    throw Error(name + " has a matrix of " + size_of(matrix) + ", but neither may be 0");
  }
  const auto odd = std::find_if(matrix.values.begin(), matrix.values.end(),
                                [](float value) { return !std::isfinite(value); });
  if (odd == matrix.values.end()) return;
  const auto place = static_cast<std::uint64_t>(odd - matrix.values.begin());
  throw Error(name + " has " + (std::isnan(*odd) ? "a NaN" : "an infinite number") + " at [" +
              std::to_string(place / matrix.width) + ", " + std::to_string(place % matrix.width) +
              "], where a finite number was expected");
}

}  // namespace

Matrix read_matrix(const fs::path& path) {
  const std::vector<std::uint8_t> bytes = contents_of(path);
  if (bytes.size() < header_bytes) {
    throw Error(path.string() + " is no matrix file: it has " + std::to_string(bytes.size()) +
                " bytes, and the header alone takes 16");
  }
  if (!std::equal(magic.begin(), magic.end(), bytes.begin())) {
    std::string found;
    for (std::size_t i = 0; i < magic.size(); ++i) {
      constexpr const char* digits = "0123456789abcdef";
      found += digits[bytes[i] >> 4];
      found += digits[bytes[i] & 15];
    }
    throw Error(path.string() + " is no matrix file: it begins with 0x" + found +
                " where 0x9343533337384800 was expected");
  }

  Matrix matrix{.height = little_endian(&bytes[magic.size()]),
                .width = little_endian(&bytes[magic.size() + sizeof(std::uint32_t)]),
                .values = {}};
  const std::uint64_t follow = bytes.size() - header_bytes;
  const bool is_short = follow / sizeof(float) < count_of(matrix);
  if (is_short || follow / sizeof(float) > count_of(matrix) || follow % sizeof(float) != 0) {
    throw Error(path.string() + (is_short ? " is cut short" : " is too long") +
                ": its header announces a matrix of " + size_of(matrix) + " floats, but " +
                (is_short ? "only " : "") + std::to_string(follow) + " bytes follow it");
  }
  matrix.values.reserve(count_of(matrix));
  for (std::size_t at = header_bytes; at < bytes.size(); at += sizeof(float)) {
    matrix.values.push_back(std::bit_cast<float>(little_endian(&bytes[at])));
  }
  expect_usable(matrix, path.string());
  return matrix;
}

void write_matrix(const fs::path& path, const Matrix& matrix) {
  expect_usable(matrix, path.string());
  if (matrix.values.size() != count_of(matrix)) {
    throw Error(path.string() + " was to get a matrix of " + size_of(matrix) + ", but there are " +
                std::to_string(matrix.values.size()) + " values");
  }
  std::vector<std::uint8_t> bytes(magic.begin(), magic.end());
  bytes.reserve(header_bytes + matrix.values.size() * sizeof(float));
  append(bytes, matrix.height);
  append(bytes, matrix.width);
  for (const float value : matrix.values) append(bytes, std::bit_cast<std::uint32_t>(value));
  write_file(path, std::as_bytes(std::span(bytes)), "matrix");
}

}  // namespace stagewise
