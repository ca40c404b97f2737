#include "io/file.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tensor/error.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

  /// Closes now; @return whether the system had nothing to complain about.
  bool close() {
    const int number = number_;
    number_ = -1;
    return ::close(number) == 0;
  }

 private:
  int number_;
};

Error failure(std::string_view what, const fs::path& path, const std::string& reason) {
  return Error("the " + std::string(what) + " " + path.string() + " cannot be written: " + reason);
}

Error failure(std::string_view what, const fs::path& path) {
  return failure(what, path, std::strerror(errno));
}

/// Where `path` leads: a link is followed, also to a file that does not exist yet, so that the file
/// it names is replaced and not the link.
fs::path target_of(const fs::path& path) {
  constexpr int most_links = 40;  // as many as the system itself follows; links may form a loop
  std::error_code error;
  fs::path target = fs::absolute(path, error);
  for (int i = 0; i < most_links && fs::is_symlink(fs::symlink_status(target, error)); ++i) {
    target = target.parent_path() / fs::read_symlink(target, error);
  }
  return target;
}

/// Replacing a device by a file would harm far more than this run.
void expect_regular_or_absent(const fs::path& target, const fs::path& path, std::string_view what) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status)) throw failure(what, path, "it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw failure(what, path, "it is not a regular file");
  }
  // The reason why it cannot be looked at: a link in a loop, a name too long, ...
  if (!fs::status_known(status)) throw failure(what, path, error.message());
}

fs::path partial_of(const fs::path& target) {
  fs::path partial = target;
  partial += ".partial";
  return partial;
}

Descriptor create(const fs::path& path) {
  constexpr mode_t permissions = 0666;  // less the user's umask
  return Descriptor(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, permissions));
}

}  // namespace

void check_writable(const fs::path& path, std::string_view what) {
  if (path.empty()) throw Error("the " + std::string(what) + " needs a file name, but it is empty");
  const fs::path target = target_of(path);
  expect_regular_or_absent(target, path, what);
  std::error_code error;
  if (fs::exists(target, error) && ::access(target.c_str(), W_OK) != 0) throw failure(what, path);
  const fs::path folder = target.parent_path();
  if (!fs::is_directory(folder, error)) {
    throw failure(what, path, "there is no folder " + folder.string());
  }
  const fs::path partial = partial_of(target);
  const Descriptor file = create(partial);
  if (file.number() < 0) throw failure(what, path);
  fs::remove(partial, error);
}

void write_file(const fs::path& path, std::span<const std::byte> contents, std::string_view what) {
  const fs::path target = target_of(path);
  expect_regular_or_absent(target, path, what);
  const fs::path partial = partial_of(target);
  const auto fail = [&] {
    Error error = failure(what, path);
    ::unlink(partial.c_str());
    return error;
  };

  Descriptor file = create(partial);
  if (file.number() < 0) throw failure(what, path);
  while (!contents.empty()) {
    const ssize_t written = ::write(file.number(), contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw fail();
    contents = contents.subspan(static_cast<std::size_t>(written));
  }
  // Without fsync, a power cut after the rename could leave an empty file under the good name.
  if (::fsync(file.number()) != 0 || !file.close()) throw fail();
  if (::rename(partial.c_str(), target.c_str()) != 0) throw fail();
}

}  // namespace stagewise
