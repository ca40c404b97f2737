# What sabotage.cmake does for a file that has been edited: breaks nothing, stops nothing, skips the test;
# and fails where CI is set.
set(folder ${CMAKE_CURRENT_BINARY_DIR}/check_sabotage)
set(sabotage ${folder}/sabotage.cmake)
set(broken ${folder}/broken.cu)
file(WRITE ${folder}/edited.cu "for (;;) sum += x[i];\n")
file(WRITE ${sabotage} "set(FILE [[${folder}/edited.cu]])\nset(BROKEN [[${broken}]])\nset(REPORT wrong)\n"
                       "set(FROM [==[sum += x[i];\n  __syncthreads();]==])\nset(TO [==[sum += x[i];]==])\n")

# run(STEP ENVIRONMENT RESULT OUTPUT)
function(run step environment result output)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env --unset=CI ${environment} ${CMAKE_COMMAND} -DSTEP=${step}
            -DSABOTAGE=${sabotage} -DPROGRAM=false -P ${CMAKE_CURRENT_LIST_DIR}/sabotage.cmake
    RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(${result} ${code} PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

run(break "" result output)
file(READ ${broken} text)
if(NOT result EQUAL 0 OR text MATCHES "sum")
  message(FATAL_ERROR "An edited file stops the build: ${output}")
endif()
run(test "" result output)
if(NOT result EQUAL 0 OR NOT output MATCHES "edited.cu has[ \n]+been edited,")
  message(FATAL_ERROR "The test of an edited file is not skipped: ${output}")
endif()
run(test CI=true result output)
if(result EQUAL 0 OR NOT output MATCHES "edited.cu[ \n]+must[ \n]+contain")
  message(FATAL_ERROR "CI does not notice that nothing is broken: ${output}")
endif()

file(APPEND ${folder}/edited.cu "for (;;) {\n  sum += x[i];\n  __syncthreads();\n}\n")
run(break "" result output)
file(READ ${broken} text)
if(NOT text STREQUAL "for (;;) sum += x[i];\nfor (;;) {\n  sum += x[i];\n}\n")
  message(FATAL_ERROR "What is broken is not what was to be broken: ${text}")
endif()
run(test "" result output)
if(result EQUAL 0 OR NOT output MATCHES "is[ \n]+not[ \n]+said")
  message(FATAL_ERROR "A program that fails in silence passes: ${output}")
endif()

# A header must exist for the files that include it.
file(WRITE ${folder}/edited.cuh "inline int one() { return 1; }\n")
file(APPEND ${sabotage} "set(FILE [[${folder}/edited.cuh]])\n")
run(break "" result output)
file(READ ${broken} text)
if(NOT result EQUAL 0 OR NOT text STREQUAL "inline int one() { return 1; }\n")
  message(FATAL_ERROR "An edited header is gone: ${text} ${output}")
endif()
