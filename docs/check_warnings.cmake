# Fails if WARNINGS.guide.txt and WARNINGS.api.txt, written by Doxygen, hold a warning that matters. Not every public
# name needs a comment: what is left to its name is a member variable, a type alias, a value of an
# enumeration, a constructor, an operator, an operation's list of operands, an accessor, "Index rows() const",
# an executor's function for an operation, which is described where the operation is, and a member of an
# instance, which is described in the template. The functions of CUDA that cuda_on_cpu offers are described by
# NVIDIA, and those behind them in headers that the documentation leaves out. Doxygen also looks into build/,
# where links may lead nowhere.
cmake_minimum_required(VERSION 3.25)
file(READ ${WARNINGS}.guide.txt guide)
file(READ ${WARNINGS}.api.txt text)
string(PREPEND text "${guide}")
string(REPLACE ";" "," text "${text}")
string(REPLACE "[" "(" text "${text}") # a bracket would keep a CMake list together
string(REPLACE "]" ")" text "${text}")
string(REPLACE "\n" ";" bad "${text}")
list(FILTER bad EXCLUDE REGEX "^$|source '.*/build/.*is not a readable file")
list(REMOVE_DUPLICATES bad)
set(undocumented "${bad}")
list(FILTER undocumented INCLUDE REGEX "is not documented")
list(FILTER bad EXCLUDE REGEX "is not documented")

set(by_name
    "\\((variable|enumvalue|typedef)\\) of"
    "Member main\\("
    "Member run\\(const [A-Z][A-Za-z]+ &.*\\) \\(function\\) of class"
    "Member operator"
    "Member operands\\(auto &op\\)"
    "/cuda_on_cpu/.*Member (cuda[A-Z]|__|CUDA_)"
    "/cuda_on_cpu/src/.*\\(function\\) of namespace"
    "Member [a-z0-9_]+\\(\\) const.* \\(function\\) of (class|struct)"
    "of class [A-Za-z]+< (float|double) > is")
foreach(pattern IN LISTS by_name)
  list(FILTER undocumented EXCLUDE REGEX "${pattern}")
endforeach()
foreach(line IN LISTS undocumented) # but for constructors and destructors
  if(NOT line MATCHES "Member ~?([A-Za-z0-9_]+)\\(.*\\(function\\) of (class|struct) [A-Za-z0-9_:]*::([A-Za-z0-9_]+) "
     OR NOT CMAKE_MATCH_1 STREQUAL CMAKE_MATCH_3)
    list(APPEND bad "${line}")
  endif()
endforeach()

if(bad)
  list(JOIN bad "\n" text)
  list(LENGTH bad count)
  message("${text}")
  message(FATAL_ERROR "The documentation has ${count} warnings; they are above.")
endif()
