#include "io/open_blas.hpp"

#include <cstdlib>
#include <new>
#include <string>

#include <dlfcn.h>

#include "tensor/error.hpp"
#include "tensor/tensor.hpp"

namespace stagewise {
namespace {

constexpr std::size_t library_bytes = std::size_t{40} << 20;
constexpr std::size_t buffer_bytes = std::size_t{129} << 20;

void expect_memory(std::size_t bytes) {
  if (!can_be_had(bytes)) throw std::bad_alloc();
}

template <typename Function>
void find(void* library, const char* name, Function& function) {
  // NOLINTNEXTLINE(*-reinterpret-cast): POSIX wants it
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    throw Error(std::string("the library " STAGEWISE_OPENBLAS " is not OpenBLAS: it has no ") + name);
  }
}

OpenBlas load() {
  expect_memory(library_bytes + buffer_bytes);  // newer ones ask for their buffer here
  setenv("OPENBLAS_NUM_THREADS", "1", 1);       // NOLINT(concurrency-mt-unsafe): read while it is loaded
  void* const library = dlopen(STAGEWISE_OPENBLAS, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(std::string("OpenBLAS, which --gemm blas needs, cannot be loaded: ") +
                dlerror());  // NOLINT(concurrency-mt-unsafe)
  }
  OpenBlas blas{};
  find(library, "cblas_sgemm", blas.sgemm);
  find(library, "cblas_dgemm", blas.dgemm);
  find(library, "openblas_get_config", blas.configuration);
  find(library, "openblas_get_corename", blas.core_name);
  decltype(&openblas_set_num_threads) set_threads = nullptr;
  find(library, "openblas_set_num_threads", set_threads);
  set_threads(1);  // for those that do not look at the variable
  return blas;
}

}  // namespace

const OpenBlas& open_blas() {
  static const OpenBlas blas = load();
  return blas;
}

void expect_memory_for_blas() {
  static const bool is_there = (expect_memory(buffer_bytes), true);
  static_cast<void>(is_there);
}

}  // namespace stagewise
