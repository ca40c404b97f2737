# cmake [-DROOT=FOLDER] -P check_floors.cmake: checks that every file of common/ and stages/ includes
# only from its own floor or below. Without it, a low floor would grow a dependency on a high one
# unnoticed, since all of common/ is on the same include path.
#
# cmake -DSELF_TEST=ON -P check_floors.cmake: checks that the check notices violations.

cmake_minimum_required(VERSION 3.25)

if(NOT ROOT)
  get_filename_component(ROOT ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
endif()

# Lowest first. Floors on the same line stand side by side: none includes another.
set(storeys "tensor" "io" "data backend cuda cuda_on_cpu mpi" "graph" "models" "training" "verify" "app")
# Above most others, but to be usable on its own.
set(only_below_verify tensor io backend graph)

set(below "")
foreach(storey IN LISTS storeys)
  separate_arguments(floors UNIX_COMMAND "${storey}")
  foreach(floor IN LISTS floors)
    set(allowed_${floor} ${below} ${floor})
  endforeach()
  list(APPEND below ${floors})
endforeach()
set(allowed_verify ${only_below_verify} verify)
list(APPEND allowed_cuda cuda_on_cpu) # sets the order of the threads, where kernels run on the CPU
set(all_floors ${below})

# Libraries that stay on the floors that need them.
set(reserved_regex "^(CLI|nlohmann)/")
set(reserved_floors app io)

set(violations "")

# check_file(FILE FLOOR ALLOWED...): reports what the file may not include.
function(check_file file floor)
  file(STRINGS ${ROOT}/${file} includes REGEX "^[ \t]*#[ \t]*include")
  foreach(line IN LISTS includes)
    string(REGEX MATCH "[\"<]([^\">]+)[\">]" ignored "${line}")
    set(header ${CMAKE_MATCH_1})
    if(line MATCHES "\"")
      string(REGEX MATCH "^[^/]*" target ${header})
      if(NOT target IN_LIST ARGN)
        list(APPEND violations "${file} includes ${header}, which is not on its floor or below")
      endif()
    elseif(header MATCHES ${reserved_regex} AND NOT floor IN_LIST reserved_floors)
      list(APPEND violations "${file} includes ${header}, which only app/ and io/ may")
    endif()
  endforeach()
  set(violations ${violations} PARENT_SCOPE)
endfunction()

# files_below(VARIABLE FOLDER): the sources, relative to the root.
function(files_below variable folder)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${folder}/*.hpp ${ROOT}/${folder}/*.cpp
       ${ROOT}/${folder}/*.cuh ${ROOT}/${folder}/*.cu)
  set(${variable} ${files} PARENT_SCOPE)
endfunction()

function(self_test)
  set(planted ${CMAKE_CURRENT_BINARY_DIR}/check_floors)
  # FILE and what it includes, which must be refused or, behind "good", accepted.
  set(cases
      "bad common/tensor/a.hpp \"io/b.hpp\""
      "bad common/data/a.hpp \"backend/b.hpp\""
      "bad common/backend/a.cpp \"data/b.hpp\""
      "bad common/graph/deep/a.cpp \"models/b.hpp\""
      "bad common/verify/a.cpp \"training/b.hpp\""
      "bad common/app/a.cpp \"01_serial/b.hpp\""
      "bad common/app/a.cpp \"no_floor/b.hpp\""
      "bad common/training/a.cpp <nlohmann/json.hpp>"
      "bad common/data/a.cpp <CLI/CLI.hpp>"
      "bad common/new_floor/a.cpp <vector>"
      "bad stages/01_serial/gemm/a.cpp \"02_naive_cuda/b.hpp\""
      "good common/tensor/a.cpp <vector>"
      "good common/app/a.cpp <CLI/CLI.hpp>"
      "good common/app/a.cpp \"verify/b.hpp\""
      "good common/io/a.cpp <nlohmann/json.hpp>"
      "good common/verify/a.cpp \"graph/b.hpp\""
      "good common/cuda/a.cpp \"cuda_on_cpu/b.hpp\""
      "bad common/cuda_on_cpu/a.cpp \"cuda/b.hpp\""
      "good stages/01_serial/gemm/a.cpp \"01_serial/b.hpp\""
      "good stages/02_naive_cuda/a.cu \"01_serial/b.hpp\""
      "good stages/02_naive_cuda/a.cu \"app/b.hpp\"")
  foreach(case IN LISTS cases)
    string(REGEX MATCH "^([a-z]+) ([^ ]+) (.*)$" ignored "${case}")
    set(expected ${CMAKE_MATCH_1})
    file(REMOVE_RECURSE ${planted})
    file(MAKE_DIRECTORY ${planted}/stages/01_serial ${planted}/stages/02_naive_cuda)
    file(WRITE ${planted}/${CMAKE_MATCH_2} "#include ${CMAKE_MATCH_3}\n")
    execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${planted} -P ${CMAKE_CURRENT_LIST_FILE}
                    RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
    set(found bad)
    if(result EQUAL 0)
      set(found good)
    endif()
    if(NOT found STREQUAL expected)
      message(SEND_ERROR "The check calls this ${found}: ${case}")
    endif()
  endforeach()
  file(REMOVE_RECURSE ${planted})
endfunction()

if(SELF_TEST)
  self_test()
  return()
endif()

set(count 0)
files_below(files common)
foreach(file IN LISTS files)
  string(REGEX REPLACE "^common/([^/]+)/.*" "\\1" floor ${file})
  if(floor IN_LIST all_floors)
    check_file(${file} ${floor} ${allowed_${floor}})
  else()
    list(APPEND violations "${file} is on a floor that this check does not know")
  endif()
  math(EXPR count "${count} + 1")
endforeach()

file(GLOB stages RELATIVE ${ROOT}/stages ${ROOT}/stages/[0-9]*)
list(SORT stages)
set(earlier "")
foreach(stage IN LISTS stages)
  list(APPEND earlier ${stage})
  files_below(files stages/${stage})
  foreach(file IN LISTS files)
    check_file(${file} stages ${all_floors} ${earlier})
    math(EXPR count "${count} + 1")
  endforeach()
endforeach()

list(JOIN violations "\n  " text)
if(violations)
  message(FATAL_ERROR "Includes that lead upwards:\n  ${text}")
elseif(count EQUAL 0)
  message(FATAL_ERROR "There is not one file to check below ${ROOT}.")
endif()
message(STATUS "The includes of ${count} files stay on their floors.")
