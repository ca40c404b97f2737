#include <csignal>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include "data/generators.hpp"
#include "io/data_sets/idx.hpp"
#include "tensor/error.hpp"
#include "unit/temporary_folder.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

Bytes numbers(std::initializer_list<std::uint32_t> values) {
  Bytes bytes;
  for (const std::uint32_t value : values) {
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
      bytes.push_back(static_cast<std::uint8_t>(value >> shift));
    }
  }
  return bytes;
}

Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// Without the last `count` bytes.
Bytes cut(Bytes bytes, std::size_t count) {
  bytes.resize(bytes.size() - count);
  return bytes;
}

Bytes with_byte(Bytes bytes, std::size_t place, int change) {
  bytes.at(place) = static_cast<std::uint8_t>(bytes.at(place) ^ change);
  return bytes;
}

Bytes gzip(Bytes bytes) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  Bytes packed(deflateBound(&stream, bytes.size()) + 64);
  stream.next_in = bytes.data();
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate failed");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// Three images of 2 x 4 pixels.
Bytes good_images() {
  Bytes pixels;
  for (int i = 0; i < 24; ++i) pixels.push_back(static_cast<std::uint8_t>(10 * i));
  return numbers({0x803, 3, 2, 4}) + pixels;
}

Bytes good_labels() {
  return numbers({0x801, 3}) + Bytes{7, 0, 9};
}

void expect_good(const Dataset& set) {
  EXPECT_EQ(set.sample_shape(), (Shape{2, 4, 1}));
  EXPECT_EQ(set.classes(), 10);
  EXPECT_EQ(set.labels(), (std::vector<std::int32_t>{7, 0, 9}));
  ASSERT_NE(set.pixels(), nullptr);
  EXPECT_EQ(set.pixels()->at(23), 230);
}

/// What read_idx() says about a pair of files; empty if it reads them.
std::string complaint(const fs::path& images, const fs::path& labels, int classes = 10) {
  try {
    read_idx(images, labels, classes);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Idx, ReadsPlainFiles) {
  const TemporaryFolder folder;
  write_file(folder / "images", good_images());
  write_file(folder / "labels", good_labels());
  expect_good(read_idx(folder / "images", folder / "labels", 10));
}

TEST(Idx, ReadsCompressedFilesWhateverTheirName) {
  const TemporaryFolder folder;
  write_file(folder / "images", gzip(good_images()));
  write_file(folder / "labels.gz", gzip(good_labels()));
  expect_good(read_idx(folder / "images", folder / "labels.gz", 10));
  write_file(folder / "plain.gz", good_labels());
  expect_good(read_idx(folder / "images", folder / "plain.gz", 10));
}

TEST(Idx, ReadsFilesCompressedInSeveralParts) {
  const TemporaryFolder folder;
  const Bytes images = good_images();
  write_file(folder / "images",
             gzip({images.begin(), images.begin() + 5}) + gzip({images.begin() + 5, images.end()}));
  write_file(folder / "labels", good_labels());
  expect_good(read_idx(folder / "images", folder / "labels", 10));
}

TEST(Idx, ClassesMayBeTakenFromTheLabels) {
  const TemporaryFolder folder;
  write_file(folder / "images", good_images());
  write_file(folder / "labels", numbers({0x801, 3}) + Bytes{2, 0, 4});
  EXPECT_EQ(read_idx(folder / "images", folder / "labels", 0).classes(), 5);
}

TEST(Idx, WhatIsWrittenIsReadBack) {
  const TemporaryFolder folder;
  const Dataset digits = make_digits(700, 5, Purpose::test);  // more than one block of the reader
  write_idx(digits, folder / "images", folder / "labels");
  EXPECT_EQ(folder.entries(), 2);
  const auto expect_same = [&](const fs::path& images, const fs::path& labels) {
    const Dataset read = read_idx(images, labels, 10);
    EXPECT_EQ(read.sample_shape(), digits.sample_shape());
    EXPECT_EQ(*read.pixels(), *digits.pixels());
    EXPECT_EQ(read.labels(), digits.labels());
  };
  expect_same(folder / "images", folder / "labels");
  write_file(folder / "images.gz", gzip(read_file(folder / "images")));
  write_file(folder / "labels.gz", gzip(read_file(folder / "labels")));
  expect_same(folder / "images.gz", folder / "labels.gz");
}

TEST(Idx, WrittenBytesAreThoseOfTheFormat) {
  const TemporaryFolder folder;
  write_file(folder / "images", good_images());
  write_file(folder / "labels", good_labels());
  write_idx(read_idx(folder / "images", folder / "labels", 10), folder / "i", folder / "l");
  EXPECT_EQ(read_file(folder / "i"), good_images());
  EXPECT_EQ(read_file(folder / "l"), good_labels());
}

struct BadPair {
  const char* name;
  Bytes images;
  Bytes labels;
  const char* culprit;                ///< the file that the sentence must name
  std::vector<std::string> sentence;  ///< what else it must say
};

/// The name by which GoogleTest finds how to print a parameter.
void PrintTo(const BadPair& pair, std::ostream* out) {  // NOLINT(readability-identifier-naming)

  *out << pair.name;
}

class BadIdx : public testing::TestWithParam<BadPair> {};

TEST_P(BadIdx, IsRefusedInASentence) {
  const TemporaryFolder folder;
  const fs::path images = folder / "images";
  const fs::path labels = folder / "labels";
  write_file(images, GetParam().images);
  write_file(labels, GetParam().labels);
  const std::string said = complaint(images, labels);
  EXPECT_NE(said.find((folder / GetParam().culprit).string()), std::string::npos) << said;
  for (const std::string& part : GetParam().sentence) {
    EXPECT_NE(said.find(part), std::string::npos) << "not \"" << part << "\" but: " << said;
  }
  EXPECT_EQ(said.find('\n'), std::string::npos) << said;
}

constexpr std::uint32_t most = 0xffffffff;

const std::vector<BadPair> bad_pairs = {
    {"EmptyImages", {}, good_labels(), "images", {"the file is empty"}},
    {"EmptyLabels", good_images(), {}, "labels", {"the file is empty"}},
    {"OneByte", {0}, good_labels(), "images", {"ends within its IDX header"}},
    {"HalfHeader", cut(numbers({0x803, 3, 2, 4}), 3), good_labels(), "images", {"ends within"}},
    {"HalfLabelsHeader", good_images(), numbers({0x801}), "labels", {"ends within"}},
    {"HeaderOnly",
     numbers({0x803, 3, 2, 4}),
     good_labels(),
     "images",
     {"cut short", "3 images of 2 x 4 pixels", "only 0 bytes"}},
    {"ImagesCutShort", cut(good_images(), 1), good_labels(), "images", {"cut short", "23 bytes"}},
    {"ImagesTooLong",
     good_images() + Bytes{0},
     good_labels(),
     "images",
     {"longer than its header says", "3 images of 2 x 4 pixels"}},
    {"LabelsCutShort",
     good_images(),
     cut(good_labels(), 2),
     "labels",
     {"cut short", "3 labels", "only 1 byte follows"}},
    {"LabelsTooLong", good_images(), good_labels() + Bytes{1}, "labels", {"longer", "3 labels"}},
    {"LabelsAsImages",
     good_labels(),
     good_labels(),
     "images",
     {"not an IDX file of images but one of labels", "0x00000801", "0x00000803"}},
    {"ImagesAsLabels",
     good_images(),
     good_images(),
     "labels",
     {"not an IDX file of labels but one of images", "0x00000803", "0x00000801"}},
    {"NoIdx",
     Bytes{'P', '5', '\n', '2', ' ', '2'},
     good_labels(),
     "images",
     {"not an IDX file of images:", "0x50350a32", "0x00000803"}},
    {"LittleEndian", numbers({0x03080000}), good_labels(), "images", {"0x03080000"}},
    {"FewerLabels",
     good_images(),
     numbers({0x801, 2}) + Bytes{7, 0},
     "labels",
     {"3 images", "2 labels"}},
    {"MoreLabels",
     good_images(),
     numbers({0x801, 4}) + Bytes{7, 0, 9, 9},
     "images",
     {"3 images", "4 labels"}},
    {"LabelOutsideTheClasses",
     good_images(),
     numbers({0x801, 3}) + Bytes{7, 10, 11},
     "labels",
     {"label 1 ", "is 10", "0 to 9"}},
    {"NoImages", numbers({0x803, 0, 2, 4}), numbers({0x801, 0}), "images", {"0 images of 2 x 4"}},
    {"NoHeight", numbers({0x803, 3, 0, 4}), good_labels(), "images", {"3 images of 0 x 4"}},
    {"NoWidth", numbers({0x803, 3, 2, 0}), good_labels(), "images", {"3 images of 2 x 0"}},
    {"FourBillionImages",
     numbers({0x803, most, 28, 28}) + Bytes(84),
     good_labels(),
     "images",
     {"4,294,967,295 images of 28 x 28", "only 84 bytes"}},
    // 2^96 bytes: the product of the dimensions fits nowhere.
    {"ProductOverflows",
     numbers({0x803, most, most, most}) + Bytes(84),
     good_labels(),
     "images",
     {"4,294,967,295 images of 4294967295 x 4294967295", "only 84 bytes"}},
    // 2^64 bytes: a product that wraps around would be 0, and the body would seem complete.
    {"ProductWrapsToZero",
     numbers({0x803, 1U << 31, 1U << 31, 4}),
     good_labels(),
     "images",
     {"2,147,483,648 images of 2147483648 x 4", "only 0 bytes"}},
    {"FourBillionLabels",
     good_images(),
     numbers({0x801, most}) + Bytes(9),
     "labels",
     {"4,294,967,295 labels", "only 9 bytes"}},
    {"GzipCutInItsTrailer",
     cut(gzip(good_images()), 4),
     good_labels(),
     "images",
     {"gzip-compressed data are cut short"}},
    {"GzipCutInItsData",
     cut(gzip(good_images()), 20),
     good_labels(),
     "images",
     {"gzip-compressed data are cut short"}},
    {"GzipHeaderOnly", {0x1f, 0x8b}, good_labels(), "images", {"cut short"}},
    {"GzipWrongChecksum",
     with_byte(gzip(good_images()), gzip(good_images()).size() - 7, 0x10),
     good_labels(),
     "images",
     {"gzip-compressed data are damaged", "incorrect data check"}},
    {"GzipWrongLength",
     with_byte(gzip(good_images()), gzip(good_images()).size() - 2, 0x10),
     good_labels(),
     "images",
     {"gzip-compressed data are damaged", "incorrect length check"}},
    {"GzipWrongMethod",
     with_byte(gzip(good_images()), 2, 1),
     good_labels(),
     "images",
     {"gzip-compressed data are damaged"}},
    {"GzipThenGarbage",
     gzip(good_images()) + Bytes{'x'},
     good_labels(),
     "images",
     {"followed by something else"}},
    {"GzipThenHalfAGzip",
     gzip(good_images()) + Bytes{0x1f},
     good_labels(),
     "images",
     {"cut short"}},
    {"GzipThenFalseGzip",
     gzip(good_images()) + Bytes{0x1f, 0x8c, 1},
     good_labels(),
     "images",
     {"damaged"}},
    {"GzipOfNothing", gzip({}), good_labels(), "images", {"ends within its IDX header"}},
    {"GzipTooLong", gzip(good_images() + Bytes{0}), good_labels(), "images", {"longer"}},
    {"GzipOfTooFewLabels", good_images(), gzip(cut(good_labels(), 1)), "labels", {"cut short"}},
};

INSTANTIATE_TEST_SUITE_P(Idx, BadIdx, testing::ValuesIn(bad_pairs),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(Idx, MissingFilesAndFoldersAreNamed) {
  const TemporaryFolder folder;
  write_file(folder / "images", good_images());
  EXPECT_EQ(complaint(folder / "images", folder / "none"),
            "cannot read " + (folder / "none").string() + ": there is no such file");
  EXPECT_EQ(complaint(folder / "none" / "images", folder / "labels"),
            "cannot read " + (folder / "none" / "images").string() + ": there is no such file");
  EXPECT_EQ(complaint(folder / "images" / "x", folder / "labels"),
            "cannot read " + (folder / "images" / "x").string() + ": there is no such file");
  EXPECT_EQ(complaint(folder.path(), folder / "labels"),
            "cannot read " + folder.path().string() + ": it is a folder, not a file");
}

TEST(Idx, UnreadableFilesAreNamed) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read every file";
  const TemporaryFolder folder;
  write_file(folder / "images", good_images());
  fs::permissions(folder / "images", fs::perms::none);
  EXPECT_EQ(complaint(folder / "images", folder / "labels"),
            "cannot read " + (folder / "images").string() + ": Permission denied");
}

TEST(Idx, AnEndlessFileIsRefused) {
  if (!fs::exists("/dev/zero")) GTEST_SKIP() << "there is no /dev/zero";
  const TemporaryFolder folder;
  EXPECT_EQ(complaint("/dev/zero", folder / "labels"),
            "cannot read /dev/zero: it is not a regular file");
}

/// What write_idx() says; empty if it writes.
std::string write_complaint(const Dataset& set, const fs::path& images, const fs::path& labels) {
  try {
    write_idx(set, images, labels);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

/// While it lives, no file of this process grows beyond `bytes`: what a full disk does to a writer.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(Idx, AFullDiskIsReportedAndLeavesTheOldFiles) {
  const TemporaryFolder folder;
  write_idx(make_digits(2, 1, Purpose::test), folder / "images", folder / "labels");
  const Bytes images = read_file(folder / "images");
  const Bytes labels = read_file(folder / "labels");
  std::string said;
  {
    const FullDisk disk(1000);
    said =
        write_complaint(make_digits(100, 1, Purpose::test), folder / "images", folder / "labels");
  }
  EXPECT_EQ(said,
            "the images " + (folder / "images").string() + " cannot be written: File too large");
  EXPECT_EQ(read_file(folder / "images"), images);
  EXPECT_EQ(read_file(folder / "labels"), labels);
  EXPECT_EQ(folder.entries(), 2);
}

TEST(Idx, FoldersThatCannotBeWrittenToAreNamed) {
  const TemporaryFolder folder;
  const Dataset digits = make_digits(2, 1, Purpose::test);
  EXPECT_EQ(write_complaint(digits, folder / "none" / "images", folder / "labels"),
            "the images " + (folder / "none" / "images").string() +
                " cannot be written: there is no folder " + (folder / "none").string());
  // The labels fail: no images may stay behind without them.
  EXPECT_NE(write_complaint(digits, folder / "images", folder / "none" / "labels"), "");
  EXPECT_EQ(folder.entries(), 0);
  EXPECT_EQ(write_complaint(digits, folder.path(), folder / "labels"),
            "the images " + folder.path().string() + " cannot be written: it is a folder");
}

TEST(Idx, FoldersWithoutWritePermissionAreNamed) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const TemporaryFolder folder;
  const Dataset digits = make_digits(2, 1, Purpose::test);
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(write_complaint(digits, folder / "images", folder / "labels"),
            "the images " + (folder / "images").string() + " cannot be written: Permission denied");
  fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST(Idx, OnlyGreyImagesCanBeWritten) {
  const TemporaryFolder folder;
  const fs::path images = folder / "images";
  const fs::path labels = folder / "labels";
  EXPECT_NE(write_complaint(make_step(3, 1, Purpose::test), images, labels).find("[1]"),
            std::string::npos);
  const Dataset colour({1, 1, 3}, 2, Bytes{1, 2, 3}, {0});
  EXPECT_NE(write_complaint(colour, images, labels).find("[1, 1, 3]"), std::string::npos);
  const Dataset many({1, 1, 1}, 300, Bytes{1}, {299});
  EXPECT_NE(write_complaint(many, images, labels).find("300 classes"), std::string::npos);
  EXPECT_EQ(folder.entries(), 0);
}

TEST(Idx, LabelsFileHasTheNameThatBelongsToTheImagesFile) {
  EXPECT_EQ(idx_labels_path("a/train-images-idx3-ubyte.gz"), "a/train-labels-idx1-ubyte.gz");
  EXPECT_EQ(idx_labels_path("/images/idx3/my-images"), "/images/idx3/my-labels");
  EXPECT_EQ(idx_labels_path("images"), "labels");
  try {
    idx_labels_path("images/digits.idx3");
    FAIL() << "a name without \"images\" was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("images/digits.idx3"), std::string::npos);
  }
}

}  // namespace
}  // namespace stagewise
