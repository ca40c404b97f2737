// The checks without kernels and processes. They are compiled with AddressSanitizer.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

#include "check.hpp"

/// AddressSanitizer calls this before it reports an access, at great length.
extern "C" void __asan_on_error() {
  char place[300] = "";
  __sanitizer_symbolize_pc(__asan_get_report_pc(), "%s:%l", place, sizeof place);
  const std::string full = place;
  const char* const answer = std::getenv("EXERCISE_FILE");
  const bool is_known = answer != nullptr && full.starts_with(answer);
  const bool is_beyond = std::strstr(__asan_get_report_description(), "buffer-overflow") != nullptr;
  exercise::fail("In ",
                 is_known ? full.substr(full.rfind('/') + 1) : "a function of the C++ library",
                 ", ", exercise::current_case, exercise::current_case.empty() ? "" : ", ",
                 "the program", __asan_get_report_access_type() != 0 ? " writes" : " reads",
                 is_beyond ? " what is beyond the end of a vector or array, or before its "
                             "beginning: compare the index with the size."
                           : " memory that it does not have: is an index far too large or "
                             "negative, or has the memory been freed?");
}

int main() {
  exercise::check();
  std::puts("done");
  return 0;
}
