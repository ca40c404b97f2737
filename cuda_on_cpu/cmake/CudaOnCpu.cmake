# cuda_on_cpu_sources(TARGET FILES...): adds .cu files to a library or a program, and names the .cuh files that
# they and others include. All are translated to C++ when they have changed. The target's own .cpp files, and
# what links the target, may include <cuda_runtime.h>.
#
# The translations mirror the source tree, in the folder cuda_on_cpu of the build: so a .cuh is found by its path
# from any of the folders in CUDA_ON_CPU_ROOTS (the project's, unless set), and as a neighbour. Several
# targets may name the same file.

# cuda_on_cpu_line_numbers(VARIABLE): the compiler options by which a report can name lines, where a
# configuration does not have more of it anyway. The ranges of addresses, by which libdw finds them, are g++'s
# habit only.
function(cuda_on_cpu_line_numbers variable)
  set(${variable} "$<$<NOT:$<CONFIG:Debug,RelWithDebInfo>>:-g1>" $<$<CXX_COMPILER_ID:Clang>:-gdwarf-aranges>
      PARENT_SCOPE)
endfunction()

# cuda_on_cpu_reports(VARIABLE): the compiler options by which kernels report their accesses to memory, to
# src/accesses.cpp instead of ThreadSanitizer's library. Each thread's accesses stay what the program says: none
# are joined to vectors or to calls of memcpy().
function(cuda_on_cpu_reports variable)
  set(options -fsanitize=thread -U__SANITIZE_THREAD__ -DCUDA_ON_CPU_OBSERVED)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    list(APPEND options -fno-vectorize -fno-slp-vectorize "SHELL:-mllvm -tsan-instrument-func-entry-exit=0"
         "SHELL:-mllvm -tsan-distinguish-volatile=1" "SHELL:-mllvm -tsan-instrument-read-before-write=1")
  else()
    list(APPEND options -O2 -fno-tree-vectorize -fno-tree-loop-distribute-patterns
         --param=tsan-instrument-func-entry-exit=0 --param=tsan-distinguish-volatile=1)
  endif()
  set(${variable} ${options} PARENT_SCOPE)
endfunction()

# cuda_on_cpu_translate(FILE OUTPUT TARGET): sets OUTPUT to the C++ that is made of a .cu or .cuh file, and
# TARGET to what makes it.
function(cuda_on_cpu_translate file output target)
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${file})
  cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${file} is_generated)
  if(is_generated) # the build folder may lie anywhere
    file(RELATIVE_PATH path ${PROJECT_BINARY_DIR} ${file})
  endif()
  string(REPLACE "../" "" path ${path})
  set(translated ${PROJECT_BINARY_DIR}/cuda_on_cpu/${path})
  if(path MATCHES "\\.cu$")
    string(APPEND translated .cpp)
  endif()
  string(MAKE_C_IDENTIFIER translate_${path} name)
  if(NOT TARGET ${name})
    add_custom_command(OUTPUT ${translated} COMMAND cuda_on_cpu::translate ${file} ${translated}
                       DEPENDS cuda_on_cpu::translate ${file} COMMENT "Translating ${path}" VERBATIM)
    add_custom_target(${name} DEPENDS ${translated})
  endif()
  set(${output} ${translated} PARENT_SCOPE)
  set(${target} ${name} PARENT_SCOPE)
endfunction()

function(cuda_on_cpu_sources target)
  cuda_on_cpu_line_numbers(line_numbers)
  # g++ would unroll the loops over a thread's tile completely, which takes long to compile and makes little
  # difference to the programs' times.
  set(loops $<$<CXX_COMPILER_ID:GNU>:--param=max-completely-peeled-insns=16>)
  set(alignment -fsanitize=alignment)
  if(CUDA_ON_CPU_SANITIZER STREQUAL "address") # then its runtime reports, and not ours
    list(APPEND alignment -fno-sanitize-recover=alignment)
  elseif(CUDA_ON_CPU_SANITIZER STREQUAL "thread") # nobody reports
    set(alignment "")
  endif()
  cuda_on_cpu_reports(reports)
  list(TRANSFORM reports REPLACE "(.+)" "$<$<BOOL:$<TARGET_PROPERTY:CUDA_ON_CPU_OBSERVED>>:\\1>")
  foreach(file IN LISTS ARGN)
    get_filename_component(file ${file} ABSOLUTE)
    cuda_on_cpu_translate(${file} translated rule)
    add_dependencies(${target} ${rule})
    if(file MATCHES "\\.cu$")
      target_sources(${target} PRIVATE ${translated})
      get_filename_component(folder ${file} DIRECTORY)
      # What a report says about a kernel, checks whose findings the runtime reports, and the headers beside the
      # original.
      set_source_files_properties(
        ${translated} TARGET_DIRECTORY ${target}
        PROPERTIES COMPILE_OPTIONS "${line_numbers};${loops};${alignment};${reports};-iquote;${folder}"
                   SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
  set(roots ${CUDA_ON_CPU_ROOTS})
  if(NOT roots)
    set(roots .)
  endif()
  foreach(root IN LISTS roots)
    target_include_directories(${target} BEFORE PRIVATE ${PROJECT_BINARY_DIR}/cuda_on_cpu/${root})
  endforeach()
  target_link_libraries(${target} PUBLIC cuda_on_cpu::runtime)
endfunction()

# cuda_on_cpu_observed(PROGRAM): the program once more, as the target PROGRAM_observed, in the folder "observed" beside
# it. Its kernels report their accesses to memory, for STAGEWISE_CPU_OBSERVE. Only they are compiled again; everything
# else is what the program itself consists of. "all" does not build it. Call it when all that the program links is
# there. Under a sanitizer, there is no such program.
function(cuda_on_cpu_observed program)
  if(CUDA_ON_CPU_SANITIZER)
    return()
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR})
  if(CMAKE_RUNTIME_OUTPUT_DIRECTORY)
    set(folder ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  endif()
  cuda_on_cpu_observe(${program} observed)
  set_target_properties(${observed} PROPERTIES OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY ${folder}/observed)
endfunction()

# cuda_on_cpu_observe(TARGET VARIABLE): sets the variable to what stands for the target in an observed program:
# TARGET_observed, which this makes, if it has kernels or links something that has; else the target itself.
function(cuda_on_cpu_observe target variable)
  set(${variable} ${target} PARENT_SCOPE)
  if(NOT TARGET ${target}) # an option, or a library of the system
    return()
  endif()
  get_target_property(aliased ${target} ALIASED_TARGET)
  if(aliased)
    set(target ${aliased})
  endif()
  get_target_property(known ${target} CUDA_ON_CPU_OBSERVED_AS)
  get_target_property(type ${target} TYPE)
  get_target_property(is_imported ${target} IMPORTED)
  if(known AND NOT known STREQUAL target)
    set(${variable} ${known} PARENT_SCOPE)
  endif()
  if(known OR is_imported OR type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()

  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cu\\.cpp$")
  set(needs_own ${sources})
  set(links "")
  get_target_property(original_links ${target} LINK_LIBRARIES)
  foreach(link IN LISTS original_links)
    cuda_on_cpu_observe("${link}" observed_link)
    list(APPEND links "${observed_link}")
    if(NOT observed_link STREQUAL link)
      set(needs_own ON)
    endif()
  endforeach()
  if(NOT needs_own)
    set_target_properties(${target} PROPERTIES CUDA_ON_CPU_OBSERVED_AS ${target})
    return()
  endif()

  set(observed ${target}_observed)
  set(sources ${sources} "$<FILTER:$<TARGET_OBJECTS:${target}>,EXCLUDE,[.]cu[.]cpp[.][^.]*$>")
  if(type STREQUAL "EXECUTABLE")
    add_executable(${observed} EXCLUDE_FROM_ALL ${sources})
  else()
    add_library(${observed} STATIC EXCLUDE_FROM_ALL ${sources})
  endif()
  foreach(property IN ITEMS INCLUDE_DIRECTORIES INTERFACE_INCLUDE_DIRECTORIES COMPILE_DEFINITIONS
                            INTERFACE_COMPILE_DEFINITIONS COMPILE_FEATURES INTERFACE_COMPILE_FEATURES)
    get_target_property(value ${target} ${property})
    if(value)
      set_target_properties(${observed} PROPERTIES ${property} "${value}")
    endif()
  endforeach()
  target_link_libraries(${observed} PUBLIC ${links})
  set_target_properties(${observed} PROPERTIES CUDA_ON_CPU_OBSERVED ON LINKER_LANGUAGE CXX)
  set_target_properties(${target} PROPERTIES CUDA_ON_CPU_OBSERVED_AS ${observed})

  # Options of a file are known to the targets of a folder only.
  foreach(file IN LISTS sources)
    if(file MATCHES "\\.cu\\.cpp$")
      get_source_file_property(options ${file} TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
      set_source_files_properties(${file} TARGET_DIRECTORY ${observed} PROPERTIES COMPILE_OPTIONS "${options}"
                                                                              SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
  get_target_property(rules ${target} MANUALLY_ADDED_DEPENDENCIES)
  if(rules)
    add_dependencies(${observed} ${rules})
  endif()
  set(${variable} ${observed} PARENT_SCOPE)
endfunction()
