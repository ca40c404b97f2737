#include "io/hdf5.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.hpp"
#include "io/foreign.hpp"
#include "tensor/counts.hpp"
#include "tensor/quote.hpp"

namespace stagewise::hdf5 {
namespace {

constexpr herr_t failed = -1;

/// What the library knows of an open file, and what this driver adds.
struct File : H5FD_t {
  File() : H5FD_t() {}
  ~File() {
    if (descriptor >= 0) ::close(descriptor);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int descriptor = -1;
  haddr_t end = 0;       ///< of the file
  haddr_t used_end = 0;  ///< of what the file says is used of it
};

H5FD_t* open(const char* name, unsigned flags, hid_t /*properties*/, haddr_t /*largest*/) {
  if ((flags & H5F_ACC_RDWR) != 0) return nullptr;
  auto file = std::make_unique<File>();
  file->descriptor = ::open(name, O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file->descriptor < 0 || ::fstat(file->descriptor, &status) != 0) return nullptr;
  file->end = static_cast<haddr_t>(status.st_size);
  return file.release();
}

herr_t close(H5FD_t* file) {
  const std::unique_ptr<File> owner(static_cast<File*>(file));
  return 0;
}

haddr_t used_end(const H5FD_t* file, H5FD_mem_t /*type*/) { return static_cast<const File*>(file)->used_end; }

herr_t set_used_end(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t address) {
  static_cast<File*>(file)->used_end = address;
  return 0;
}

haddr_t end(const H5FD_t* file, H5FD_mem_t /*type*/) { return static_cast<const File*>(file)->end; }

herr_t read(H5FD_t* opened, H5FD_mem_t /*type*/, hid_t /*properties*/, haddr_t address, std::size_t size,
            void* buffer) {
  const File& file = *static_cast<const File*>(opened);
  if (address > file.end || size > file.end - address) return failed;
  auto* to = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t got = ::pread(file.descriptor, to, size, static_cast<off_t>(address));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return failed;
    to += got;
    address += static_cast<haddr_t>(got);
    size -= static_cast<std::size_t>(got);
  }
  return 0;
}

herr_t refuse_to_write(H5FD_t* /*file*/, H5FD_mem_t /*type*/, hid_t /*properties*/, haddr_t /*address*/,
                       std::size_t /*size*/, const void* /*buffer*/) {
  return failed;
}

/// A file driver for reading. The library's own ones have two drawbacks with damaged files. They
/// let it collect small reads (the metadata accumulator), which crashes if such a file contains an
/// undefined address. And they continue beyond the end of a file with zeros, so a header that
/// claims 4 GiB causes 4 GiB of memory to be filled.
hid_t make_driver() {
  // The library keeps pointers to it. What is not set, it does without.
  static H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 2)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(500);  // from 256 to 511: not registered
#endif
  driver.name = "stagewise_reading";
  driver.maxaddr = HADDR_MAX;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.open = open;
  driver.close = close;
  driver.get_eoa = used_end;
  driver.set_eoa = set_used_end;
  driver.get_eof = end;
  driver.read = read;
  driver.write = refuse_to_write;
  return H5FDregister(&driver);
}

Handle open_file(const std::filesystem::path& path) {
  static const hid_t driver = make_driver();
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_driver(access.id(), driver, nullptr);
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose};
}

bool is_usual(const Handle& type) {
  const std::array usual = {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_STD_U8LE,
                            H5T_STD_U8BE,   H5T_STD_I8LE,   H5T_STD_I8BE,   H5T_STD_U16LE,  H5T_STD_U16BE,
                            H5T_STD_I16LE,  H5T_STD_I16BE,  H5T_STD_U32LE,  H5T_STD_U32BE,  H5T_STD_I32LE,
                            H5T_STD_I32BE,  H5T_STD_U64LE,  H5T_STD_U64BE,  H5T_STD_I64LE,  H5T_STD_I64BE};
  return std::any_of(usual.begin(), usual.end(), [&](hid_t known) { return H5Tequal(type.id(), known) > 0; });
}

/// Whether the file holds as many bytes for the set as its shape takes.
bool holds_all(const Handle& set, std::uint64_t value_bytes, const std::vector<hsize_t>& dimensions,
               std::uint64_t file_bytes) {
  std::uint64_t bytes = value_bytes;  // were every length at least 1
  for (const hsize_t length : dimensions) {
    if (length > file_bytes / bytes) return false;
    bytes *= std::max<hsize_t>(1, length);
  }
  const bool is_empty = std::count(dimensions.begin(), dimensions.end(), 0) > 0;
  return H5Dget_storage_size(set.id()) == (is_empty ? 0 : bytes);
}

/// Why the set must not be read; empty if it may be.
/// @param dimensions receives its shape.
std::string objection_to(const Handle& set, std::vector<hsize_t>& dimensions, std::uint64_t file_bytes) {
  const Handle type(set ? H5Dget_type(set.id()) : -1, H5Tclose);
  const Handle space(set ? H5Dget_space(set.id()) : -1, H5Sclose);
  const Handle creation(set ? H5Dget_create_plist(set.id()) : -1, H5Pclose);
  if (!type || !space || !creation) return "is damaged";
  if (H5Sget_simple_extent_type(space.id()) == H5S_NULL) return "holds nothing";
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
  dimensions.resize(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space.id(), dimensions.data(), nullptr);
  if (holds_all(set, H5Tget_size(type.id()), dimensions, file_bytes)) return "";
  return "claims the shape " + list(dimensions) + ", but the file does not hold so many values";
}

herr_t add_name(hid_t /*id*/, const char* name, const H5L_info_t* /*info*/, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

/// Why a file is no HDF5 file.
std::string objection_to_kind(const std::filesystem::path& path) {
  std::string head(512, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  const std::string kind = foreign_kind(head);
  return kind.empty() ? "it is not an HDF5 file" : kind;
}

}  // namespace

std::string list(const std::vector<hsize_t>& dimensions) {
  std::vector<std::string> lengths;
  for (const hsize_t length : dimensions) lengths.push_back(std::to_string(length));
  return "[" + list_of(lengths) + "]";
}

InputFile::InputFile(std::filesystem::path path, std::string complaint)
    : path_(std::move(path)), complaint_(std::move(complaint)), file_(-1, H5Fclose) {
  keep_quiet();
  const std::string objection = objection_to_reading(path_);
  if (!objection.empty()) throw failure(objection);
  if (std::filesystem::file_size(path_) == 0) throw failure("the file is empty");
  if (H5Fis_hdf5(path_.c_str()) == 0) throw failure(objection_to_kind(path_));
  file_ = open_file(path_);
  if (!file_) throw failure("it is damaged, cut short, or may not be opened");
}

Handle InputFile::open(const std::string& path) const {
  H5L_info_t link{};
  const bool is_known = H5Lget_info(id(), path.c_str(), &link, H5P_DEFAULT) >= 0;
  if (!is_known) throw failure("it has no " + excerpt(path));
  if (link.type != H5L_TYPE_HARD) throw failure(excerpt(path) + " is a link to elsewhere");
  Handle object(H5Oopen(id(), path.c_str(), H5P_DEFAULT), H5Oclose);
  if (!object) throw failure(excerpt(path) + " is damaged");
  return object;
}

std::vector<std::string> InputFile::names_in(const std::string& group) const {
  std::vector<std::string> names;
  const Handle handle = group.empty() ? Handle(H5Gopen2(id(), "/", H5P_DEFAULT), H5Gclose) : open(group);
  if (H5Literate(handle.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add_name, &names) < 0) {
    throw failure("the group " + excerpt(group) + " is damaged");
  }
  return names;
}

bool InputFile::is_of_keras() const {
  const auto has_attribute = [&](const char* name) { return H5Aexists(id(), name) > 0; };
  return has_attribute("layer_names") || has_attribute("keras_version") || has("model_weights") || has("layers") ||
         has("_layer_checkpoint_dependencies");
}

NumberSet InputFile::open_set(const std::string& path) const {
  if (H5Iget_type(open(path).id()) != H5I_DATASET) throw failure(path + " is not a data set");
  NumberSet set = {path, Handle(H5Dopen2(id(), path.c_str(), H5P_DEFAULT), H5Dclose), {}};
  const std::string objection = objection_to(set.handle, set.dimensions, std::filesystem::file_size(path_));
  if (!objection.empty()) throw failure(excerpt(path) + " " + objection);
  return set;
}

std::vector<double> InputFile::values_of(const NumberSet& set) const {
  std::size_t count = 1;
  for (const hsize_t length : set.dimensions) count *= length;
  std::vector<double> values(count);
  if (H5Dread(set.handle.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
    throw failure("the values of " + excerpt(set.path) + " are damaged or cut short");
  }
  return values;
}

}  // namespace stagewise::hdf5
