#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include "io/checkpoint.hpp"
#include "io/foreign.hpp"
#include "io/hdf5.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using hdf5::Handle;

/// Reads one file.
class CheckpointReader {
 public:
  explicit CheckpointReader(const fs::path& path)
      : file_(path, "the checkpoint " + path.string() + " cannot be read") {}

  Checkpoint read() {
    Checkpoint checkpoint;
    if (!file_.has("parameters") && file_.is_of_keras()) throw failure(kind_of_keras);
    read_attributes(checkpoint);
    if (file_.has("parameters")) {
      read_group("/parameters", "", checkpoint.parameters);
      if (file_.has("workers")) read_workers(checkpoint);
      if (file_.has("optimizer")) read_group("/optimizer", "", checkpoint.optimizer);
    } else {
      read_foreign(checkpoint);
    }
    if (checkpoint.parameters.empty()) throw failure("it holds no parameters");
    if (checkpoint.precision.empty()) checkpoint.precision = stored_precision_;
    if (checkpoint.precision != stored_precision_) {
      throw failure("its precision is " + checkpoint.precision + ", but its parameters are " + stored_precision_);
    }
    // At the end, for what can be said more precisely has been said before.
    if (checksum_ && *checksum_ != checksum_of(checkpoint)) {
      throw failure("its contents do not match its checksum, so it has been damaged or changed");
    }
    return checkpoint;
  }

 private:
  Error failure(const std::string& reason) const { return file_.failure(reason); }

  static herr_t collect(hid_t /*id*/, const char* name, const H5A_info_t* /*info*/, void* names) {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    return 0;
  }

  void read_attributes(Checkpoint& checkpoint) {
    std::vector<std::string> all;
    if (H5Aiterate2(file_.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &all) < 0) {
      throw failure("its attributes are damaged");
    }
    std::set<std::string> names(all.begin(), all.end());
    const auto take_number = [&](const char* name, hid_t type, void* value) {
      if (names.erase(name) == 0) {
        checkpoint.missing.emplace_back(name);
      } else {
        read_number(name, type, value);
      }
    };
    take_number("seed", H5T_NATIVE_UINT64, &checkpoint.seed);
    take_number("epoch", H5T_NATIVE_INT64, &checkpoint.epoch);
    take_number("step", H5T_NATIVE_INT64, &checkpoint.step);
    if (names.erase("checksum") > 0) {
      read_number("checksum", H5T_NATIVE_UINT32, &checksum_.emplace());
    }
    if (names.erase("model") > 0) checkpoint.model = read_text("model");
    if (names.erase("precision") > 0) checkpoint.precision = read_text("precision");
    for (const std::string& name : names) checkpoint.settings[name] = read_text(name);
    if (!checkpoint.precision.empty() && checkpoint.precision != "float" && checkpoint.precision != "double") {
      throw failure("its precision is " + in_quotes(checkpoint.precision) + ", but must be float or double");
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
    if (!type || !space || H5Tget_class(type.id()) != type_class || H5Sget_simple_extent_npoints(space.id()) != 1) {
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

  void read_workers(Checkpoint& checkpoint) {
    const std::size_t count = file_.names_in("/workers").size();
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

  void read_group(const std::string& group, const std::string& prefix, std::vector<ParameterValues>& parameters) {
    constexpr std::size_t deepest = 200;  // links may form a loop
    if (group.size() > deepest) throw failure("its groups are nested too deeply");
    for (const std::string& name : file_.names_in(group)) {
      const std::string path = group + "/" + name;
      const H5I_type_t kind = H5Iget_type(file_.open(path).id());
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
    const hdf5::NumberSet set = file_.open_set(path);
    const Handle type(H5Dget_type(set.handle.id()), H5Tclose);
    if (H5Tget_class(type.id()) != H5T_FLOAT) {
      throw failure(excerpt(path) + " does not hold floating-point numbers");
    }
    const std::string precision = H5Tget_size(type.id()) == sizeof(float) ? "float" : "double";
    if (!stored_precision_.empty() && stored_precision_ != precision) {
      throw failure("some of its parameters are float, others double");
    }
    stored_precision_ = precision;
    if (set.dimensions.size() > Shape::max_rank) {
      throw failure(excerpt(path) + " has " + std::to_string(set.dimensions.size()) +
                    " dimensions, but at most 4 are used");
    }
    Shape shape;
    const std::vector<hsize_t> from_last(set.dimensions.rbegin(), set.dimensions.rend());
    for (const hsize_t length : from_last) {
      shape = shape.batched(static_cast<Index>(length));
    }
    return {.name = name, .shape = shape, .values = file_.values_of(set)};
  }

  hdf5::InputFile file_;
  std::string stored_precision_;
  std::optional<std::uint32_t> checksum_;  ///< other programs and earlier versions write none
};

}  // namespace

Checkpoint load_checkpoint(const fs::path& path) {
  Checkpoint checkpoint = CheckpointReader(path).read();
  // Runs of digits count as numbers: fc2 is before fc10.
  std::ranges::stable_sort(checkpoint.parameters, [](const auto& a, const auto& b) {
    return ::strverscmp(a.name.c_str(), b.name.c_str()) < 0;
  });
  return checkpoint;
}

}  // namespace stagewise
