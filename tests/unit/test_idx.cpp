#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <zlib.h>

#include "data/generators.hpp"
#include "io/data_sets/formats.hpp"
#include "support.hpp"
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

Bytes good_labels() { return numbers({0x801, 3}) + Bytes{7, 0, 9}; }

void expect_good(const Dataset& set) {
  EXPECT_EQ(set.sample_shape(), (Shape{2, 4, 1}));
  EXPECT_EQ(set.classes(), 10);
  EXPECT_EQ(set.labels(), (std::vector<std::int32_t>{7, 0, 9}));
  ASSERT_NE(set.pixels(), nullptr);
  EXPECT_EQ(set.pixels()->at(23), 230);
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
  write_file(folder / "images", gzip({images.begin(), images.begin() + 5}) + gzip({images.begin() + 5, images.end()}));
  write_file(folder / "labels", good_labels());
  expect_good(read_idx(folder / "images", folder / "labels", 10));
}

TEST(Idx, ClassesMayBeTakenFromTheLabels) {
  const TemporaryFolder folder;
  write_file(folder / "images", good_images());
  write_file(folder / "labels", numbers({0x801, 3}) + Bytes{2, 0, 4});
  EXPECT_EQ(read_idx(folder / "images", folder / "labels", 0).classes(), 5);
}

TEST(Idx, LabelsMayBeOfFourBytesAndBeDescribed) {
  const TemporaryFolder folder;
  write_file(folder / "images", good_images());
  write_file(folder / "labels", numbers({0xc01, 3, 7, 0, 9}));
  expect_good(read_idx(folder / "images", folder / "labels", 10));
  write_file(folder / "labels", numbers({0xc02, 3, 2, 7, 1U << 31U, 0, 70000, 9, 5}));
  expect_good(read_idx(folder / "images", folder / "labels", 10));
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

/// Of two files, the one with images is wrong.
BadPair bad_images(const char* name, Bytes images, std::vector<std::string> sentence) {
  return {name, std::move(images), good_labels(), "images", std::move(sentence)};
}

/// The one with labels is.
BadPair bad_labels(const char* name, Bytes labels, std::vector<std::string> sentence) {
  return {name, good_images(), std::move(labels), "labels", std::move(sentence)};
}

constexpr std::uint32_t most = 0xffffffff;

const std::vector<BadPair> bad_pairs = {
    bad_images("EmptyImages", {}, {"the file is empty"}),
    bad_labels("EmptyLabels", {}, {"the file is empty"}),
    bad_images("OneByte", {0}, {"ends within its IDX header"}),
    bad_images("HalfHeader", cut(numbers({0x803, 3, 2, 4}), 3), {"ends within"}),
    bad_labels("HalfLabelsHeader", numbers({0x801}), {"ends within"}),
    bad_images("HeaderOnly", numbers({0x803, 3, 2, 4}), {"cut short", "3 images of 2 x 4 pixels", "only 0 bytes"}),
    bad_images("ImagesCutShort", cut(good_images(), 1), {"cut short", "23 bytes"}),
    bad_images("ImagesTooLong", good_images() + Bytes{0}, {"longer than its header says", "3 images of 2 x 4 pixels"}),
    bad_labels("LabelsCutShort", cut(good_labels(), 2), {"cut short", "3 labels", "only 1 byte follows"}),
    bad_labels("LabelsTooLong", good_labels() + Bytes{1}, {"longer", "3 labels"}),
    bad_images("LabelsAsImages", good_labels(),
               {"not an IDX file of images but one of labels", "0x00000801", "0x00000803"}),
    bad_labels("ImagesAsLabels", good_images(),
               {"not an IDX file of labels but one of images", "0x00000803", "0x00000801"}),
    bad_images("NoIdx", Bytes{'P', '5', '\n', '2', ' ', '2'},
               {"not an IDX file of images:", "0x50350a32", "0x00000803"}),
    bad_images("LittleEndian", numbers({0x03080000}), {"0x03080000"}),
    bad_labels("FewerLabels", numbers({0x801, 2}) + Bytes{7, 0}, {"3 images", "2 labels"}),
    {"MoreLabels", good_images(), numbers({0x801, 4}) + Bytes{7, 0, 9, 9}, "images", {"3 images", "4 labels"}},
    bad_labels("LabelOutsideTheClasses", numbers({0x801, 3}) + Bytes{7, 10, 11}, {"label 1 ", "is 10", "0 to 9"}),
    {"NoImages", numbers({0x803, 0, 2, 4}), numbers({0x801, 0}), "images", {"0 images of 2 x 4"}},
    bad_labels("NegativeLabel", numbers({0xc01, 3, 7, most, 9}), {"label 1 ", "no class from 0 to 65,535"}),
    bad_labels("WideLabelsCutShort", numbers({0xc02, 3, most, 7}), {"cut short", "3 labels", "only 4 bytes follow"}),
    bad_labels("LabelsOfNothing", numbers({0xc02, 3, 0}), {"0 labels"}),
    bad_images("NoHeight", numbers({0x803, 3, 0, 4}), {"3 images of 0 x 4"}),
    bad_images("NoWidth", numbers({0x803, 3, 2, 0}), {"3 images of 2 x 0"}),
    bad_images("FourBillionImages", numbers({0x803, most, 28, 28}) + Bytes(84),
               {"4,294,967,295 images of 28 x 28", "only 84 bytes"}),
    // 2^96 bytes: the product of the dimensions fits nowhere.
    bad_images("ProductOverflows", numbers({0x803, most, most, most}) + Bytes(84),
               {"4,294,967,295 images of 4294967295 x 4294967295", "only 84 bytes"}),
    // 2^64 bytes: a product that wraps around would be 0, and the body would seem complete.
    bad_images("ProductWrapsToZero", numbers({0x803, 1U << 31, 1U << 31, 4}),
               {"2,147,483,648 images of 2147483648 x 4", "only 0 bytes"}),
    bad_labels("FourBillionLabels", numbers({0x801, most}) + Bytes(9), {"4,294,967,295 labels", "only 9 bytes"}),
    bad_images("GzipCutInItsTrailer", cut(gzip(good_images()), 4), {"gzip-compressed data are cut short"}),
    bad_images("GzipCutInItsData", cut(gzip(good_images()), 20), {"gzip-compressed data are cut short"}),
    bad_images("GzipHeaderOnly", {0x1f, 0x8b}, {"cut short"}),
    bad_images("GzipWrongChecksum", with_byte(gzip(good_images()), gzip(good_images()).size() - 7, 0x10),
               {"gzip-compressed data are damaged", "incorrect data check"}),
    bad_images("GzipWrongLength", with_byte(gzip(good_images()), gzip(good_images()).size() - 2, 0x10),
               {"gzip-compressed data are damaged", "incorrect length check"}),
    bad_images("GzipWrongMethod", with_byte(gzip(good_images()), 2, 1), {"gzip-compressed data are damaged"}),
    bad_images("GzipThenGarbage", gzip(good_images()) + Bytes{'x'}, {"followed by something else"}),
    bad_images("GzipThenHalfAGzip", gzip(good_images()) + Bytes{0x1f}, {"cut short"}),
    bad_images("GzipThenFalseGzip", gzip(good_images()) + Bytes{0x1f, 0x8c, 1}, {"damaged"}),
    bad_images("GzipOfNothing", gzip({}), {"ends within its IDX header"}),
    bad_images("GzipTooLong", gzip(good_images() + Bytes{0}), {"longer"}),
    bad_labels("GzipOfTooFewLabels", gzip(cut(good_labels(), 1)), {"cut short"}),
};

TEST(Idx, WhatIsWrongIsRefusedInASentence) {
  const TemporaryFolder folder;
  const fs::path images = folder / "images";
  const fs::path labels = folder / "labels";
  for (const BadPair& pair : bad_pairs) {
    SCOPED_TRACE(pair.name);
    write_file(images, pair.images);
    write_file(labels, pair.labels);
    const std::string said = sentence_of([&] { read_idx(images, labels, 10); });
    expect_contains(said, (folder / pair.culprit).string());
    for (const std::string& part : pair.sentence) expect_contains(said, part);
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

TEST(Idx, OnlyGreyImagesCanBeWritten) {
  const TemporaryFolder folder;
  const auto complaint = [&](const Dataset& set) {
    return sentence_of([&] { write_idx(set, folder / "images", folder / "labels"); });
  };
  expect_contains(complaint(make_step(3, 1, Purpose::test)), "[1]");
  expect_contains(complaint({{1, 1, 3}, 2, Bytes{1, 2, 3}, {0}}), "[1, 1, 3]");
  expect_contains(complaint({{1, 1, 1}, 300, Bytes{1}, {299}}), "300 classes");
  EXPECT_EQ(folder.entries(), 0);
}

TEST(Idx, LabelsFileHasTheNameThatBelongsToTheImagesFile) {
  EXPECT_EQ(idx_labels_path("a/train-images-idx3-ubyte.gz"), "a/train-labels-idx1-ubyte.gz");
  EXPECT_EQ(idx_labels_path("/images/idx3/my-images"), "/images/idx3/my-labels");
  EXPECT_EQ(idx_labels_path("images"), "labels");
  expect_contains(sentence_of([] { idx_labels_path("images/digits.idx3"); }), "images/digits.idx3");
}

}  // namespace
}  // namespace stagewise
