# cuda_on_cpu_sources(TARGET FILES...): adds .cu files to a library or a program, and names the .cuh files that
# they and others include. All are translated to C++ when they have changed. The target's own .cpp files, and
# what links the target, may include <cuda_runtime.h>.
#
# The translations mirror the source tree, in the folder cuda_on_cpu of the build: so a .cuh is found by its path
# from any of the folders in CUDA_ON_CPU_ROOTS (the project's, unless set), and as a neighbour. Several
# targets may name the same file. CUDA_ON_CPU_OPTIONS are further options for the compiler.

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
  set(options -fsanitize=thread -U__SANITIZE_THREAD__ -DCUDA_ON_CPU_INSTRUMENTED)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    list(APPEND options -fno-vectorize -fno-slp-vectorize)
    foreach(option IN ITEMS instrument-func-entry-exit=0 distinguish-volatile=1 instrument-read-before-write=1)
      list(APPEND options -mllvm -tsan-${option})
    endforeach()
  else()
    list(APPEND options -fno-tree-vectorize -fno-tree-loop-distribute-patterns
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
  endif()
  cuda_on_cpu_reports(reports)
  list(TRANSFORM reports REPLACE "(.+)" "$<$<BOOL:$<TARGET_PROPERTY:CUDA_ON_CPU_INSTRUMENTED>>:\\1>")
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
        PROPERTIES COMPILE_OPTIONS "${CUDA_ON_CPU_OPTIONS};${line_numbers};${loops};${alignment};${reports};-iquote;${folder}"
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

# cuda_on_cpu_instrumented(PROGRAM): the program once more, as the target PROGRAM_instrumented, in the folder
# "instrumented" beside it. Its kernels report their accesses to memory, for STAGEWISE_CPU_OBSERVE. Only they are compiled again; all other
# objects are the program's own, which is built, too. "all" does not contain it. Call it where everything that the
# program links, and that these link, has been defined and can be seen. Libraries that have kernels, or link some,
# become static ones. Under a sanitizer, there is no such program.
function(cuda_on_cpu_instrumented program)
  if(CUDA_ON_CPU_SANITIZER)
    return()
  endif()
  cuda_on_cpu_instrument(${program} instrumented)
  if(instrumented STREQUAL program)
    message(FATAL_ERROR "cuda_on_cpu_instrumented: ${program} has no kernels")
  endif()
  get_target_property(folder ${program} RUNTIME_OUTPUT_DIRECTORY)
  if(NOT folder)
    get_target_property(folder ${program} BINARY_DIR)
  endif()
  get_target_property(name ${program} OUTPUT_NAME)
  if(NOT name)
    set(name ${program})
  endif()
  # The folder as a part of the name, since Ninja builds by the names of files, too: of two files of one name, the wrong
  # one.
  set_target_properties(${instrumented} PROPERTIES OUTPUT_NAME instrumented/${name} RUNTIME_OUTPUT_DIRECTORY ${folder})
  file(MAKE_DIRECTORY ${folder}/instrumented) # which Make does not
endfunction()

# cuda_on_cpu_instrument(TARGET VARIABLE): sets the variable to what stands for the target in an instrumented program:
# TARGET_instrumented, which this makes, if it has kernels or links something that has; else the target itself.
function(cuda_on_cpu_instrument target variable)
  set(${variable} ${target} PARENT_SCOPE)
  if(NOT TARGET ${target}) # an option, or a library of the system
    return()
  endif()
  get_target_property(aliased ${target} ALIASED_TARGET)
  if(aliased)
    set(target ${aliased})
  endif()
  get_target_property(known ${target} CUDA_ON_CPU_INSTRUMENTED_AS)
  get_target_property(is_imported ${target} IMPORTED)
  if(known AND NOT known STREQUAL target)
    set(${variable} ${known} PARENT_SCOPE)
  endif()
  if(known OR is_imported)
    return()
  endif()

  get_target_property(type ${target} TYPE)
  get_target_property(sources ${target} SOURCES)
  set(kernels ${sources})
  list(FILTER kernels INCLUDE REGEX "\\.cu\\.cpp$")
  list(FILTER sources INCLUDE REGEX "TARGET_OBJECTS|\\.o$")
  set(needs_own ${kernels})
  set(links "")
  foreach(property IN ITEMS LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
    get_target_property(of_property ${target} ${property})
    if(of_property)
      list(APPEND links ${of_property})
    endif()
  endforeach()
  list(TRANSFORM links REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1")
  list(REMOVE_DUPLICATES links)
  set(instrumented_links "")
  foreach(link IN LISTS links)
    cuda_on_cpu_instrument("${link}" instrumented_link)
    list(APPEND instrumented_links "${instrumented_link}")
    if(NOT instrumented_link STREQUAL link)
      set(needs_own ON)
    endif()
  endforeach()
  if(NOT needs_own)
    set_target_properties(${target} PROPERTIES CUDA_ON_CPU_INSTRUMENTED_AS ${target})
    return()
  endif()

  set(instrumented ${target}_instrumented)
  set_target_properties(${target} PROPERTIES CUDA_ON_CPU_INSTRUMENTED_AS ${instrumented})
  set(${variable} ${instrumented} PARENT_SCOPE)
  set(properties COMPILE_DEFINITIONS COMPILE_FEATURES COMPILE_OPTIONS INCLUDE_DIRECTORIES LINK_DIRECTORIES
                 LINK_OPTIONS)
  list(TRANSFORM properties PREPEND INTERFACE_ OUTPUT_VARIABLE of_users)
  list(APPEND of_users INTERFACE_SYSTEM_INCLUDE_DIRECTORIES)
  if(type STREQUAL "INTERFACE_LIBRARY")
    add_library(${instrumented} INTERFACE)
    target_link_libraries(${instrumented} INTERFACE ${instrumented_links})
    set(properties ${of_users})
  else()
    list(APPEND sources ${kernels} "$<FILTER:$<TARGET_OBJECTS:${target}>,EXCLUDE,[.]cu[.]cpp[.][^.]*$>")
    if(type STREQUAL "EXECUTABLE")
      add_executable(${instrumented} EXCLUDE_FROM_ALL ${sources})
    else()
      add_library(${instrumented} STATIC EXCLUDE_FROM_ALL ${sources})
    endif()
    target_link_libraries(${instrumented} PUBLIC ${instrumented_links})
    set_target_properties(${instrumented} PROPERTIES CUDA_ON_CPU_INSTRUMENTED ON LINKER_LANGUAGE CXX)
    list(APPEND properties ${of_users} CXX_EXTENSIONS CXX_STANDARD CXX_STANDARD_REQUIRED)
  endif()
  foreach(property IN LISTS properties)
    get_target_property(value ${target} ${property})
    if(NOT value STREQUAL "value-NOTFOUND")
      set_target_properties(${instrumented} PROPERTIES ${property} "${value}")
    endif()
  endforeach()

  # A file's options are known only to the targets of one folder.
  foreach(file IN LISTS kernels)
    get_source_file_property(options ${file} TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
    set_source_files_properties(${file} TARGET_DIRECTORY ${instrumented} PROPERTIES COMPILE_OPTIONS "${options}"
                                                                            SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
  get_target_property(rules ${target} MANUALLY_ADDED_DEPENDENCIES)
  if(rules)
    add_dependencies(${instrumented} ${rules})
  endif()
endfunction()
