# Builds the project in this folder in FOLDER, with the compiler COMPILER, and runs its program. HOW is
# "subdirectory" or "installed".
cmake_minimum_required(VERSION 3.25)
get_filename_component(cuda_on_cpu ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
file(REMOVE_RECURSE ${FOLDER})

function(must_run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command} ended with ${result}:\n${output}")
  endif()
endfunction()

if(HOW STREQUAL "installed")
  must_run(${CMAKE_COMMAND} -S ${cuda_on_cpu} -B ${FOLDER}/build -DCMAKE_CXX_COMPILER=${COMPILER}
           -DBUILD_TESTING=OFF -DCMAKE_INSTALL_PREFIX=${FOLDER}/installed)
  must_run(${CMAKE_COMMAND} --build ${FOLDER}/build --target install --parallel 2)
  set(where -DCMAKE_PREFIX_PATH=${FOLDER}/installed)
else()
  set(where -DCUDA_ON_CPU=${cuda_on_cpu})
endif()
must_run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${FOLDER}/outside -DCMAKE_CXX_COMPILER=${COMPILER} ${where})
must_run(${CMAKE_COMMAND} --build ${FOLDER}/outside --parallel 2 --target vector_add vector_add_instrumented)

execute_process(COMMAND ${FOLDER}/outside/vector_add OUTPUT_VARIABLE output RESULT_VARIABLE result)
if(NOT result EQUAL 0 OR NOT output STREQUAL "1000 sums are right\n")
  message(FATAL_ERROR "vector_add ended with ${result}: ${output}")
endif()
execute_process(COMMAND ${FOLDER}/outside/vector_add beyond ERROR_VARIABLE error RESULT_VARIABLE result)
if(NOT result EQUAL 1 OR NOT error MATCHES "vector_add\\.cu:10: kernel .vector_add.")
  message(FATAL_ERROR "vector_add beyond its vectors ended with ${result}: ${error}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E env STAGEWISE_CPU_OBSERVE=counters ${FOLDER}/outside/instrumented/vector_add
                OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
if(NOT result EQUAL 0 OR NOT output MATCHES "kernel 'vector_add': 1 launch.*vector_add\\.cu:10 global loads")
  message(FATAL_ERROR "vector_add with accesses that are counted ended with ${result}: ${output}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E env STAGEWISE_CPU_OBSERVE=counters ${FOLDER}/outside/vector_add
                OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(output MATCHES "global loads")
  message(FATAL_ERROR "vector_add reports accesses although it is not the instrumented one: ${output}")
endif()
