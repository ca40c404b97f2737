/// @file
/// Runs a program as from a shell, for tests of what it says.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/wait.h>

namespace cuda_on_cpu {

/// A new, empty folder that vanishes with all it holds at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "cuda-on-cpu-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder: " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("the test could not write " + path.string());
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// How a command ended.
struct Ending {
  int exit_code = -1;  ///< 128 and the signal's number if one ended it
  std::string out;
  std::string err;
};

/// Runs a command to its end, at most 300 seconds.
/// @param words the program and its arguments; none holds an apostrophe.
/// @param variables of the environment, to be set or, without a value, to be unset.
inline Ending run(const std::filesystem::path& folder, const std::vector<std::string>& words,
                  const std::map<std::string, std::optional<std::string>>& variables = {}) {
  const TemporaryFolder outputs;
  std::string command = "cd '" + folder.string() + "' && timeout 300 env";
  std::string values;
  for (const auto& [name, value] : variables) {
    if (value) values += " " + name + "='" + *value + "'";
    if (!value) command += " -u " + name;
  }
  command += values;
  for (const std::string& word : words) command += " '" + word + "'";
  command += " >'" + (outputs / "out").string() + "' 2>'" + (outputs / "err").string() + "'";
  const int status = std::system(command.c_str());  // NOLINT: a test's own command, on one thread
  return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .out = read_file(outputs / "out"),
          .err = read_file(outputs / "err")};
}

}  // namespace cuda_on_cpu
