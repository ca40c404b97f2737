/// @file
/// OpenBLAS, loaded when it is first needed.
///
/// A program that is linked with it starts a thread for each core, and each thread allocates memory
/// before anything is multiplied; if there is none left, they wait for it forever.
#pragma once

#include <cblas.h>

namespace stagewise {

/// The library's functions that the project calls.
struct OpenBlas {
  decltype(&cblas_sgemm) sgemm;
  decltype(&cblas_dgemm) dgemm;
  decltype(&openblas_get_config) configuration;
  decltype(&openblas_get_corename) core_name;
};

/// Loads the library at the first call, and has it use one thread.
/// @throws Error if it cannot be loaded, std::bad_alloc if there is no memory for it.
const OpenBlas& open_blas();

/// Makes sure, at the first call, that there is memory for the library's work buffer, which older
/// ones ask for when they first multiply; otherwise, the library would wait forever.
/// @throws std::bad_alloc
void expect_memory_for_blas();

}  // namespace stagewise
