#include "io/regular_file.hpp"

#include <system_error>

namespace stagewise {

std::string objection_to_reading(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  switch (status.type()) {
    case std::filesystem::file_type::regular:
      return "";
    case std::filesystem::file_type::not_found:
      return "there is no such file";
    case std::filesystem::file_type::none:
      return error.message();
    case std::filesystem::file_type::directory:
      return "it is a folder, not a file";
    default:
      return "it is not a regular file";
  }
}

}  // namespace stagewise
