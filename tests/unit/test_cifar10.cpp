#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/data_sets/formats.hpp"
#include "unit/sentence_about.hpp"
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
        ASSERT_EQ(set.pixels()->at((sample * 1024 + i) * 3 + channel), static_cast<std::uint8_t>(i * 7 + channel + 1));
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

TEST(Cifar10, BadFilesAreRefusedInASentence) {
  const TemporaryFolder folder;
  Bytes cut = record(1) + record(2);
  cut.pop_back();
  const std::string too_long =
      "FILE is cut short or no CIFAR-10 file: behind 1 whole record of "
      "3,073 bytes it ends with ";
  // gzip of nothing: a file that is not empty, but holds nothing.
  const Bytes nothing = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<std::pair<Bytes, std::string>> cases = {
      {{}, "cannot read FILE: the file is empty"},
      {cut, too_long + "3,072 bytes"},
      {record(1) + Bytes{0}, too_long + "1 byte"},
      {record(1) + record(10), "the label of record 1 (counted from 0) in FILE is 10, but the classes are 0 to 9"},
      {nothing, "FILE holds not one CIFAR-10 record"},
      {{nothing.begin(), nothing.begin() + 11}, "cannot read FILE: its gzip-compressed data are cut short"}};
  for (const auto& [bytes, sentence] : cases) {
    write_file(folder / "a", bytes);
    EXPECT_EQ(sentence_about(folder / "a", [&] { read_cifar10({folder / "a"}); }), sentence);
  }
}

}  // namespace
}  // namespace stagewise
