#include "io/data_sets/data_folder.hpp"

#include <cstdlib>
#include <system_error>

namespace stagewise {

namespace fs = std::filesystem;

fs::path data_folder(const DatasetOptions& options) {
  if (!options.data_dir.empty()) return options.data_dir;
  const char* const variable = std::getenv("STAGEWISE_DATA_DIR");
  return variable != nullptr && *variable != '\0' ? variable : "datasets";
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

fs::path with_other_ending(const fs::path& path) {
  fs::path other = path;
  if (path.extension() == ".gz") {
    other.replace_extension();
  } else {
    other += ".gz";
  }
  return other;
}

fs::path with_or_without_gz(const fs::path& path) {
  if (is_there(path)) return path;
  const fs::path other = with_other_ending(path);
  return is_there(other) ? other : path;
}

Error missing_file(const DatasetOptions& options, const fs::path& path) {
  return Error("the data set " + options.name + " needs the file " + path.string() +
               " (or the same with .gz), which is not there: let --data-dir or STAGEWISE_DATA_DIR "
               "name the folder that holds " +
               options.name + "/ (now: " + data_folder(options).string() +
               "), or fetch the data as datasets/README.md says");
}

fs::path place_of(const DatasetOptions& options, const std::string& name) {
  return data_folder(options) / options.name / name;
}

fs::path find_file(const DatasetOptions& options, const std::string& name) {
  fs::path path = with_or_without_gz(place_of(options, name));
  if (!is_there(path)) throw missing_file(options, path);
  return path;
}

}  // namespace stagewise
