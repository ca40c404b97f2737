# cmake -DBUILD=... -DFILE=... -DCOMPILER=... -DFOLDER=... -P check.cmake: what the kernels of FILE ask of memory is what its
# main() says, for several sizes and in every order of the threads; and a copy that a barrier waits for is counted
# once, and so is a thread that waits.
set(ENV{CXX} ${COMPILER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../../compile.sh --observed ${BUILD} ${FILE} ${FOLDER}/counters
                        COMMAND_ERROR_IS_FATAL ANY)
set(ENV{STAGEWISE_CPU_OBSERVE} counters)
set(ENV{STAGEWISE_CPU_COUNTERS} ${FOLDER}/counted.csv)
foreach(order IN ITEMS forward reverse random)
  foreach(size IN ITEMS 1 31 1001 4096)
    set(ENV{STAGEWISE_CPU_THREAD_ORDER} ${order})
    execute_process(COMMAND ${FOLDER}/counters ${size} OUTPUT_VARIABLE expected COMMAND_ERROR_IS_FATAL ANY)
    file(READ ${FOLDER}/counted.csv counted)
    if(NOT counted STREQUAL expected)
      file(WRITE ${FOLDER}/expected.csv "${expected}")
      execute_process(COMMAND diff ${FOLDER}/expected.csv ${FOLDER}/counted.csv)
      message(FATAL_ERROR "Size ${size}, threads ${order}: the lines with < were expected, those with > counted.")
    endif()
  endforeach()
endforeach()

execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../../compile.sh --observed ${BUILD}
                        ${CMAKE_CURRENT_LIST_DIR}/barrier.cu ${FOLDER}/barrier COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${FOLDER}/barrier TIMEOUT 60 COMMAND_ERROR_IS_FATAL ANY)
file(READ ${FOLDER}/counted.csv counted)
# 4,096 bytes in vectors, and a few stores of the barrier's own.
if(NOT counted MATCHES "global loads,256,256,4096,256," OR NOT counted MATCHES "shared stores,2[567][0-9],")
  message(FATAL_ERROR "The copy that a barrier waits for was counted otherwise:\n${counted}")
endif()

execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../../compile.sh --observed ${BUILD}
                        ${CMAKE_CURRENT_LIST_DIR}/waiting.cu ${FOLDER}/waiting COMMAND_ERROR_IS_FATAL ANY)
foreach(looks IN ITEMS "" often)
  execute_process(COMMAND ${FOLDER}/waiting ${looks} TIMEOUT 60 COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${FOLDER}/counted.csv counted)
  if(NOT counted MATCHES "global atomics,1,32,128,1,")
    message(FATAL_ERROR "The threads that wait were counted otherwise:\n${counted}")
  endif()
endforeach()
