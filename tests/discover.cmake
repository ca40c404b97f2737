# Writes a CTest file with the tests of a GoogleTest program, under names that a person can read:
#
#   Csv                        the suite Csv                          (NAMES=suites)
#   Stage02.Gemm/float         the case Stage02/Primitives/float.Gemm (NAMES=cases)
#   reverse/Stage02.Gemm/float the same in another order of a block's threads
#   WrongCommand/Words         the suite Words/WrongCommand
#
# PROGRAM, FILTER and EXCEPT (which cases, as GoogleTest filters), NAMES, ORDER (empty: as set), LABELS,
# ALONE (whether no other test may run at that time), OUTPUT.

cmake_minimum_required(VERSION 3.25)

execute_process(
  COMMAND ${PROGRAM} --gtest_list_tests --gtest_filter=${FILTER}-${EXCEPT}
  OUTPUT_VARIABLE listing ERROR_VARIABLE errors RESULT_VARIABLE code TIMEOUT 60)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} could not list its tests (${code}):\n${listing}${errors}")
endif()

# Suites and cases of the listing; behind a # are values and types, which may be mangled.
string(REGEX REPLACE "[];[]" "?" listing "${listing}")
string(REPLACE "\n" ";" listing "${listing}")

set(precision "float|double")
set(names "")
foreach(line IN LISTS listing)
  string(REGEX REPLACE " *#.*" "" line "${line}")
  if(line MATCHES "^([^ ]+)\\.$")
    set(suite ${CMAKE_MATCH_1})
    set(type "")
    set(by_value OFF)
    set(readable ${suite})
    if(suite MATCHES "^([^/]+)(/[^/]+)?/(${precision})$") # of types: Stage02/Primitives/float
      set(readable ${CMAKE_MATCH_1})
      set(type /${CMAKE_MATCH_3})
    elseif(suite MATCHES "^([^/]+)/([^/]+)$") # of values: Words/WrongCommand
      set(readable ${CMAKE_MATCH_2}/${CMAKE_MATCH_1})
      set(by_value ON)
    endif()
  elseif(line MATCHES "^  ([^ ]+)$")
    set(case ${CMAKE_MATCH_1})
    if(case MATCHES "/")
      set(by_value ON)
    endif()
    if((NAMES STREQUAL "cases" AND NOT by_value) OR NOT FILTER STREQUAL "*")
      set(name ${readable}.${case}${type})
      set(cases ${suite}.${case})
    else()
      set(name ${readable}${type})
      set(cases ${suite}.*)
    endif()
    if(NOT name IN_LIST names)
      list(APPEND names ${name})
      set(cases_of_${name} "")
    endif()
    if(NOT cases IN_LIST cases_of_${name})
      list(APPEND cases_of_${name} ${cases})
    endif()
  endif()
endforeach()

set(prefix "")
set(environment "")
if(ORDER)
  set(prefix ${ORDER}/)
  set(environment " ENVIRONMENT STAGEWISE_CPU_THREAD_ORDER=${ORDER}")
endif()
set(alone "")
if(ALONE)
  set(alone " RUN_SERIAL ON")
endif()
set(text "")
foreach(name IN LISTS names)
  string(REPLACE ";" ":" filter "${cases_of_${name}}")
  if(EXCEPT AND filter MATCHES "\\*")
    string(APPEND filter "-${EXCEPT}")
  endif()
  string(APPEND text "add_test([==[${prefix}${name}]==] \"${PROGRAM}\" \"--gtest_filter=${filter}\")
set_tests_properties([==[${prefix}${name}]==] PROPERTIES LABELS \"${LABELS}\" TIMEOUT 600 "
                     "SKIP_RETURN_CODE 77${environment}${alone})\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
