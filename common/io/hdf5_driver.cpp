#include "io/hdf5_driver.hpp"

#include <cerrno>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stagewise::hdf5 {
namespace {

constexpr herr_t failed = -1;

/// What the library knows of an open file, and what this driver adds.
struct File : H5FD_t {
  File() : H5FD_t() {}
  ~File() {
    if (descriptor >= 0) ::close(descriptor);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int descriptor = -1;
  haddr_t end = 0;       ///< of the file
  haddr_t used_end = 0;  ///< of what the file says is used of it
};

H5FD_t* open(const char* name, unsigned flags, hid_t /*properties*/, haddr_t /*largest*/) {
  if ((flags & H5F_ACC_RDWR) != 0) return nullptr;
  auto file = std::make_unique<File>();
  file->descriptor = ::open(name, O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file->descriptor < 0 || ::fstat(file->descriptor, &status) != 0) return nullptr;
  file->end = static_cast<haddr_t>(status.st_size);
  return file.release();
}

herr_t close(H5FD_t* file) {
  const std::unique_ptr<File> owner(static_cast<File*>(file));
  return 0;
}

haddr_t used_end(const H5FD_t* file, H5FD_mem_t /*type*/) {
  return static_cast<const File*>(file)->used_end;
}

herr_t set_used_end(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t address) {
  static_cast<File*>(file)->used_end = address;
  return 0;
}

haddr_t end(const H5FD_t* file, H5FD_mem_t /*type*/) {
  return static_cast<const File*>(file)->end;
}

herr_t read(H5FD_t* opened, H5FD_mem_t /*type*/, hid_t /*properties*/, haddr_t address,
            std::size_t size, void* buffer) {
  const File& file = *static_cast<const File*>(opened);
  if (address > file.end || size > file.end - address) return failed;
  auto* to = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t got = ::pread(file.descriptor, to, size, static_cast<off_t>(address));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return failed;
    to += got;
    address += static_cast<haddr_t>(got);
    size -= static_cast<std::size_t>(got);
  }
  return 0;
}

herr_t refuse_to_write(H5FD_t* /*file*/, H5FD_mem_t /*type*/, hid_t /*properties*/,
                       haddr_t /*address*/, std::size_t /*size*/, const void* /*buffer*/) {
  return failed;
}

hid_t make_driver() {
  // The library keeps pointers to it. What is not set, it does without.
  static H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 2)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(500);  // from 256 to 511: not registered
#endif
  driver.name = "stagewise_reading";
  driver.maxaddr = HADDR_MAX;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.open = open;
  driver.close = close;
  driver.get_eoa = used_end;
  driver.set_eoa = set_used_end;
  driver.get_eof = end;
  driver.read = read;
  driver.write = refuse_to_write;
  return H5FDregister(&driver);
}

}  // namespace

hid_t reading_driver() {
  static const hid_t driver = make_driver();
  return driver;
}

}  // namespace stagewise::hdf5
