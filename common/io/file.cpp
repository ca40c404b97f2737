#include "io/file.hpp"

#include <cerrno>
#include <cstring>
#include <random>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tensor/error.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

Error failure(std::string_view what, const fs::path& path, const std::string& reason) {
  return Error("the " + std::string(what) + " " + path.string() + " cannot be written: " + reason);
}

Error failure(std::string_view what, const fs::path& path) { return failure(what, path, std::strerror(errno)); }

/// Where `path` leads: a link is followed, also to a file that does not exist yet, so that the file
/// it names is replaced and not the link.
fs::path target_of(const fs::path& path) {
  constexpr int max_links = 40;  // as many as the system itself follows; links may form a loop
  std::error_code error;
  fs::path target = fs::absolute(path, error);
  for (int i = 0; i < max_links && fs::is_symlink(fs::symlink_status(target, error)); ++i) {
    target = target.parent_path() / fs::read_symlink(target, error);
  }
  return target;
}

/// In a sticky folder, such as /tmp, permission to write to a file is not enough to replace it.
bool may_be_replaced(const fs::path& target) {
  struct stat folder {};
  struct stat file {};
  if (::stat(target.parent_path().c_str(), &folder) != 0 || ::stat(target.c_str(), &file) != 0) return true;
  const uid_t user = ::geteuid();
  return (folder.st_mode & S_ISVTX) == 0 || user == 0 || user == folder.st_uid || user == file.st_uid;
}

/// Replacing a device with a file would harm far more than this run; and a read-only file should
/// not be replaced, although write permission for its folder would suffice.
void expect_writable_or_absent(const fs::path& target, const fs::path& path, std::string_view what) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status)) throw failure(what, path, "it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw failure(what, path, "it is not a regular file");
  }
  // The reason why it cannot be looked at: a link in a loop, a name too long, ...
  if (!fs::status_known(status)) throw failure(what, path, error.message());
  if (fs::exists(status)) {
    if (::access(target.c_str(), W_OK) != 0) throw failure(what, path);
    if (!may_be_replaced(target)) {
      throw failure(what, path, "it belongs to somebody else, in a folder where only owners replace files");
    }
  } else if (!fs::is_directory(target.parent_path(), error)) {
    throw failure(what, path, "there is no folder " + target.parent_path().string());
  }
}

/// A different one each time: ".model.h5.k3x0q9.partial".
fs::path partial_of(const fs::path& target) {
  constexpr std::size_t longest = 200;  // with what is added, no more than a name may have
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::uniform_int_distribution<std::size_t> letter(0, letters.size() - 1);
  std::string name = "." + target.filename().string().substr(0, longest) + ".";
  for (int i = 0; i < 6; ++i) name += letters[letter(random)];
  return target.parent_path() / (name + ".partial");
}

/// Gives a new file the owner, group and permissions of the old one. Where it has to be left to
/// another group, that group gets no more than everybody had.
void keep_permissions(int descriptor, const struct stat& old) {
  mode_t mode = old.st_mode & 0777;
  const auto unchanged = static_cast<uid_t>(-1);
  if (::fchown(descriptor, old.st_uid, old.st_gid) != 0 && ::fchown(descriptor, unchanged, old.st_gid) != 0) {
    mode = (mode & 0707) | ((mode & 0007) << 3U);
  }
  ::fchmod(descriptor, mode);
}

/// Creates a file that did not exist. @return its descriptor; -1 if that fails, with errno.
int create_beside(const fs::path& target, fs::path& partial) {
  struct stat old {};
  const bool replaces = ::stat(target.c_str(), &old) == 0;
  // Private until it has its permissions, if somebody else chose them; else less the user's umask.
  const mode_t permissions = replaces ? 0600 : 0666;
  constexpr int attempts = 100;
  int descriptor = -1;
  for (int i = 0; i < attempts; ++i) {
    partial = partial_of(target);
    descriptor = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, permissions);
    if (descriptor >= 0 || errno != EEXIST) break;
  }
  if (descriptor >= 0 && replaces) keep_permissions(descriptor, old);
  return descriptor;
}

/// @return whether all of it has been written; if not, errno says why.
bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

NewFile::NewFile(const fs::path& path, std::string_view what) : path_(path), what_(what), target_(target_of(path)) {
  if (path.empty()) throw Error("the " + what_ + " needs a file name, but it is empty");
  expect_writable_or_absent(target_, path_, what_);
  descriptor_ = create_beside(target_, partial_);
  if (descriptor_ < 0) throw failure(what_, path_);
}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!partial_.empty()) ::unlink(partial_.c_str());
}

void NewFile::write(std::span<const std::byte> bytes) {
  if (!write_all(descriptor_, bytes)) throw failure(what_, path_);
}

void NewFile::complete() {
  if (descriptor_ < 0) return;
  // Without fsync, a power cut after the rename could leave an empty file under the good name.
  if (::fsync(descriptor_) != 0) throw failure(what_, path_);
  if (::close(std::exchange(descriptor_, -1)) != 0) throw failure(what_, path_);
}

void NewFile::publish() {
  complete();
  expect_writable_or_absent(target_, path_, what_);  // still
  if (::rename(partial_.c_str(), target_.c_str()) != 0) throw failure(what_, path_);
  partial_.clear();
}

void check_writable(const fs::path& path, std::string_view what) { const NewFile file(path, what); }

void write_file(const fs::path& path, std::span<const std::byte> contents, std::string_view what) {
  NewFile file(path, what);
  file.write(contents);
  file.publish();
}

void append_to_file(const fs::path& path, std::span<const std::byte> contents, std::string_view what) {
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) throw failure(what, path);
  struct stat before {};
  int error = 0;
  if (::fstat(file, &before) != 0) {
    error = errno;
  } else if (!write_all(file, contents)) {
    error = errno;
    [[maybe_unused]] const int ignored = ::ftruncate(file, before.st_size);
  }
  if (::close(file) != 0 && error == 0) error = errno;
  if (error != 0) throw failure(what, path, std::strerror(error));
}

std::string objection_to_reading(const fs::path& path) {
  std::error_code error;
  switch (fs::status(path, error).type()) {
    case fs::file_type::regular:
      return "";
    case fs::file_type::not_found:
      return "there is no such file";
    case fs::file_type::none:
      return error.message();
    case fs::file_type::directory:
      return "it is a folder, not a file";
    default:
      return "it is not a regular file";
  }
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;  // what cannot be looked at is refused where it is used
  if (fs::equivalent(a, b, error)) return true;
  const auto place_of = [&](const fs::path& path) {
    const fs::path target = target_of(path);
    const fs::path place = fs::weakly_canonical(target, error);
    return error ? target : place;
  };
  return place_of(a) == place_of(b);
}

}  // namespace stagewise
