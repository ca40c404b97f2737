/// @file
/// What the fuzzing targets share: the readers take paths, libFuzzer has bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>

#include <unistd.h>

#include "tensor/error.hpp"

namespace stagewise {

/// A file that lives while the object does. Not memfd_create(): HDF5 resolves links, and
/// /proc/self/fd/3 leads to a name that is no file.
class InputOnDisk {
 public:
  explicit InputOnDisk(std::span<const std::uint8_t> bytes) {
    std::error_code error;
    const std::filesystem::path memory = "/dev/shm";
    const bool in_memory = std::filesystem::is_directory(memory, error);
    path_ = (in_memory ? memory : std::filesystem::temp_directory_path()) / "stagewise-fuzz-XXXXXX";
    const int number = mkstemp(path_.data());
    const auto size = static_cast<ssize_t>(bytes.size());
    if (number < 0 || write(number, bytes.data(), bytes.size()) != size) std::abort();
    close(number);
  }
  ~InputOnDisk() { unlink(path_.c_str()); }
  InputOnDisk(const InputOnDisk&) = delete;
  InputOnDisk& operator=(const InputOnDisk&) = delete;

  std::filesystem::path path() const { return path_; }

 private:
  std::string path_;
};

/// Calls a reader, which must either succeed or say in one sentence why not. Everything else, a
/// crash, a sanitizer's report, another exception, is a finding.
template <typename Read>
void expect_success_or_sentence(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    const std::string sentence = error.what();
    if (std::getenv("FUZZ_VERBOSE") != nullptr) std::fprintf(stderr, "%s\n", error.what());
    if (sentence.empty() || sentence.find('\n') != std::string::npos) std::abort();
  }
}

}  // namespace stagewise

/// libFuzzer calls this, by this name, with one input after another.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
