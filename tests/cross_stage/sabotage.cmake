# Tests of the tests: breaks a source file in one place, and sees that the tests notice.
#
# cmake -DSTEP=break ... -P sabotage.cmake     writes BROKEN: FILE with the one place FROM changed to TO
# cmake -DSTEP=test ... -P sabotage.cmake      runs PROGRAM, which must fail and say what REPORT matches or,
#                                              where TEXT is given, what that file says
#
# A TEXT is what a page of the documentation shows. Numbers with a fraction, times, places in the tests, the
# processor and line breaks may differ.
#
# FILE, BROKEN, FROM, TO and REPORT come from the file SABOTAGE. If FILE has been edited so that FROM is no longer
# there exactly once, BROKEN is empty, or the same header, and the test is skipped; with CI set, it fails.
include(${SABOTAGE})

file(READ ${FILE} text)
string(FIND "${text}" "${FROM}" first)
string(FIND "${text}" "${FROM}" last REVERSE)
set(is_there FALSE)
if(NOT first EQUAL -1 AND first EQUAL last)
  set(is_there TRUE)
endif()
get_filename_component(name ${FILE} NAME)

if(STEP STREQUAL "break")
  set(broken "// ${name} has been edited: the library's own is tested.\n")
  if(is_there OR FILE MATCHES "[.]cuh$") # other files include a header
    string(REPLACE "${FROM}" "${TO}" broken "${text}")
  endif()
  set(before "")
  if(EXISTS ${BROKEN})
    file(READ ${BROKEN} before)
  endif()
  if(NOT broken STREQUAL before) # else nothing is compiled again
    file(WRITE ${BROKEN} "${broken}")
  endif()
  return()
endif()

if(NOT is_there)
  if(DEFINED ENV{CI})
    message(FATAL_ERROR "${FILE} must contain once what this test breaks, or the test proves nothing: ${FROM}")
  endif()
  get_filename_component(test ${SABOTAGE} NAME_WE)
  message("skipped: ${test}: ${name} has been edited, nothing is left to break")
  return()
endif()
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} OUTPUT_VARIABLE output ERROR_VARIABLE output
                RESULT_VARIABLE result)
message("${output}")

# comparable(TEXT VARIABLE): what is left of it where machines and compilers differ.
function(comparable text variable)
  string(REGEX REPLACE "[^ \n]*tests/cross_stage/([a-z_]+.hpp):[0-9]+" "\\1:LINE" text "${text}")
  string(REGEX REPLACE "-?[0-9]+[.][0-9]+(e-?[0-9]+)?" "NUMBER" text "${text}")
  string(REGEX REPLACE "[0-9]+ ms" "TIME" text "${text}")
  string(REGEX REPLACE "on the CPU [(][^\n]*[)]" "on the CPU" text "${text}")
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

if(result EQUAL 0)
  message(FATAL_ERROR "All is well, it is said, although ${name} is broken.")
elseif(DEFINED TEXT)
  file(READ ${TEXT} text)
  comparable("${text}" text)
  comparable("${output}" output)
  string(FIND "${output}" "${text}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "This is not what ${TEXT} says.")
  endif()
elseif(NOT output MATCHES "${REPORT}")
  message(FATAL_ERROR "It is not said '${REPORT}'.")
endif()
