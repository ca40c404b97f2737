#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/data_sets/cifar10.hpp"
#include "tensor/error.hpp"
#include "unit/temporary_folder.hpp"

namespace stagewise {
namespace {

/// A record whose red, green and blue values at pixel i are i + 1, i + 2 and i + 3.
Bytes record(std::uint8_t label) {
  Bytes bytes = {label};
  for (int channel = 1; channel <= 3; ++channel) {
    for (int i = 0; i < 1024; ++i) bytes.push_back(static_cast<std::uint8_t>(i * 7 + channel));
  }
  return bytes;
}

Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

TEST(Cifar10, BecomesChannelFastest) {
  const TemporaryFolder folder;
  write_file(folder / "a", record(3) + record(9));
  const Dataset set = read_cifar10({folder / "a"});
  EXPECT_EQ(set.sample_shape(), (Shape{32, 32, 3}));
  EXPECT_EQ(set.classes(), 10);
  EXPECT_EQ(set.labels(), (std::vector<std::int32_t>{3, 9}));
  for (std::size_t sample = 0; sample < 2; ++sample) {
    for (std::size_t i = 0; i < 1024; ++i) {
      for (std::size_t channel = 0; channel < 3; ++channel) {
        ASSERT_EQ(set.pixels()->at((sample * 1024 + i) * 3 + channel),
                  static_cast<std::uint8_t>(i * 7 + channel + 1));
      }
    }
  }
}

TEST(Cifar10, FilesFollowOneAnotherPlainOrCompressed) {
  const TemporaryFolder folder;
  write_file(folder / "a", record(1) + record(2));
  write_file(folder / "b", record(7));
  ASSERT_EQ(std::system(("gzip " + (folder / "a").string()).c_str()), 0);
  const Dataset set = read_cifar10({folder / "a.gz", folder / "b"});
  EXPECT_EQ(set.labels(), (std::vector<std::int32_t>{1, 2, 7}));
}

std::string complaint(const TemporaryFolder& folder, const Bytes& bytes) {
  write_file(folder / "a", bytes);
  try {
    read_cifar10({folder / "a"});
  } catch (const Error& error) {
    std::string said = error.what();
    const std::size_t place = said.find((folder / "a").string());
    if (place != std::string::npos) said.replace(place, (folder / "a").string().size(), "FILE");
    return said;
  }
  return "nothing was refused";
}

TEST(Cifar10, BadFilesAreRefusedInASentence) {
  const TemporaryFolder folder;
  EXPECT_EQ(complaint(folder, {}), "cannot read FILE: the file is empty");
  Bytes cut = record(1) + record(2);
  cut.pop_back();
  EXPECT_EQ(complaint(folder, cut),
            "FILE is cut short or no CIFAR-10 file: behind 1 whole record of 3,073 bytes it ends "
            "with 3,072 bytes");
  EXPECT_EQ(complaint(folder, record(1) + Bytes{0}),
            "FILE is cut short or no CIFAR-10 file: behind 1 whole record of 3,073 bytes it ends "
            "with 1 byte");
  EXPECT_EQ(complaint(folder, record(1) + record(10)),
            "the label of record 1 (counted from 0) in FILE is 10, but the classes are 0 to 9");
  // gzip of nothing: a file that is not empty, but holds nothing.
  EXPECT_EQ(complaint(folder, {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
            "FILE holds not one CIFAR-10 record");
  EXPECT_EQ(complaint(folder, {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3}),
            "cannot read FILE: its gzip-compressed data are cut short");
  try {
    read_cifar10({folder / "none"});
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "cannot read " + (folder / "none").string() + ": there is no such file");
  }
}

}  // namespace
}  // namespace stagewise
