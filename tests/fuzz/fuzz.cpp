/// @file
/// The readers that are fuzzed, each in a program of its own, whose FUZZ_READER is its name here.
/// Readers take paths, libFuzzer has bytes.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <system_error>

#include <unistd.h>

#include "io/checkpoint.hpp"
#include "io/data_sets/formats.hpp"
#include "io/images/image.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using Input = std::span<const std::uint8_t>;

/// A file that lives while the object does. Not memfd_create(): HDF5 resolves links, and
/// /proc/self/fd/3 leads to a name that is no file.
class InputOnDisk {
 public:
  explicit InputOnDisk(Input bytes) {
    std::error_code error;
    const fs::path memory = "/dev/shm";
    const bool in_memory = fs::is_directory(memory, error);
    path_ = (in_memory ? memory : fs::temp_directory_path()) / "stagewise-fuzz-XXXXXX";
    const int number = mkstemp(path_.data());
    const auto size = static_cast<ssize_t>(bytes.size());
    if (number < 0 || write(number, bytes.data(), bytes.size()) != size) std::abort();
    close(number);
  }
  ~InputOnDisk() { unlink(path_.c_str()); }
  InputOnDisk(const InputOnDisk&) = delete;
  InputOnDisk& operator=(const InputOnDisk&) = delete;

  fs::path path() const { return path_; }

 private:
  std::string path_;
};

/// Calls a reader with the path of a file, which it must either read or say in one sentence why
/// not. Everything else, a crash, a sanitizer's report, another exception, is a finding.
void read_or_say(Input input, const auto& read) {
  const InputOnDisk file(input);
  try {
    read(file.path());
  } catch (const Error& error) {
    const std::string sentence = error.what();
    if (std::getenv("FUZZ_VERBOSE") != nullptr) std::fprintf(stderr, "%s\n", error.what());
    if (sentence.empty() || sentence.find('\n') != std::string::npos) std::abort();
  }
}

void read_one_checkpoint(Input input) {
  read_or_say(input, [](const fs::path& path) { load_checkpoint(path); });
}

void read_one_cifar10(Input input) {
  read_or_say(input, [](const fs::path& path) { read_cifar10({path}); });
}

/// A table with the column "label" for classes, and then again as if a network had been trained on
/// it: what has been read once is read again.
void read_one_csv(Input input) {
  read_or_say(input, [](const fs::path& path) {
    Table table = read_csv(path, "label");
    const Table again = read_csv(path, "label", &table.encoding);
    if (again.dataset.labels() != table.dataset.labels()) std::abort();
    standardize(table.dataset, standardization_of(table.dataset));
  });
}

void read_one_hdf5(Input input) {
  read_or_say(input, [](const fs::path& path) { read_hdf5(path); });
}

/// Two files in one input: its first two bytes say how long the labels are, which come next.
void read_one_idx(Input input) {
  if (input.size() < 2) return;
  const Input both = input.subspan(2);
  const std::size_t wanted = input[0] * 256U + input[1];
  const std::size_t labels_size = std::min(wanted, both.size());
  const InputOnDisk labels(both.first(labels_size));
  for (const int classes : {0, 10}) {
    read_or_say(both.subspan(labels_size), [&](const fs::path& images) { read_idx(images, labels.path(), classes); });
  }
}

void read_one_image(Input input) {
  for (const Index channels : {1, 3}) {
    read_or_say(input, [&](const fs::path& path) {
      const Image image = read_image(path, channels);
      constexpr Index largest = 1 << 12;  // larger ones only take longer
      if (image.height * image.width > largest) return;
      fit_image(image, {28, 28, channels}, Background::automatic, 10);
    });
  }
}

const std::map<std::string, void (*)(Input)> readers = {{"checkpoint", read_one_checkpoint},
                                                        {"cifar10", read_one_cifar10},
                                                        {"csv", read_one_csv},
                                                        {"hdf5", read_one_hdf5},
                                                        {"idx", read_one_idx},
                                                        {"image", read_one_image}};

}  // namespace
}  // namespace stagewise

/// libFuzzer calls this, by this name, with one input after another.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  stagewise::readers.at(FUZZ_READER)({data, size});
  return 0;
}
