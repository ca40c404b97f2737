#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/data_sets/formats.hpp"
#include "io/report.hpp"
#include "unit/hdf5_file.hpp"
#include "unit/sentence_about.hpp"
#include "unit/temporary_folder.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using hdf5::Handle;
using Values = std::vector<double>;
using Labels = std::vector<std::int32_t>;

class Hdf5Data : public testing::Test {
 protected:
  using Fill = std::function<void(hid_t file)>;

  void make(const Fill& fill) const {
    const Handle file(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    ASSERT_TRUE(file);
    fill(file.id());
  }

  /// What is said about a file that has been filled like this, with FILE for its path.
  std::string complaint(const Fill& fill) const {
    make(fill);
    return complaint(path_);
  }

  static std::string complaint(const fs::path& path) {
    return sentence_about(path, [&] { read_hdf5(path); });
  }

  TemporaryFolder folder_;
  fs::path path_ = folder_ / "data.hdf5";
};

const Values six = {0, 0.25, 0.5, 0.75, 1, -3};

void good_x(hid_t file) { add_data(file, "x", H5T_IEEE_F32LE, {2, 3}, six); }

void good_y(hid_t file) { add_data(file, "y", H5T_STD_I64LE, {2}, {1, 0}); }

void good_file(hid_t file) {
  good_x(file);
  good_y(file);
}

TEST_F(Hdf5Data, ReadsImagesAndOneHotClasses) {
  make([](hid_t file) {
    add_data(file, "x", H5T_IEEE_F32LE, {2, 1, 3, 1}, six);
    add_data(file, "y", H5T_IEEE_F64LE, {2, 4}, {0, 0, 1, 0, 1, 0, 0, 0});
  });
  const Dataset set = read_hdf5(path_);
  EXPECT_EQ(set.sample_shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(*set.values(), six);
  EXPECT_EQ(set.classes(), 4);
  EXPECT_EQ(set.labels(), (Labels{2, 0}));
}

TEST_F(Hdf5Data, ReadsFeaturesAndClassNumbersOfEveryUsualType) {
  const Values whole = {0, 1, 2, 3, 4, 100};
  for (const hid_t type : {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_STD_U8LE, H5T_STD_I8LE,
                           H5T_STD_U16BE, H5T_STD_I32LE, H5T_STD_U64LE, H5T_STD_I64BE}) {
    for (const Dimensions& y : {Dimensions{2}, Dimensions{2, 1}}) {
      make([&](hid_t file) {
        add_data(file, "x", type, {2, 3}, whole);
        add_data(file, "y", type, y, {0, 5});
      });
      const Dataset set = read_hdf5(path_);
      EXPECT_EQ(set.sample_shape(), Shape{3});
      EXPECT_EQ(*set.values(), whole);
      EXPECT_EQ(set.classes(), 6);
      EXPECT_EQ(set.labels(), (Labels{0, 5}));
    }
  }
}

TEST_F(Hdf5Data, OtherNamesCanBeGivenAndAreListed) {
  make([](hid_t file) {
    const Handle group(H5Gcreate2(file, "train", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    add_data(group.id(), "images", H5T_IEEE_F32LE, {2, 3}, six);
    add_data(file, "labels", H5T_STD_I64LE, {2}, {1, 0});
  });
  for (const char* const x : {"train/images", "/train/images"}) {
    EXPECT_EQ(*read_hdf5(path_, {.x = x, .y = "labels"}).values(), six);
    EXPECT_TRUE(read_hdf5_without_labels(path_, {.x = x, .y = "train/labels"}).has_value());
  }
  const std::string there = "; it has /labels [2], /train/images [2, 3], and ";
  EXPECT_EQ(complaint(path_), "cannot read FILE: it has no data set /x" + there + "--x names another");
  EXPECT_EQ(sentence_about(path_, [&] { read_hdf5(path_, {.x = "train/images", .y = "y/y"}); }),
            "cannot read FILE: it has no data set /y/y" + there + "--y names another");
}

TEST_F(Hdf5Data, ImagesMayBeGreyOrHaveTheirChannelsFirst) {
  Values first;
  Values last;
  for (int i = 0; i < 2 * 3 * 5 * 6; ++i) first.push_back(i);
  for (int image = 0; image < 2; ++image) {
    for (int pixel = 0; pixel < 30; ++pixel) {
      for (int channel = 0; channel < 3; ++channel) last.push_back((image * 3 + channel) * 30 + pixel);
    }
  }
  const auto read = [&](const Dimensions& x) {
    make([&](hid_t file) {
      add_data(file, "x", H5T_IEEE_F32LE, x, first);
      add_data(file, "y", H5T_STD_I64LE, {x[0]}, Values(x[0], 1));
    });
    return read_hdf5(path_);
  };
  EXPECT_EQ(read({2, 3, 5, 6}).sample_shape(), (Shape{5, 6, 3}));
  EXPECT_EQ(*read({2, 3, 5, 6}).values(), last);
  EXPECT_EQ(read({6, 1, 5, 6}).sample_shape(), (Shape{5, 6, 1}));
  EXPECT_EQ(*read({6, 1, 5, 6}).values(), first);
  EXPECT_EQ(read({6, 5, 6}).sample_shape(), (Shape{5, 6, 1}));
  for (const Dimensions& x : {Dimensions{2, 6, 5, 3}, Dimensions{3, 1, 4, 15}, Dimensions{3, 3, 5, 4}}) {
    EXPECT_EQ(*read(x).values(), first);
  }
}

TEST_F(Hdf5Data, AFileOfKerasIsNamed) {
  EXPECT_TRUE(complaint([](hid_t file) {
                H5Gclose(H5Gcreate2(file, "model_weights", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
              }).starts_with("cannot read FILE: it is a network of Keras's, not of Stagewise; "));
}

TEST_F(Hdf5Data, ReadsCompactSets) {
  const Handle compact(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_layout(compact.id(), H5D_COMPACT);
  make([&](hid_t file) {
    add_data(file, "x", H5T_IEEE_F64LE, {2, 3}, six, compact.id());
    add_data(file, "y", H5T_STD_I64LE, {2}, {1, 0}, compact.id());
  });
  EXPECT_EQ(*read_hdf5(path_).values(), six);
}

TEST_F(Hdf5Data, CutAnywhereIsRefused) {
  make(good_file);
  const Bytes whole = read_file(path_);
  const fs::path cut = folder_ / "cut.hdf5";
  for (std::size_t size = 1; size < whole.size(); size += 13) {
    write_file(cut, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_NE(complaint(cut), "nothing was refused") << "cut to " << size << " bytes";
  }
}

// The library's usual way of opening a file crashes on this one.
TEST_F(Hdf5Data, ADamagedAddressIsRefused) {
  make(good_file);
  Bytes bytes = read_file(path_);
  constexpr std::size_t place = 0x80;  // of the address of the names of what is in the root group
  ASSERT_EQ(bytes.at(0x70), 0x11);     // the message that it is in: a symbol table
  for (std::size_t i = 0; i < 8; ++i) bytes.at(place + i) = 0xff;
  write_file(path_, bytes);
  EXPECT_EQ(complaint(path_), "cannot read FILE: it has no data set /x");
}

TEST_F(Hdf5Data, NothingBehindTheEndIsRead) {
  make(good_file);
  Bytes bytes = read_file(path_);
  // The heap with the names: their size is 8 bytes behind its beginning, their address 24.
  constexpr std::string_view signature = "HEAP";
  const auto heap = std::search(bytes.begin(), bytes.end(), signature.begin(), signature.end());
  ASSERT_NE(heap, bytes.end());
  *(heap + 12) = 1;     // 4 GiB more
  *(heap + 24) = 0x18;  // not right behind the heap, where the library would look twice
  *(heap + 25) = 0;
  write_file(path_, bytes);
  const std::int64_t before = peak_memory_bytes();
  EXPECT_EQ(complaint(path_), "cannot read FILE: it has no data set /x");
  constexpr std::int64_t most = std::int64_t{1} << 30;  // AddressSanitizer takes some for itself
  EXPECT_LT(peak_memory_bytes() - before, most);
}

TEST_F(Hdf5Data, MissingSetsAreNamed) {
  write_file(path_, {});
  EXPECT_EQ(complaint(path_), "cannot read FILE: the file is empty");
  EXPECT_EQ(complaint([](hid_t) {}), "cannot read FILE: it has no data set /x");
  EXPECT_EQ(complaint(good_x), "cannot read FILE: it has no data set /y; it has /x [2, 3], and --y names another");
  EXPECT_EQ(complaint([](hid_t file) {
              good_y(file);
              H5Gclose(H5Gcreate2(file, "x", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
            }),
            "cannot read FILE: /x is not a data set");
}

TEST_F(Hdf5Data, MisshapenSetsAreNamed) {
  const std::string images = ", but must be [N, features], [N, height, width] or [N, height, width, channels]";
  const std::string classes = ", but must be [N] (class numbers) or [N, classes] (one-hot)";
  const std::vector<std::pair<Dimensions, std::string>> cases = {
      {{2}, "has the shape [2]" + images},
      {{}, "has the shape []" + images},
      {{2, 1, 1, 1, 3}, "has the shape [2, 1, 1, 1, 3]" + images},
      {{2, 0}, "has the shape [2, 0], which holds nothing"},
      {{0, 2}, "has the shape [0, 2], which holds nothing"},
      {{3, 2}, "holds 3 samples, but /y 2"}};
  for (const auto& one : cases) {
    EXPECT_EQ(complaint([&](hid_t file) {
                good_y(file);
                add_data(file, "x", H5T_IEEE_F32LE, one.first, six);
              }),
              "cannot read FILE: /x " + one.second);
  }
  EXPECT_EQ(complaint([](hid_t file) {
              good_x(file);
              add_data(file, "y", H5T_IEEE_F32LE, {2, 2, 1}, {0, 1, 1, 0});
            }),
            "cannot read FILE: /y has the shape [2, 2, 1]" + classes);
  EXPECT_EQ(complaint([](hid_t file) {
              good_x(file);
              const Handle space(H5Screate(H5S_NULL), H5Sclose);
              const Handle y(H5Dcreate2(file, "y", H5T_IEEE_F32LE, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                             H5Dclose);
            }),
            "cannot read FILE: /y holds nothing");
}

TEST_F(Hdf5Data, ShapesBeyondTheFileAreRefused) {
  for (const Dimensions& dimensions : {Dimensions{2, hsize_t{1} << 20U}, Dimensions{2, hsize_t{1} << 40U},
                                       Dimensions{2, 1U << 18U, 1U << 18U, 1U << 18U}}) {
    const std::string said = complaint([&](hid_t file) {
      good_y(file);
      add_data(file, "x", H5T_IEEE_F64LE, dimensions, {});
    });
    EXPECT_TRUE(said.ends_with("but the file does not hold so many values")) << said;
  }
}

TEST_F(Hdf5Data, OtherTypesAreRefused) {
  const Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
  const Handle half(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);  // as numpy's float16
  H5Tset_fields(half.id(), 15, 10, 5, 0, 10);
  H5Tset_size(half.id(), 2);
  H5Tset_ebias(half.id(), 15);
  for (const hid_t type : {text.id(), half.id()}) {
    EXPECT_EQ(complaint([&](hid_t file) {
                good_y(file);
                add_data(file, "x", type, {2, 3}, {});
              }),
              "cannot read FILE: /x does not hold integers, floats or doubles");
  }
}

TEST_F(Hdf5Data, ValuesElsewhereAreRefused) {
  const Handle chunked(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const Dimensions chunk = {1, 3};
  H5Pset_chunk(chunked.id(), 2, chunk.data());
  H5Pset_deflate(chunked.id(), 5);
  EXPECT_EQ(complaint([&](hid_t file) {
              good_y(file);
              add_data(file, "x", H5T_IEEE_F32LE, {2, 3}, six, chunked.id());
            }),
            "cannot read FILE: /x is stored in chunks; `h5repack -f NONE -l CONTI FILE NEW_FILE` "
            "stores it in one piece");
  const Handle external(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_external(external.id(), (folder_ / "raw").c_str(), 0, 48);
  EXPECT_EQ(complaint([&](hid_t file) {
              good_y(file);
              add_data(file, "x", H5T_IEEE_F64LE, {2, 3}, {}, external.id());
            }),
            "cannot read FILE: /x has its values in another file");
  EXPECT_EQ(complaint([&](hid_t file) {
              good_y(file);
              H5Lcreate_external("other.hdf5", "x", file, "x", H5P_DEFAULT, H5P_DEFAULT);
            }),
            "cannot read FILE: /x is a link to elsewhere");
}

TEST_F(Hdf5Data, WrongValuesAreNamedWithTheirPlace) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string not_finite = "value 2 of sample 1 (counted from 0) in /x is not finite";
  const std::string no_number = "entry 1 (counted from 0) of /y is no class number: 0, 1, 2, ...";
  const std::string no_one_hot = "row 1 (counted from 0) of /y is not one-hot: a single 1, else 0";
  struct Wrong {
    Values x;
    Dimensions shape;
    Values y;
    std::string sentence;
  };
  const std::vector<Wrong> cases = {
      {{0, 0, 0, 0, 0, nan}, {2}, {1, 0}, not_finite},
      {{0, 0, 0, 0, 0, infinity}, {2}, {1, 0}, not_finite},
      {six, {2}, {0, -1}, no_number},
      {six, {2}, {0, 0.5}, no_number},
      {six, {2}, {0, nan}, no_number},
      {six, {2}, {0, infinity}, no_number},
      {six, {2}, {0, 1e9}, "/y would mean more than 65,536 classes, the most that are used"},
      {six, {2, 3}, {1, 0, 0, 0, 0, 0}, no_one_hot},
      {six, {2, 3}, {1, 0, 0, 1, 1, 0}, no_one_hot},
      {six, {2, 3}, {1, 0, 0, 0, 2, 0}, no_one_hot},
      {six, {2, 3}, {1, 0, 0, 0.5, 0.5, 0}, no_one_hot},
      {six, {2, 3}, {1, 0, 0, 1, 0, nan}, no_one_hot},
      {six, {2, 3}, {1, 0, 0, 1, 1, -1}, no_one_hot}};
  for (const Wrong& wrong : cases) {
    EXPECT_EQ(complaint([&](hid_t file) {
                add_data(file, "x", H5T_IEEE_F32LE, {2, 3}, wrong.x);
                add_data(file, "y", H5T_IEEE_F64LE, wrong.shape, wrong.y);
              }),
              "cannot read FILE: " + wrong.sentence);
  }
}

TEST_F(Hdf5Data, MayLackClasses) {
  make([](hid_t file) { good_x(file); });
  const auto samples = read_hdf5_without_labels(path_);
  ASSERT_TRUE(samples.has_value());
  EXPECT_EQ(*samples->values(), six);
  EXPECT_EQ(samples->labels(), (Labels{0, 0}));
  make(good_file);
  EXPECT_FALSE(read_hdf5_without_labels(path_).has_value());
}

TEST_F(Hdf5Data, TheFilesOfReport001AreAsDescribed) {
  const char* const folder = std::getenv("STAGEWISE_DATA_DIR");
  if (folder == nullptr) GTEST_SKIP() << "STAGEWISE_DATA_DIR is not set";
  for (const int count : {2, 10}) {
    const fs::path file = fs::path(folder) / "ece408" / ("test" + std::to_string(count) + ".hdf5");
    if (!fs::exists(file)) GTEST_SKIP() << "there is no " << file;
    const Dataset set = read_hdf5(file);
    EXPECT_EQ(set.size(), count);
    EXPECT_EQ(set.sample_shape(), (Shape{28, 28, 1}));
    EXPECT_EQ(set.classes(), 10);
    EXPECT_EQ(set.slice(0, 2).labels(), (Labels{7, 2}));
    for (const double value : *set.values()) {
      ASSERT_GE(value, 0);
      ASSERT_LE(value, 1);
    }
  }
}

}  // namespace
}  // namespace stagewise
