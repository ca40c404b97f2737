#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include <zlib.h>

#include "io/checkpoint.hpp"
#include "io/file.hpp"
#include "io/hdf5.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

using hdf5::Handle;

/// The library's answer to a call that can only fail for want of memory, as the file being written
/// lives there.
hid_t made(hid_t id) {
  if (id < 0) throw Error("there is not enough memory to put the checkpoint together");
  return id;
}

void done(herr_t status) { made(status); }

void write_attribute(const Handle& object, const std::string& name, const Handle& type, const void* value) {
  const Handle space(made(H5Screate(H5S_SCALAR)), H5Sclose);
  const Handle attribute(made(H5Acreate2(object.id(), name.c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT)),
                         H5Aclose);
  done(H5Awrite(attribute.id(), type.id(), value));
}

/// As many bytes as the text has: texts of variable length live in a part of the file that has no
/// checksum.
void write_text(const Handle& object, const std::string& name, const std::string& value) {
  const Handle type(made(H5Tcopy(H5T_C_S1)), H5Tclose);
  done(H5Tset_size(type.id(), std::max<std::size_t>(1, value.size())));
  done(H5Tset_strpad(type.id(), H5T_STR_NULLPAD));
  done(H5Tset_cset(type.id(), H5T_CSET_UTF8));
  write_attribute(object, name, type, value.c_str());
}

void write_number(const Handle& object, const std::string& name, hid_t type, const void* value) {
  write_attribute(object, name, Handle(made(H5Tcopy(type)), H5Tclose), value);
}

/// Properties for creating an object that does not record when: the same contents give the same
/// bytes.
Handle without_times(hid_t kind) {
  Handle creation(made(H5Pcreate(kind)), H5Pclose);
  done(H5Pset_obj_track_times(creation.id(), false));
  return creation;
}

/// Creates a group unless it exists, and those above it.
void make_group(const Handle& root, const std::string& path) {
  const Handle creation = without_times(H5P_GROUP_CREATE);
  for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
    const std::string name = path.substr(0, end);
    if (H5Lexists(root.id(), name.c_str(), H5P_DEFAULT) <= 0) {
      const Handle group(made(H5Gcreate2(root.id(), name.c_str(), H5P_DEFAULT, creation.id(), H5P_DEFAULT)), H5Gclose);
    }
    if (end == std::string::npos) return;
  }
}

void write_parameter(const Handle& root, const std::string& path, const ParameterValues& parameter, hid_t stored_type) {
  std::array<hsize_t, Shape::max_rank> dimensions{};
  for (int i = 0; i < parameter.shape.rank(); ++i) {
    dimensions[i] = static_cast<hsize_t>(parameter.shape[i]);
  }
  const Handle space(made(H5Screate_simple(parameter.shape.rank(), dimensions.data(), nullptr)), H5Sclose);
  make_group(root, path.substr(0, path.rfind('/')));
  const Handle creation = without_times(H5P_DATASET_CREATE);
  const Handle set(
      made(H5Dcreate2(root.id(), path.c_str(), stored_type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT)),
      H5Dclose);
  done(H5Dwrite(set.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, parameter.values.data()));
}

/// The file's bytes. HDF5 builds it in memory: writing it out is then one plain operation, whose
/// failure (a full disk) is noticed in time and leaves no half-open file behind in the library.
std::vector<std::byte> file_image(const Checkpoint& checkpoint) {
  constexpr std::size_t growth = 1 << 20;
  const Handle access(made(H5Pcreate(H5P_FILE_ACCESS)), H5Pclose);
  done(H5Pset_fapl_core(access.id(), growth, false));
  // The format since 2008 has a checksum on every header. Without, a damaged file can make the
  // library crash instead of telling.
  done(H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_V18));
  const Handle file(made(H5Fcreate("checkpoint", H5F_ACC_TRUNC, without_times(H5P_FILE_CREATE).id(), access.id())),
                    H5Fclose);

  write_text(file, "model", checkpoint.model);
  write_text(file, "precision", checkpoint.precision);
  write_number(file, "seed", H5T_NATIVE_UINT64, &checkpoint.seed);
  write_number(file, "epoch", H5T_NATIVE_INT64, &checkpoint.epoch);
  write_number(file, "step", H5T_NATIVE_INT64, &checkpoint.step);
  for (const auto& [name, value] : checkpoint.settings) write_text(file, name, value);
  const std::uint32_t checksum = checksum_of(checkpoint);
  write_number(file, "checksum", H5T_NATIVE_UINT32, &checksum);

  const hid_t stored_type = checkpoint.precision == "float" ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
  make_group(file, "parameters");  // there also if it stays empty
  for (const ParameterValues& parameter : checkpoint.parameters) {
    write_parameter(file, "parameters/" + parameter.name, parameter, stored_type);
  }
  for (std::size_t worker = 0; worker < checkpoint.workers.size(); ++worker) {
    for (const ParameterValues& parameter : checkpoint.workers[worker]) {
      write_parameter(file, "workers/" + std::to_string(worker + 1) + "/" + parameter.name, parameter, stored_type);
    }
  }
  for (const ParameterValues& state : checkpoint.optimizer) {
    write_parameter(file, "optimizer/" + state.name, state, stored_type);
  }

  done(H5Fflush(file.id(), H5F_SCOPE_GLOBAL));
  const ssize_t size = H5Fget_file_image(file.id(), nullptr, 0);
  done(size < 0 ? -1 : 0);
  // Not H5Fget_file_image(): it clears a flag in the header and forgets the header's checksum.
  void* memory = nullptr;
  done(H5Fget_vfd_handle(file.id(), access.id(), &memory));
  const std::byte* const begin = *static_cast<std::byte**>(memory);
  return {begin, begin + size};
}

class Checksum {
 public:
  explicit Checksum(bool in_float) : in_float_(in_float) {}

  void add(const std::string& text) { add(text.c_str(), text.size() + 1); }

  template <typename Unsigned>
  void add(Unsigned number) {
    static_assert(std::endian::native == std::endian::little, "as the bytes are described");
    add(&number, sizeof(number));
  }

  void add(const std::vector<ParameterValues>& parameters) {
    std::vector<const ParameterValues*> sorted;
    for (const ParameterValues& parameter : parameters) sorted.push_back(&parameter);
    std::ranges::sort(sorted, {}, &ParameterValues::name);
    for (const ParameterValues* const parameter : sorted) {
      add(parameter->name);
      for (int i = 0; i < parameter->shape.rank(); ++i) {
        add(static_cast<std::uint64_t>(parameter->shape[i]));
      }
      for (const double value : parameter->values) add_value(value);
    }
  }

  std::uint32_t value() const { return static_cast<std::uint32_t>(value_); }

 private:
  void add(const void* bytes, std::size_t size) { value_ = ::crc32_z(value_, static_cast<const Bytef*>(bytes), size); }

  /// As the file has it: what is too large for a float is infinite there.
  void add_value(double value) {
    if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
    if (!in_float_) return add(std::bit_cast<std::uint64_t>(value));
    if (std::abs(value) > std::numeric_limits<float>::max())
      value = std::copysign(std::numeric_limits<double>::infinity(), value);
    add(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  }

  bool in_float_;
  uLong value_ = ::crc32(0, nullptr, 0);
};

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  hdf5::keep_quiet();
  write_file(path, file_image(checkpoint), "checkpoint");
}

std::uint32_t checksum_of(const Checkpoint& checkpoint) {
  const bool in_float = checkpoint.precision == "float";
  Checksum checksum(in_float);
  checksum.add(checkpoint.model);
  checksum.add(std::string(in_float ? "float" : "double"));
  checksum.add(checkpoint.seed);
  checksum.add(static_cast<std::uint64_t>(checkpoint.epoch));
  checksum.add(static_cast<std::uint64_t>(checkpoint.step));
  for (const auto& [name, value] : checkpoint.settings) {
    checksum.add(name);
    checksum.add(value);
  }
  checksum.add(checkpoint.parameters);
  for (const std::vector<ParameterValues>& worker : checkpoint.workers) checksum.add(worker);
  checksum.add(checkpoint.optimizer);
  return checksum.value();
}

}  // namespace stagewise
