/// @file
/// A line on the terminal that says what is going on, and goes away.
#pragma once

#include <cstddef>

namespace stagewise {

/// One line on standard error that takes its own place again and again. Shows nothing where that is
/// no terminal, or one that cannot erase a line (TERM=dumb). Uses no colours, and allocates
/// nothing.
class StatusLine {
 public:
  /// Looks at what standard error is.
  StatusLine();
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Whether anything is shown at all.
  bool is_on() const { return is_on_; }

  /// How many characters can be shown now: all columns but one, for a line that wraps could not be
  /// taken back. Users change the size of their windows.
  static std::size_t room();

  /// Shows the text, cut where there is no room.
  void show(const char* text);

  /// Removes the line, so that another one can be printed in its place.
  void clear();

 private:
  bool is_on_;
  bool is_visible_ = false;
};

}  // namespace stagewise
