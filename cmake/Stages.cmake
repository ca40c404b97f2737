# What ./run.sh builds: every program but tests and timings.
add_custom_target(tour_programs)

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

# add_floor(NAME [FOLDER FOLDER] SOURCES... DEPENDS...): one floor of common/ as a static library.
function(add_floor name)
  cmake_parse_arguments(arg "" "FOLDER" "SOURCES;DEPENDS" ${ARGN})
  if(NOT arg_FOLDER)
    set(arg_FOLDER ${name})
  endif()
  add_library(stagewise_${name} STATIC ${arg_SOURCES})
  stagewise_include_root(stagewise_${name} ${PROJECT_SOURCE_DIR}/common/${arg_FOLDER})
  target_link_libraries(stagewise_${name} PUBLIC stagewise_settings ${arg_DEPENDS})
endfunction()

# add_folder_library(NAME FOLDER SOURCES... DEPENDS...): the sources in a folder of the current one, a stage or
# an experiment, as a static library. Among them may be .cu files; then name the .cuh files, too.
function(add_folder_library name folder)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  list(TRANSFORM arg_SOURCES PREPEND ${folder}/)
  set(cuda_sources ${arg_SOURCES})
  list(FILTER cuda_sources INCLUDE REGEX "\\.cuh?$")
  list(FILTER arg_SOURCES EXCLUDE REGEX "\\.cuh?$")
  add_library(${name} STATIC ${arg_SOURCES})
  if(cuda_sources)
    stagewise_cuda_sources(${name} ${cuda_sources})
  endif()
  stagewise_include_root(${name} ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  target_link_libraries(${name} PUBLIC stagewise_settings ${arg_DEPENDS})
endfunction()

# stagewise_compare_with_references(PROGRAM): gives a program NVIDIA's libraries to compare with, where
# there are any (ladder/references.hpp).
function(stagewise_compare_with_references program)
  set(folder ${PROJECT_SOURCE_DIR}/benchmarks/ladder)
  stagewise_include_root(${program} ${folder})
  if(NOT STAGEWISE_CUDA)
    return()
  endif()
  stagewise_cuda_sources(${program} ${folder}/references.cu)
  if(TARGET CUDA::cublas)
    target_compile_definitions(${program} PRIVATE STAGEWISE_CUBLAS)
    target_link_libraries(${program} PRIVATE CUDA::cublas)
  endif()
endfunction()
