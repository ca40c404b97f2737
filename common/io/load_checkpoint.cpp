#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "io/checkpoint.hpp"
#include "io/checksum.hpp"
#include "io/hdf5.hpp"
#include "io/hdf5_numbers.hpp"
#include "io/regular_file.hpp"
#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using hdf5::Handle;

/// Reads one file; every failure becomes a sentence with the file's name.
class Reader {
 public:
  explicit Reader(fs::path path) : path_(std::move(path)), file_(open()) {}

  Checkpoint read() {
    Checkpoint checkpoint;
    read_attributes(checkpoint);
    if (has_group("parameters")) {
      read_group("/parameters", "", checkpoint.parameters);
      if (has_group("workers")) read_workers(checkpoint);
      if (has_group("optimizer")) read_group("/optimizer", "", checkpoint.optimizer);
    } else {
      read_foreign(checkpoint);
    }
    if (checkpoint.parameters.empty()) throw failure("it holds no parameters");
    if (checkpoint.precision.empty()) checkpoint.precision = stored_precision_;
    if (checkpoint.precision != stored_precision_) {
      throw failure("its precision is " + checkpoint.precision + ", but its parameters are " +
                    stored_precision_);
    }
    // At the end, for what can be said more precisely has been said before.
    if (checksum_ && *checksum_ != checksum_of(checkpoint)) {
      throw failure("its contents do not match its checksum, so it has been damaged or changed");
    }
    return checkpoint;
  }

 private:
  Error failure(const std::string& reason) const {
    return Error("the checkpoint " + path_.string() + " cannot be read: " + reason);
  }

  Handle open() const {
    const std::string objection = objection_to_reading(path_);
    if (!objection.empty()) throw failure(objection);
    const htri_t is_hdf5 = H5Fis_hdf5(path_.c_str());
    if (is_hdf5 == 0) throw failure("it is not an HDF5 file");
    Handle file = hdf5::open_file(path_);
    if (!file) throw failure("it is damaged, cut short, or may not be opened");
    return file;
  }

  /// Refuses links: they may lead to other files, whose bytes must not get into a result.
  void expect_own(const std::string& path) const {
    H5L_info_t link{};
    if (H5Lget_info(file_.id(), path.c_str(), &link, H5P_DEFAULT) < 0) {
      throw failure(excerpt(path) + " is damaged");
    }
    if (link.type != H5L_TYPE_HARD) throw failure(excerpt(path) + " is a link to elsewhere");
  }

  /// Names of what is below a group (links) or on the root (attributes), in the library's order.
  std::vector<std::string> names_in(const std::string& group) const {
    std::vector<std::string> names;
    const Handle handle(H5Gopen2(file_.id(), group.c_str(), H5P_DEFAULT), H5Gclose);
    if (!handle) throw failure("it has no group " + excerpt(group));
    if (group != "/") expect_own(group);
    const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* into) -> herr_t {
      static_cast<std::vector<std::string>*>(into)->emplace_back(name);
      return 0;
    };
    if (H5Literate(handle.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names) < 0) {
      throw failure("the group " + excerpt(group) + " is damaged");
    }
    return names;
  }

  void read_attributes(Checkpoint& checkpoint) {
    std::vector<std::string> names;
    const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* into) -> herr_t {
      static_cast<std::vector<std::string>*>(into)->emplace_back(name);
      return 0;
    };
    if (H5Aiterate2(file_.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names) < 0) {
      throw failure("its attributes are damaged");
    }
    for (const std::string& name : names) {
      if (name == "seed") {
        read_number(name, H5T_NATIVE_UINT64, &checkpoint.seed);
      } else if (name == "epoch") {
        read_number(name, H5T_NATIVE_INT64, &checkpoint.epoch);
      } else if (name == "step") {
        read_number(name, H5T_NATIVE_INT64, &checkpoint.step);
      } else if (name == "checksum") {
        read_number(name, H5T_NATIVE_UINT32, &checksum_.emplace());
      } else if (name == "model") {
        checkpoint.model = read_text(name);
      } else if (name == "precision") {
        checkpoint.precision = read_text(name);
      } else {
        checkpoint.settings[name] = read_text(name);
      }
    }
    if (!checkpoint.precision.empty() && checkpoint.precision != "float" &&
        checkpoint.precision != "double") {
      throw failure("its precision is " + in_quotes(checkpoint.precision) +
                    ", but must be float or double");
    }
    for (const char* const name : {"seed", "epoch", "step"}) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        checkpoint.missing.emplace_back(name);
      }
    }
    if (checkpoint.epoch < 0 || checkpoint.step < 0) {
      throw failure("its epoch or step is negative");
    }
  }

  /// Opens a scalar attribute whose type is of the given class.
  Handle open_attribute(const std::string& name, H5T_class_t type_class, const char* kind) const {
    Handle attribute(H5Aopen(file_.id(), name.c_str(), H5P_DEFAULT), H5Aclose);
    const Handle type(attribute ? H5Aget_type(attribute.id()) : -1, H5Tclose);
    const Handle space(attribute ? H5Aget_space(attribute.id()) : -1, H5Sclose);
    if (!type || !space || H5Tget_class(type.id()) != type_class ||
        H5Sget_simple_extent_npoints(space.id()) != 1) {
      throw failure("its attribute " + in_quotes(name) + " is not " + kind);
    }
    return attribute;
  }

  void read_number(const std::string& name, hid_t type, void* value) const {
    const Handle attribute = open_attribute(name, H5T_INTEGER, "a whole number");
    if (H5Aread(attribute.id(), type, value) < 0) {
      throw failure("its attribute " + in_quotes(name) + " is damaged");
    }
  }

  std::string read_text(const std::string& name) const {
    const Handle attribute = open_attribute(name, H5T_STRING, "a text");
    const Handle type(H5Aget_type(attribute.id()), H5Tclose);
    if (H5Tis_variable_str(type.id()) > 0) {
      char* text = nullptr;
      if (H5Aread(attribute.id(), type.id(), &text) < 0 || text == nullptr) {
        throw failure("its attribute " + in_quotes(name) + " is damaged");
      }
      const std::unique_ptr<char, herr_t (*)(void*)> owner(text, H5free_memory);
      return text;
    }
    std::string text(H5Tget_size(type.id()), '\0');
    if (H5Aread(attribute.id(), type.id(), text.data()) < 0) {
      throw failure("its attribute " + in_quotes(name) + " is damaged");
    }
    text.resize(std::min(text.size(), text.find('\0')));
    return text;
  }

  bool has_group(const char* name) const { return H5Lexists(file_.id(), name, H5P_DEFAULT) > 0; }

  void read_workers(Checkpoint& checkpoint) {
    const std::size_t count = names_in("/workers").size();
    for (std::size_t worker = 1; worker <= count; ++worker) {
      const std::string group = "/workers/" + std::to_string(worker);
      read_group(group, "", checkpoint.workers.emplace_back());
    }
  }

  /// Report 001's layout: "conv1" and "fc1" at the root, no attributes, no biases.
  void read_foreign(Checkpoint& checkpoint) {
    read_group("", "", checkpoint.parameters);
    for (ParameterValues& parameter : checkpoint.parameters) {
      if (parameter.name.find('/') != std::string::npos) {
        throw failure("it has neither a group /parameters nor its parameters at the root");
      }
      parameter.name += parameter.name.starts_with("conv") ? "/filter" : "/weight";
    }
  }

  void read_group(const std::string& group, const std::string& prefix,
                  std::vector<ParameterValues>& parameters) {
    constexpr std::size_t deepest = 200;  // links may form a loop
    if (group.size() > deepest) throw failure("its groups are nested too deeply");
    for (const std::string& name : names_in(group.empty() ? "/" : group)) {
      const std::string path = group + "/" + name;
      expect_own(path);
      const Handle object(H5Oopen(file_.id(), path.c_str(), H5P_DEFAULT), H5Oclose);
      if (!object) throw failure(excerpt(path) + " is damaged");
      const H5I_type_t kind = H5Iget_type(object.id());
      if (kind == H5I_GROUP) {
        read_group(path, prefix + name + "/", parameters);
      } else if (kind == H5I_DATASET) {
        parameters.push_back(read_parameter(path, prefix + name));
      } else {
        throw failure(excerpt(path) + " is neither a group nor a data set");
      }
    }
  }

  ParameterValues read_parameter(const std::string& path, const std::string& name) {
    const Handle set(H5Dopen2(file_.id(), path.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle type(set ? H5Dget_type(set.id()) : -1, H5Tclose);
    const Handle space(set ? H5Dget_space(set.id()) : -1, H5Sclose);
    if (!type || !space) throw failure(excerpt(path) + " is damaged");
    if (H5Tget_class(type.id()) != H5T_FLOAT) {
      throw failure(excerpt(path) + " does not hold floating-point numbers");
    }
    const std::string precision = H5Tget_size(type.id()) == sizeof(float) ? "float" : "double";
    if (!stored_precision_.empty() && stored_precision_ != precision) {
      throw failure("some of its parameters are float, others double");
    }
    stored_precision_ = precision;

    const int rank = H5Sget_simple_extent_ndims(space.id());
    if (rank < 0 || rank > Shape::max_rank) {
      throw failure(excerpt(path) + " has " + std::to_string(rank) +
                    " dimensions, but at most 4 are used");
    }
    std::array<hsize_t, Shape::max_rank> dimensions{};
    H5Sget_simple_extent_dims(space.id(), dimensions.data(), nullptr);
    const Shape shape =
        shape_of(path, std::span(dimensions.data(), static_cast<std::size_t>(rank)));

    // A damaged header can claim any size: believe it only as far as the file has room for it.
    // Even numbers of 0 bytes are among what it can claim.
    const std::uintmax_t bytes = std::max<std::size_t>(1, H5Tget_size(type.id()));
    if (static_cast<std::uintmax_t>(shape.elements()) > fs::file_size(path_) / bytes) {
      throw failure(excerpt(path) + " claims to be larger than the file");
    }

    const std::string objection = hdf5::objection_to(set, fs::file_size(path_));
    if (!objection.empty()) throw failure(excerpt(path) + " " + objection);

    ParameterValues parameter{.name = name, .shape = shape, .values = {}};
    parameter.values.resize(static_cast<std::size_t>(shape.elements()));
    if (H5Dread(set.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                parameter.values.data()) < 0) {
      throw failure("the values of " + excerpt(path) + " are damaged or cut short");
    }
    return parameter;
  }

  /// @throws Error naming the file where Shape's sentence could not.
  Shape shape_of(const std::string& path, std::span<const hsize_t> dimensions) const {
    Shape shape;
    try {
      for (std::size_t i = dimensions.size(); i-- > 0;) {
        shape = shape.batched(static_cast<Index>(dimensions[i]));
      }
    } catch (const Error&) {
      throw failure(excerpt(path) + " claims to be larger than the file");
    }
    return shape;
  }

  fs::path path_;
  Handle file_;
  std::string stored_precision_;
  std::optional<std::uint32_t> checksum_;  ///< other programs and earlier versions write none
};

/// Whether `a` comes before `b` when runs of digits count as numbers: fc2 before fc10.
bool natural_less(const std::string& a, const std::string& b) {
  const auto key = [](const std::string& text) {
    std::string padded;
    std::string digits;
    const auto flush = [&] {
      if (!digits.empty())
        padded += std::string(20 - std::min<std::size_t>(20, digits.size()), '0');
      padded += digits;
      digits.clear();
    };
    for (const char c : text) {
      if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
        digits += c;
      } else {
        flush();
        padded += c;
      }
    }
    flush();
    return padded;
  };
  return key(a) < key(b);
}

}  // namespace

Checkpoint load_checkpoint(const fs::path& path) {
  const hdf5::Quiet quiet;
  Checkpoint checkpoint = Reader(path).read();
  std::stable_sort(checkpoint.parameters.begin(), checkpoint.parameters.end(),
                   [](const auto& a, const auto& b) { return natural_less(a.name, b.name); });
  return checkpoint;
}

}  // namespace stagewise
