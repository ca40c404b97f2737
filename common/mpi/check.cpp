#include "mpi/check.hpp"

#include <array>
#include <string>

#include "tensor/error.hpp"

namespace stagewise::mpi {

void check(int status, const char* expression, const char* file, int line) {
  if (status == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(status, text.data(), &length);
  throw Error(std::string(expression) + " at " + path_in_project(file) + ":" + std::to_string(line) +
              " failed: " + std::string(text.data(), length));
}

}  // namespace stagewise::mpi
