/// @file
/// A line on the terminal that says what is going on, and goes away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace stagewise {

/// One line on standard error that overwrites itself. Shows nothing if that is not a terminal, or
/// one that cannot erase a line (TERM=dumb). Uses no colours.
class StatusLine {
 public:
  /// Finds out what standard error is.
  StatusLine();
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Whether anything is shown at all.
  bool is_on() const { return is_on_; }

  /// How many characters can be shown now, as windows change their size: all columns but one,
  /// because a line that wraps could not be erased.
  static std::size_t room();

  /// Shows the text, cut to fit.
  void show(const char* text);

  /// Removes the line, so that another one can be printed in its place.
  void clear();

 private:
  bool is_on_;
  bool is_visible_ = false;
};

/// A function that shows how many bytes of all have been sent, until it is told that all have:
/// "rank 0 has sent 3 MB of 12 MB of samples".
/// @param done,what what comes before and after the sizes.
std::function<void(std::uint64_t, std::uint64_t)> show_bytes(const std::string& done,
                                                             const std::string& what);

}  // namespace stagewise
