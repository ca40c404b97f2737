#include "tensor/error.hpp"

namespace stagewise {

std::string path_in_project(const std::string& path) {
  for (const char* const folder :
       {"/stages/", "/common/", "/ladders/", "/reports/", "/tools/", "/tests/", "/benchmarks/"}) {
    const std::size_t place = path.rfind(folder);
    if (place != std::string::npos) return path.substr(place + 1);
  }
  return path;
}

}  // namespace stagewise
