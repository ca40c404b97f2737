#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "reports/002/matrix_file.hpp"
#include "support.hpp"
#include "unit/temporary_folder.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

/// 2 x 3: 1, -2, 0.5; 0, -0, 256.
const Bytes example = {0x93, 0x43, 0x53, 0x33, 0x37, 0x38, 0x48, 0x00,  //
                       2,    0,    0,    0,    3,    0,    0,    0,     //
                       0,    0,    0x80, 0x3f, 0,    0,    0,    0xc0, 0, 0, 0,    0x3f,
                       0,    0,    0,    0,    0,    0,    0,    0x80, 0, 0, 0x80, 0x43};

class MatrixFile : public testing::Test {
 protected:
  /// What reading these bytes leads to, the file's name being FILE.
  std::string complaint(const Bytes& bytes) const {
    write_file(path_, bytes);
    std::string said = sentence_of([&] { read_matrix(path_); });
    const std::size_t place = said.find(path_.string());
    if (place != std::string::npos) said.replace(place, path_.string().size(), "FILE");
    return said;
  }

  TemporaryFolder folder_;
  fs::path path_ = folder_ / "w1.data";
};

TEST_F(MatrixFile, IsReadByteByByte) {
  write_file(path_, example);
  const Matrix matrix = read_matrix(path_);
  EXPECT_EQ(matrix.height, 2U);
  EXPECT_EQ(matrix.width, 3U);
  EXPECT_EQ(matrix.values, (std::vector<float>{1, -2, 0.5, 0, 0, 256}));
  EXPECT_TRUE(std::signbit(matrix.values.at(4)));
}

TEST_F(MatrixFile, IsWrittenByteByByte) {
  write_matrix(path_, {.height = 2, .width = 3, .values = {1, -2, 0.5, 0, -0.0F, 256}});
  EXPECT_EQ(read_file(path_), example);
  EXPECT_EQ(folder_.entries(), 1);
}

TEST_F(MatrixFile, KeepsEveryBit) {
  using Limits = std::numeric_limits<float>;
  Matrix matrix{.height = 301, .width = 7, .values = random_values<float>(Index{301} * 7, 5)};
  matrix.values[3] = Limits::denorm_min();
  matrix.values[4] = -Limits::max();
  matrix.values[5] = -0.0F;
  write_matrix(path_, matrix);
  const Matrix again = read_matrix(path_);
  EXPECT_EQ(again.height, matrix.height);
  EXPECT_EQ(again.width, matrix.width);
  ASSERT_EQ(again.values.size(), matrix.values.size());
  for (std::size_t i = 0; i < matrix.values.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(again.values[i]),
              std::bit_cast<std::uint32_t>(matrix.values[i]));
  }
}

TEST_F(MatrixFile, IsNoOtherFile) {
  EXPECT_EQ(complaint({}), "FILE is no matrix file: it has 0 bytes, and the header alone takes 16");
  EXPECT_EQ(complaint(Bytes(example.begin(), example.begin() + 15)),
            "FILE is no matrix file: it has 15 bytes, and the header alone takes 16");
  for (std::size_t i = 0; i < 8; ++i) {
    Bytes other = example;
    other[i] ^= 0x20;
    expect_contains(complaint(other), "FILE is no matrix file: it begins with 0x");
  }
  Bytes other = example;
  other[7] = 0xa5;
  EXPECT_EQ(complaint(other),
            "FILE is no matrix file: it begins with 0x93435333373848a5 where 0x9343533337384800 "
            "was expected");
}

TEST_F(MatrixFile, HasAsManyValuesAsItsHeaderSays) {
  Bytes bytes = example;
  bytes.pop_back();
  EXPECT_EQ(complaint(bytes),
            "FILE is cut short: its header announces a matrix of 2 x 3 floats, but only 23 bytes "
            "follow it");
  bytes.resize(16);
  expect_contains(complaint(bytes), "but only 0 bytes follow it");
  bytes = example;
  bytes.push_back(0);
  EXPECT_EQ(complaint(bytes),
            "FILE is too long: its header announces a matrix of 2 x 3 floats, but 25 bytes follow "
            "it");
  bytes.resize(example.size() + 4);
  expect_contains(complaint(bytes), "FILE is too long: ");
}

TEST_F(MatrixFile, BelievesNoSizeThatTheFileDoesNotHave) {
  Bytes bytes = example;
  std::fill(bytes.begin() + 8, bytes.begin() + 16, std::uint8_t{0xff});
  EXPECT_EQ(complaint(bytes),
            "FILE is cut short: its header announces a matrix of 4294967295 x 4294967295 floats, "
            "but only 24 bytes follow it");
  // 0x80000003 x 2 is 6 in 32 bits; 0x40000000 x 16 takes 2^36 bytes, 0 in 32 bits.
  bytes = example;
  bytes[8] = 3;
  bytes[11] = 0x80;
  bytes[12] = 2;
  expect_contains(complaint(bytes), "2147483651 x 2 floats, but only 24 bytes follow it");
  bytes = Bytes(example.begin(), example.begin() + 16);
  bytes[8] = 0;
  bytes[11] = 0x40;
  bytes[12] = 16;
  expect_contains(complaint(bytes), "1073741824 x 16 floats, but only 0 bytes follow it");
}

TEST_F(MatrixFile, HasNoDimensionOfNothing) {
  for (const std::size_t at : {8U, 12U}) {
    Bytes bytes(example.begin(), example.begin() + 16);
    bytes[at] = 0;
    expect_contains(complaint(bytes), "but neither may be 0");
  }
  EXPECT_NE(sentence_of([&] { write_matrix(path_, {.height = 0, .width = 2, .values = {}}); }), "");
}

TEST_F(MatrixFile, HoldsFiniteNumbersOnly) {
  Bytes bytes = example;
  bytes[16 + 4 * 5 + 2] = 0xc0;
  bytes[16 + 4 * 5 + 3] = 0x7f;
  EXPECT_EQ(complaint(bytes), "FILE has a NaN at [1, 2], where a finite number was expected");
  bytes[16 + 4 * 5 + 2] = 0x80;
  EXPECT_EQ(complaint(bytes),
            "FILE has an infinite number at [1, 2], where a finite number was expected");

  fs::remove(path_);
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_NE(sentence_of([&] { write_matrix(path_, {1, 2, {0, infinity}}); }), "");
  EXPECT_NE(sentence_of([&] { write_matrix(path_, {1, 2, {0, 1, 2}}); }), "");
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(MatrixFile, MustBeAFile) {
  const std::string begin = "the matrix " + path_.string() + " cannot be read: ";
  EXPECT_EQ(sentence_of([&] { read_matrix(path_); }), begin + "there is no such file");
  fs::create_directory(path_);
  EXPECT_EQ(sentence_of([&] { read_matrix(path_); }), begin + "it is a folder, not a file");
}

TEST_F(MatrixFile, MustBeReadable) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read every file";
  write_file(path_, example);
  fs::permissions(path_, fs::perms::none);
  EXPECT_EQ(sentence_of([&] { read_matrix(path_); }),
            "the matrix " + path_.string() + " cannot be read: it may not be opened");
}

}  // namespace
}  // namespace stagewise
