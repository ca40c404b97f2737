#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include <gtest/gtest.h>

#include "io/hdf5.hpp"
#include "io/hdf5_numbers.hpp"
#include "io/report.hpp"
#include "unit/temporary_folder.hpp"

namespace stagewise {
namespace {

using hdf5::Handle;

class Hdf5Driver : public testing::Test {
 protected:
  Hdf5Driver() {  // in the format of old, which has no checksums
    const Handle file(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const std::array<hsize_t, 1> length = {3};
    const Handle space(H5Screate_simple(1, length.data(), nullptr), H5Sclose);
    const Handle set(H5Dcreate2(file.id(), "x", H5T_IEEE_F64LE, space.id(), H5P_DEFAULT,
                                H5P_DEFAULT, H5P_DEFAULT),
                     H5Dclose);
    H5Dwrite(set.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values_.data());
  }

  /// Whether the library finds the data set.
  bool has_set() const {
    const hdf5::Quiet quiet;
    const Handle file = hdf5::open_file(path_);
    if (!file) return false;
    const Handle set(H5Dopen2(file.id(), "x", H5P_DEFAULT), H5Dclose);
    return static_cast<bool>(set);
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "old.h5";
  std::array<double, 3> values_ = {1, -2, 0.5};
};

TEST_F(Hdf5Driver, Reads) {
  const Handle file = hdf5::open_file(path_);
  ASSERT_TRUE(file);
  const Handle set(H5Dopen2(file.id(), "x", H5P_DEFAULT), H5Dclose);
  std::array<double, 3> read{};
  ASSERT_GE(H5Dread(set.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()), 0);
  EXPECT_EQ(read, values_);
}

TEST_F(Hdf5Driver, DoesNotReadBehindTheEnd) {
  ASSERT_TRUE(has_set());
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
  EXPECT_FALSE(has_set());
  constexpr std::int64_t most = std::int64_t{1} << 30;  // AddressSanitizer takes some for itself
  EXPECT_LT(peak_memory_bytes() - before, most);
}

TEST_F(Hdf5Driver, NoticesThatAFileIsCutShort) {
  Bytes bytes = read_file(path_);
  bytes.pop_back();
  write_file(path_, bytes);
  EXPECT_FALSE(has_set());
  EXPECT_FALSE(hdf5::open_file(folder_ / "none.h5"));
}

}  // namespace
}  // namespace stagewise
