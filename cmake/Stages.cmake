# Every program but tests, and what the benchmarks load.
add_custom_target(programs)

# stagewise_include_root(TARGET FOLDER): whoever links the target can include FOLDER/..., and nothing else
# that lies beside the folder. So a file sees its own floor and what its target names behind DEPENDS:
# an include that leads upwards does not compile.
function(stagewise_include_root target folder)
  get_filename_component(name ${folder} NAME)
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${folder})
  set(root ${PROJECT_BINARY_DIR}/floors/${path})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${folder} ${root}/${name} SYMBOLIC)
  target_include_directories(${target} PUBLIC ${root})
endfunction()

# stagewise_compile_together(TARGET): its C++ files share the time that their headers take. Files with options of their
# own, and those of kernels, stay alone.
function(stagewise_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${STAGEWISE_TOGETHER} UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# stagewise_optimize_little(TARGET): for what runs once, such as reading a command line, and compiles in two thirds of
# the time.
function(stagewise_optimize_little target)
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
endfunction()

# add_folder_library(NAME FOLDER [ROOT ROOT] [SOURCES PATTERN...] [WITHOUT FILE...] [DEPENDS...]): the sources in a
# folder of the current one as a static library, whose users include FOLDER/..., or, of a room ROOT, all that is in the
# room. Sources are all C++ and CUDA files in the folder and its folders, or those that match patterns, but for main.cpp
# and the files WITHOUT: a file that is put there is compiled.
function(add_folder_library name folder)
  cmake_parse_arguments(arg "" "ROOT" "SOURCES;WITHOUT;DEPENDS" ${ARGN})
  if(NOT arg_SOURCES)
    set(arg_SOURCES *.cpp *.cu *.cuh */*.cpp */*.cu */*.cuh)
  endif()
  list(TRANSFORM arg_SOURCES PREPEND ${folder}/)
  list(TRANSFORM arg_WITHOUT PREPEND ${folder}/)
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${arg_SOURCES})
  list(REMOVE_ITEM sources ${folder}/main.cpp ${arg_WITHOUT})
  list(FILTER sources EXCLUDE REGEX "/together_[0-9]+\\.cpp$") # which .ci/static_analysis.py makes for itself
  set(cuda_sources ${sources})
  list(FILTER cuda_sources INCLUDE REGEX "\\.cuh?$")
  list(FILTER sources EXCLUDE REGEX "\\.cuh?$")
  add_library(${name} STATIC ${sources})
  stagewise_compile_together(${name})
  if(cuda_sources)
    stagewise_cuda_sources(${name} ${cuda_sources})
  endif()
  if(NOT arg_ROOT)
    set(arg_ROOT ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  endif()
  stagewise_include_root(${name} ${arg_ROOT})
  target_link_libraries(${name} PUBLIC stagewise_settings ${arg_DEPENDS})
endfunction()

# stagewise_offers(HEADER FUNCTION...): what programs offer on their command lines: FUNCTION() in HEADER, a path from
# the folder above the current one, returns Offers. Every program learns what the others offer, for its
# error messages, and nothing else about them: the library stagewise_offers has these headers and a list.
set(offers_root ${PROJECT_BINARY_DIR}/floors/offers)
function(stagewise_offers header)
  get_filename_component(room ${CMAKE_CURRENT_SOURCE_DIR} DIRECTORY)
  get_filename_component(folder ${header} DIRECTORY)
  set(from ${CMAKE_CURRENT_SOURCE_DIR}/${header})
  if(NOT EXISTS ${from})
    set(from ${room}/${header})
  endif()
  file(MAKE_DIRECTORY ${offers_root}/${folder})
  file(CREATE_LINK ${from} ${offers_root}/${header} SYMBOLIC)
  set_property(GLOBAL APPEND PROPERTY stagewise_offers_includes "#include \"${header}\"\n")
  list(TRANSFORM ARGN APPEND "()" OUTPUT_VARIABLE calls)
  set_property(GLOBAL APPEND PROPERTY stagewise_offers_calls ${calls})
endfunction()

# stagewise_write_offers(): the library stagewise_offers, when all programs have said what they offer.
function(stagewise_write_offers)
  get_property(includes GLOBAL PROPERTY stagewise_offers_includes)
  get_property(calls GLOBAL PROPERTY stagewise_offers_calls)
  list(REMOVE_DUPLICATES includes)
  list(JOIN includes "" includes)
  list(JOIN calls ",\n          " calls)
  file(CONFIGURE OUTPUT ${offers_root}/offers/all.cpp @ONLY CONTENT [[
// Generated: see stagewise_offers() in cmake/Stages.cmake.
#include "offers/all.hpp"

@includes@
namespace stagewise {

std::vector<Offers> all_offers() {
  return {@calls@};
}

}  // namespace stagewise
]])
  file(CONFIGURE OUTPUT ${offers_root}/offers/all.hpp @ONLY CONTENT [[
// Generated, as all.cpp is.
#pragma once

#include <vector>

#include "cli/stage.hpp"

namespace stagewise {

/// What each program offers.
std::vector<Offers> all_offers();

}  // namespace stagewise
]])
  add_library(stagewise_offers STATIC ${offers_root}/offers/all.cpp)
  target_include_directories(stagewise_offers PUBLIC ${offers_root})
  target_link_libraries(stagewise_offers PUBLIC stagewise_cli)
  stagewise_optimize_little(stagewise_offers)
endfunction()

# add_program(NAME SOURCES... DEPENDS...): a program with the common command line.
function(add_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  stagewise_optimize_little(${name})
  target_link_libraries(${name} PRIVATE stagewise_cli stagewise_offers ${arg_DEPENDS})
  add_dependencies(programs ${name})
endfunction()

# stagewise_compare_with_references(PROGRAM): gives a program NVIDIA's libraries to compare with, where
# there are any (ladders/program/references.hpp).
function(stagewise_compare_with_references program)
  set(folder ${PROJECT_SOURCE_DIR}/ladders/program)
  stagewise_include_root(${program} ${PROJECT_SOURCE_DIR}/ladders)
  if(NOT STAGEWISE_CUDA)
    return()
  endif()
  stagewise_cuda_sources(${program} ${folder}/references.cu)
  if(TARGET CUDA::cublas)
    target_compile_definitions(${program} PRIVATE STAGEWISE_CUBLAS)
    target_link_libraries(${program} PRIVATE CUDA::cublas)
  endif()
endfunction()
