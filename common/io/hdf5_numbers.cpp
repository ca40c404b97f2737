#include "io/hdf5_numbers.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <vector>

#include "io/hdf5_driver.hpp"

namespace stagewise::hdf5 {
namespace {

bool is_usual(const Handle& type) {
  const std::array usual = {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE,
                            H5T_STD_U8LE,   H5T_STD_U8BE,   H5T_STD_I8LE,   H5T_STD_I8BE,
                            H5T_STD_U16LE,  H5T_STD_U16BE,  H5T_STD_I16LE,  H5T_STD_I16BE,
                            H5T_STD_U32LE,  H5T_STD_U32BE,  H5T_STD_I32LE,  H5T_STD_I32BE,
                            H5T_STD_U64LE,  H5T_STD_U64BE,  H5T_STD_I64LE,  H5T_STD_I64BE};
  return std::any_of(std::begin(usual), std::end(usual),
                     [&](hid_t known) { return H5Tequal(type.id(), known) > 0; });
}

/// How many bytes so many values take; the largest number if that is too small for it.
std::uint64_t bytes_of(std::uint64_t value_bytes, const std::vector<hsize_t>& dimensions) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t bytes = value_bytes;
  for (const hsize_t length : dimensions) {
    bytes = length != 0 && bytes > most / length ? most : bytes * length;
  }
  return bytes;
}

}  // namespace

std::string list(const std::vector<hsize_t>& dimensions) {
  std::string text;
  for (const hsize_t length : dimensions) {
    text += (text.empty() ? "" : ", ") + std::to_string(length);
  }
  return "[" + text + "]";
}

Handle open_file(const std::filesystem::path& path) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_driver(access.id(), reading_driver(), nullptr);
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose};
}

std::string objection_to(const Handle& set, std::uint64_t file_bytes) {
  const Handle type(H5Dget_type(set.id()), H5Tclose);
  const Handle space(H5Dget_space(set.id()), H5Sclose);
  const Handle creation(H5Dget_create_plist(set.id()), H5Pclose);
  if (!type || !space || !creation) return "is damaged";
  if (!is_usual(type)) return "does not hold integers, floats or doubles";

  const H5D_layout_t layout = H5Pget_layout(creation.id());
  if (layout == H5D_VIRTUAL || H5Pget_external_count(creation.id()) != 0) {
    return "has its values in another file";
  }
  if (layout == H5D_CHUNKED) {
    return "is stored in chunks; `h5repack -f NONE -l CONTI FILE NEW_FILE` stores it in one piece";
  }
  const int rank = H5Sget_simple_extent_ndims(space.id());
  if (layout < 0 || rank < 0) return "is damaged";
  std::vector<hsize_t> dimensions(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space.id(), dimensions.data(), nullptr);
  const std::uint64_t bytes = bytes_of(H5Tget_size(type.id()), dimensions);
  if (bytes > file_bytes || bytes != H5Dget_storage_size(set.id())) {
    return "claims the shape " + list(dimensions) + ", but the file does not hold so many values";
  }
  return "";
}

}  // namespace stagewise::hdf5
