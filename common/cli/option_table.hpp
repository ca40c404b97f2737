/// @file
/// The options of `train`, `evaluate`, `predict` and `info`: one table, from which they are
/// declared, checkpoints are written and read, and what has no effect is found. And how its entries
/// are written down: each leads to a member of RunOptions, and knows how to read and write it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/options.hpp"
#include "cli/text.hpp"
#include "cli/values.hpp"

namespace stagewise {

/// The commands that offer an option, of which there may be several.
enum Command : std::uint8_t { for_train = 1, for_evaluate = 2, for_predict = 4, for_info = 8 };

/// The group of options that only some stages have, but share.
inline const std::string workers_group = "Workers";

/// Those that all stages have, in the order of the help text. One name may have several entries,
/// for different commands.
const std::vector<Option>& option_table();

/// Why an option has no effect; see Option::why_idle. No checkpoint stores such an
/// option, but for averages that wait for further ranks (settings_of()). On the
/// command line, it is refused or ignored; see drop_idle_options().
std::string why_idle(const Option& option, const RunOptions& options);

/// "256,128", or "none".
std::string list(const std::vector<Index>& numbers);

/// A value as the command line has it.
template <typename Value>
std::string written(const Value& value) {
  if constexpr (std::is_same_v<Value, bool>) {
    return value ? "on" : "off";
  } else if constexpr (std::is_integral_v<Value>) {
    return std::to_string(value);
  } else if constexpr (std::is_floating_point_v<Value>) {
    return shortest(value);
  } else if constexpr (std::is_enum_v<Value>) {
    return to_string(value);
  } else if constexpr (std::is_same_v<Value, std::optional<Index>>) {
    return value ? std::to_string(*value) : "all";
  } else if constexpr (std::is_same_v<Value, std::vector<Index>>) {
    return list(value);
  } else {
    return std::filesystem::path(value).string();
  }
}

/// The names of an enumeration's values, in their order.
using Names = std::vector<std::string>;

/// Options, in the order in which they are added.
class OptionList {
 public:
  std::vector<Option> options;  ///< those so far

  /// The options that follow are of this group and these commands, and are kept like that.
  void begin(const std::string& group, unsigned commands, Kept kept) {
    next_ = {.commands = commands, .group = group, .kept = kept};
  }

  /// Adds one, whose further members may be set afterwards.
  /// @param parse reads the value; or the Names of those that an enumeration has.
  /// @param why_idle says why the option has no effect; see Option::why_idle.
  /// @param members lead to the value, from RunOptions on.
  template <typename Parse, typename... Members>
  Option& add(const std::string& name, const std::string& argument, const std::string& description, const Parse& parse,
              std::string (*why_idle)(const RunOptions&), Members... members) {
    const auto value = [=](auto& o) -> auto& { return (o.*....*members); };
    Option& option = options.emplace_back(next_);
    option.name = name;
    option.argument = argument;
    option.description = description;
    option.why_idle = why_idle;
    option.read = [=](const std::string& text, RunOptions& o) {
      using Held = std::decay_t<decltype(value(o))>;
      if constexpr (std::is_same_v<Parse, Names>) {
        parse_choice(text, parse);
        value(o) = static_cast<Held>(std::find(parse.begin(), parse.end(), text) - parse.begin());
      } else {
        value(o) = static_cast<Held>(parse(text));
      }
    };
    option.write = [=](const RunOptions& o) {
      if constexpr (std::is_same_v<Parse, Names>) {
        return parse.at(static_cast<std::size_t>(value(o)));
      } else {
        return written(value(o));
      }
    };
    option.reset = [=](RunOptions& o) {
      RunOptions defaults;
      value(o) = value(defaults);
    };
    return option;
  }

 private:
  Option next_ = {};
};

/// Reads a whole number.
inline auto count(std::int64_t least = 1, std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  return [=](const std::string& text) { return parse_count(text, least, most); };
}

/// Reads a number of at least 0.
inline double parse_not_negative(const std::string& text) { return parse_real(text, true); }

/// Adds what says which data are used.
void add_data_options(OptionList& table);

/// Whether it says something about a data set.
bool is_of_data(const Option& option);

}  // namespace stagewise
