/// @file
/// printf() of programs that the linker was told to wrap it in (`--wrap=printf`): each line that a
/// kernel prints is marked, since their order means nothing. A compiler may make puts() or
/// putchar() of it.

#include <cstdarg>
#include <cstdio>
#include <string>

#include "cuda_on_cpu/kernel.hpp"

namespace {

constexpr char mark = '\x1e';

/// @return the number of characters, without marks, or a negative one as vprintf() does.
int print_marked(const char* format, std::va_list arguments) {
  if (!cuda_on_cpu::runs_in_kernel()) return std::vprintf(format, arguments);
  std::va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (length < 0) return length;
  std::string text(static_cast<std::size_t>(length), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, arguments);
  std::string marked;
  for (const char c : text) {
    if (marked.empty() || marked.back() == '\n') marked += mark;
    marked += c;
  }
  std::fwrite(marked.data(), 1, marked.size(), stdout);
  return length;
}

}  // namespace

// By the names that the linker gives them.
extern "C" {
int print(const char* format, ...) __asm__("__wrap_printf");
int print_checked(int flag, const char* format, ...) __asm__("__wrap___printf_chk");
int print_line(const char* text) __asm__("__wrap_puts");
int print_character(int character) __asm__("__wrap_putchar");
}

/// Is printf() of a program.
int print(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int length = print_marked(format, arguments);
  va_end(arguments);
  return length;
}

/// Is what printf() becomes with _FORTIFY_SOURCE.
int print_checked(int /*flag*/, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int length = print_marked(format, arguments);
  va_end(arguments);
  return length;
}

/// Is puts().
int print_line(const char* text) { return print("%s\n", text); }

/// Is putchar().
int print_character(int character) { return print("%c", character) < 0 ? EOF : static_cast<unsigned char>(character); }
