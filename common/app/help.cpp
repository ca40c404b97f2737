#include "app/help.hpp"

#include <cstddef>
#include <sstream>

namespace stagewise {
namespace {

constexpr std::size_t page = 80;
constexpr std::size_t left_column = 23;

}  // namespace

std::string wrapped(const std::string& text, std::size_t width) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::size_t used = 0;
    if (!result.empty()) result += '\n';
    for (std::string word; words >> word;) {
      if (used > 0) {
        const bool fits = used + 1 + word.size() <= width;
        result += fits ? ' ' : '\n';
        used = fits ? used + 1 : 0;
      }
      result += word;
      used += word.size();
    }
  }
  return result;
}

HelpFormatter::HelpFormatter() {
  column_width(left_column);
  label("Positionals", "Arguments");
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  // The library separates some parts by two empty lines, and ends with one.
  const std::string text = Formatter::make_help(app, std::move(name), mode);
  std::string result;
  for (const char c : text) {
    if (c == '\n' && result.ends_with("\n\n")) continue;
    result += c;
  }
  while (result.ends_with("\n\n")) result.pop_back();
  return result;
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return wrapped(app->get_description(), page) + "\n\n";
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  std::ostringstream text;
  CLI::detail::format_help(text, command->get_name(),
                           wrapped(command->get_description(), page - left_column), left_column);
  return text.str();
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  return option->get_type_size() == 0 ? "" : " " + option->get_type_name();
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  const std::string remark = option->get_required() && option->nonpositional() ? " [required]" : "";
  return wrapped(option->get_description() + remark, page - left_column);
}

}  // namespace stagewise
