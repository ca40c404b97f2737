# Builds the project in this folder in FOLDER, with the compiler COMPILER, and runs its program. HOW is
# "subdirectory" or "installed".
cmake_minimum_required(VERSION 3.25)
get_filename_component(cuda_on_cpu ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
file(REMOVE_RECURSE ${FOLDER})

# must_end(CODE REGEX COMMAND...): the command ends with this code, and what it prints is so.
function(must_end code regex)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL code OR NOT output MATCHES "${regex}")
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command} ended with ${result} instead of ${code}, or does not print ${regex}:\n${output}")
  endif()
endfunction()

if(HOW STREQUAL "installed")
  must_end(0 ".*" ${CMAKE_COMMAND} -S ${cuda_on_cpu} -B ${FOLDER}/build -DCMAKE_CXX_COMPILER=${COMPILER}
           -DBUILD_TESTING=OFF -DCMAKE_INSTALL_PREFIX=${FOLDER}/installed)
  must_end(0 ".*" ${CMAKE_COMMAND} --build ${FOLDER}/build --target install --parallel 2)
  set(where -DCMAKE_PREFIX_PATH=${FOLDER}/installed)
else()
  set(where -DCUDA_ON_CPU=${cuda_on_cpu})
endif()
must_end(0 ".*" ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${FOLDER}/outside -DCMAKE_CXX_COMPILER=${COMPILER}
         ${where})
must_end(0 ".*" ${CMAKE_COMMAND} --build ${FOLDER}/outside --parallel 2 --target vector_add vector_add_instrumented)

set(counting ${CMAKE_COMMAND} -E env STAGEWISE_CPU_OBSERVE=counters)
must_end(0 "^1000 sums are right\n$" ${FOLDER}/outside/vector_add)
must_end(1 "vector_add\\.cu:10: kernel .vector_add." ${FOLDER}/outside/vector_add beyond)
must_end(0 "kernel 'vector_add': 1 launch.*vector_add\\.cu:10 global loads" ${counting}
         ${FOLDER}/outside/instrumented/vector_add)
execute_process(COMMAND ${counting} ${FOLDER}/outside/vector_add OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(output MATCHES "global loads")
  message(FATAL_ERROR "vector_add reports accesses although it is not the instrumented one: ${output}")
endif()
