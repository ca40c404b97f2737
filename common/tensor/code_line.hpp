/// @file
/// A line of the source, for reports that name the caller.
#pragma once

namespace stagewise {

/// A line of the source. As a default argument, `CodeLine::here()` is the line of the call:
///
///     void* allocate(std::size_t bytes, CodeLine asker = CodeLine::here());
///
/// A function that asks on behalf of its caller passes the caller's line on. Not
/// std::source_location, which not every nvcc knows.
struct CodeLine {
  const char* file;
  unsigned line;

  /// The line that calls this, or whose call has this as a default argument.
  static constexpr CodeLine here(const char* file = __builtin_FILE(),
                                 unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

}  // namespace stagewise
