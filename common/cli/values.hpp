/// @file
/// Options with a value, and the forms that values are written in.
///
/// CLI11's own conversions let an empty text, "1e3" and a number beyond its type's range pass for
/// something else; these do not.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tensor/counts.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stagewise {

/// Declares `--name VALUE` on `command`.
/// @param value what stands for the value in the help text: "N", "FILE".
/// @param default_text shown in brackets behind the description; empty: nothing is.
/// @param read parses the value; says what is wrong with it by throwing UsageError, to which the
///        option's name is then added.
CLI::Option* add_value(CLI::App& command, const std::string& name, const std::string& value,
                       const std::string& description, const std::string& default_text,
                       const std::function<void(const std::string&)>& read);

// Each of these @throws UsageError saying what was found and what was expected.

/// A whole number from `least` to `most`.
std::int64_t parse_count(const std::string& text, std::int64_t least,
                         std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// A whole number from 0 to 2^64 - 1.
std::uint64_t parse_seed(const std::string& text);

/// A finite number of at least 0, or above 0.
double parse_real(const std::string& text, bool zero_allowed);

/// A finite number, negative ones too.
double parse_finite(const std::string& text);

/// "on" or "off".
bool parse_switch(const std::string& text);

/// One of `choices`.
std::string parse_choice(const std::string& text, const std::vector<std::string>& choices);

/// The name of a file, folder or data set: anything but nothing, which is what a shell makes of a
/// variable that is not set.
std::string parse_name(const std::string& text);

/// The parts of the text between separators, empty ones included.
std::vector<std::string> split(const std::string& text, char separator);

}  // namespace stagewise
