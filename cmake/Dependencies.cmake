# Finds the libraries the project stands on, all from the system's packages. A required one that is
# missing ends the configuration with a sentence that names the package; a missing optional one is
# named, and exactly the targets that need it are left out.

# stagewise_require(NAME PACKAGE find_package-arguments...)
macro(stagewise_require name package)
  find_package(${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "${name} was not found. Install it with: sudo apt install ${package}")
  endif()
endmacro()

# stagewise_optional(NAME PACKAGE WHAT-IS-LEFT-OUT find_package-arguments...)
macro(stagewise_optional name package left_out)
  find_package(${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    message(STATUS "${name} was not found: ${left_out} will not be built. "
                   "To have it: sudo apt install ${package}")
  endif()
endmacro()

stagewise_require(ZLIB zlib1g-dev ZLIB)
stagewise_require(HDF5 libhdf5-dev HDF5 COMPONENTS C)
stagewise_require(CLI11 libcli11-dev CLI11 CONFIG)
stagewise_require(nlohmann_json nlohmann-json3-dev nlohmann_json CONFIG)

# OpenBLAS itself, not just any BLAS: it is the baseline that figures are quoted against.
find_path(OPENBLAS_INCLUDE_DIR openblas_config.h PATH_SUFFIXES openblas openblas-pthread)
find_library(OPENBLAS_LIBRARY NAMES libopenblas.so openblas PATH_SUFFIXES openblas-pthread)
if(NOT OPENBLAS_INCLUDE_DIR OR NOT OPENBLAS_LIBRARY)
  message(FATAL_ERROR "OpenBLAS was not found. Install it with: sudo apt install libopenblas-dev")
endif()
add_library(stagewise_openblas INTERFACE)
target_include_directories(stagewise_openblas SYSTEM INTERFACE ${OPENBLAS_INCLUDE_DIR})
# Loaded at run time: see common/io/open_blas.hpp.
target_compile_definitions(stagewise_openblas INTERFACE STAGEWISE_OPENBLAS="${OPENBLAS_LIBRARY}")
target_link_libraries(stagewise_openblas INTERFACE ${CMAKE_DL_LIBS})

add_library(stagewise_hdf5 INTERFACE)
target_include_directories(stagewise_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
target_compile_definitions(stagewise_hdf5 INTERFACE ${HDF5_C_DEFINITIONS})
target_link_libraries(stagewise_hdf5 INTERFACE ${HDF5_C_LIBRARIES})

if(BUILD_TESTING)
  stagewise_require(GTest libgtest-dev GTest)
endif()
stagewise_optional(MPI libopenmpi-dev "whatever runs in several processes" MPI COMPONENTS CXX)
if(STAGEWISE_DEVICE STREQUAL "cuda" OR STAGEWISE_DEVICE STREQUAL "auto")
  find_path(NCCL_INCLUDE_DIR nccl.h)
  find_library(NCCL_LIBRARY nccl)
  if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
    add_library(stagewise_nccl INTERFACE)
    target_include_directories(stagewise_nccl SYSTEM INTERFACE ${NCCL_INCLUDE_DIR})
    target_link_libraries(stagewise_nccl INTERFACE ${NCCL_LIBRARY})
  else()
    message(STATUS "NCCL was not found: stage 05 will be built without --transport nccl. "
                   "To have it: sudo apt install libnccl-dev, from NVIDIA's repository")
  endif()
endif()
find_package(PNG QUIET)
if(NOT PNG_FOUND)
  message(STATUS "libpng was not found: programs will be built that read no pictures. "
                 "To have it: sudo apt install libpng-dev")
endif()
stagewise_optional(Doxygen "doxygen doxygen-awesome-css libjs-mathjax libjs-lunr" "the documentation"
                   Doxygen)
