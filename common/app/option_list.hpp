/// @file
/// How a list of options is written down: each leads to a member of RunOptions, and knows how to
/// read and write it.
#pragma once

#include <algorithm>
#include <concepts>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "app/idle_reasons.hpp"
#include "app/option_table.hpp"
#include "app/text.hpp"
#include "app/values.hpp"

namespace stagewise {

/// A value as the command line has it.
inline std::string written(std::integral auto value) {
  return std::to_string(value);
}

/// Likewise.
inline std::string written(double value) {
  return shortest(value);
}

/// Likewise.
inline std::string written(bool value) {
  return value ? "on" : "off";
}

/// Likewise.
inline std::string written(const std::filesystem::path& value) {
  return value.string();
}

/// Likewise.
inline std::string written(const std::optional<Index>& value) {
  return value ? std::to_string(*value) : "all";
}

/// Likewise.
inline std::string written(const std::vector<Index>& widths) {
  return list(widths);
}

/// Likewise.
inline std::string written(Activation value) {
  return to_string(value);
}

/// Likewise.
inline std::string written(LossKind value) {
  return to_string(value);
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
  Option& add(const std::string& name, const std::string& argument, const std::string& description,
              const Parse& parse, idle::Reason why_idle, Members... members) {
    const auto value = [=](auto& o) -> auto& {
      return (o.*....*members);
    };
    Option& option = options.emplace_back(next_);
    option.name = name;
    option.argument = argument;
    option.description = description;
    option.why_idle = why_idle;
    option.read = [=](const std::string& text, RunOptions& o) {
      using Value = std::decay_t<decltype(value(o))>;
      if constexpr (std::is_same_v<Parse, Names>) {
        parse_choice(text, parse);
        value(o) = static_cast<Value>(std::find(parse.begin(), parse.end(), text) - parse.begin());
      } else {
        value(o) = static_cast<Value>(parse(text));
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

}  // namespace stagewise
