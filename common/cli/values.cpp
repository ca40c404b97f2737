#include "cli/values.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

/// @param number receives it, if the text is one that the variable can hold.
/// @throws UsageError for one that no variable can hold, if `says_beyond`.
template <typename Number>
bool is_number(const std::string& text, Number& number, bool says_beyond = true) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const bool is_beyond = stop == end && error == std::errc::result_out_of_range;
  if (is_beyond && says_beyond && !text.starts_with('-')) {
    throw UsageError(in_quotes(text) + " is beyond the numbers that can be computed with");
  }
  return stop == end && error == std::errc();
}

}  // namespace

CLI::Option* add_value(CLI::App& command, const std::string& name, const std::string& value,
                       const std::string& description, const std::string& default_text,
                       const std::function<void(const std::string&)>& read) {
  const auto read_and_name = [name, read](const std::string& text) {
    try {
      read(text);
    } catch (const UsageError& error) {
      throw UsageError("--" + name + ": " + error.what());
    }
  };
  const std::string remark = default_text.empty() ? "" : " [" + default_text + "]";
  return command.add_option_function<std::string>("--" + name, read_and_name, description + remark)
      ->type_name(value)
      ->allow_extra_args(false);
}

std::int64_t parse_count(const std::string& text, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  const bool is_open = most == std::numeric_limits<std::int64_t>::max();
  if (!is_number(text, number, is_open) || number < least || number > most) {
    throw UsageError(in_quotes(text) + " is not a whole number " +
                     (is_open ? "of at least " + std::to_string(least)
                              : "from " + std::to_string(least) + " to " + std::to_string(most)));
  }
  return number;
}

std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t number = 0;
  if (!is_number(text, number, false)) {
    throw UsageError(in_quotes(text) + " is not a whole number from 0 to 2^64 - 1");
  }
  return number;
}

double parse_real(const std::string& text, bool zero_allowed) {
  double number = 0;
  if (!is_number(text, number) || !std::isfinite(number) || number < 0 || (number == 0 && !zero_allowed)) {
    throw UsageError(in_quotes(text) + " is not a " +
                     (zero_allowed ? "number of at least 0" : "number greater than 0"));
  }
  return number;
}

double parse_finite(const std::string& text) {
  double number = 0;
  if (!is_number(text, number) || !std::isfinite(number)) {
    throw UsageError(in_quotes(text) + " is not a finite number");
  }
  return number;
}

bool parse_switch(const std::string& text) {
  if (text != "on" && text != "off") throw UsageError(in_quotes(text) + " is neither on nor off");
  return text == "on";
}

std::string parse_choice(const std::string& text, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return text;
  throw UsageError(in_quotes(text) + " is not one of " + list_of(choices) + did_you_mean(text, choices));
}

std::string parse_name(const std::string& text) {
  if (text.empty()) throw UsageError("a name was expected, but it is empty");
  constexpr std::size_t longest = 4095;  // of a path, on Linux
  if (text.size() > longest) {
    throw UsageError(in_quotes(text) + " has " + count_of(std::ssize(text), "byte") + ", and a name at most " +
                     with_thousands(longest));
  }
  return text;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace stagewise
