#include "io/data_sets/find_files.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <system_error>
#include <vector>

#include "io/data_sets/formats.hpp"
#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace fs = std::filesystem;
namespace {

/// The name of an IDX file without what differs from archive to archive: "letters-train-images" of
/// "letters-train-images.idx3-ubyte.gz".
std::string idx_stem(const fs::path& file) {
  const std::string name = file.filename().string();
  const std::size_t place = name.rfind("idx");
  return name.substr(0, place == std::string::npos || place == 0 ? name.rfind(".gz") : place - 1);
}

}  // namespace

bool is_there(const fs::path& path) {
  std::error_code ignored;  // reading it says why
  return fs::exists(path, ignored);
}

fs::path with_other_ending(const fs::path& path) {
  return path.extension() == ".gz" ? path.parent_path() / path.stem() : fs::path(path.string() + ".gz");
}

fs::path with_or_without_gz(const fs::path& path) {
  return is_there(path) || !is_there(with_other_ending(path)) ? path : with_other_ending(path);
}

std::string what_is_in(const fs::path& folder) {
  constexpr std::size_t most = 8;
  std::set<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    names.insert(excerpt(entry.path().filename().string()));
  }
  if (names.empty()) return "";
  std::vector<std::string> some(names.begin(), std::next(names.begin(), std::min(most, names.size())));
  if (names.size() > most) some.emplace_back("...");
  return "; its folder has " + list_of(some);
}

fs::path idx_file_like(const fs::path& file, const std::function<bool(const std::string&)>& is_such) {
  if (is_there(with_or_without_gz(file))) return file;
  std::set<fs::path> found;
  std::set<std::string> stems;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(file.parent_path(), ignored)) {
    if (!is_such(idx_stem(entry.path())) || entry.path().filename().string().find("idx") == std::string::npos) continue;
    found.insert(entry.path());
    stems.insert(idx_stem(entry.path()));
  }
  return stems.size() == 1 ? *found.begin() : file;
}

fs::path labels_of(const fs::path& images) {
  std::error_code ignored;
  if (fs::is_directory(images, ignored)) {
    throw Error("cannot read " + images.string() + ": it is a folder, and a file of images was expected" +
                what_is_in(images));
  }
  const fs::path labels = idx_labels_path(images);
  return idx_file_like(labels, [&](const std::string& stem) { return stem == idx_stem(labels); });
}

}  // namespace stagewise
