#include "volatiles.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace cuda_on_cpu {
namespace {

/// Looks for the stores of one function.
class Finder {
 public:
  Finder(const std::vector<Token>& tokens, const DeviceFunction& function,
         std::map<std::size_t, VolatileStore>& stores)
      : tokens_(tokens), function_(function), stores_(stores) {}

  void find_empty_loops(std::vector<std::size_t>& ends) const {
    if (is_constexpr()) return;
    std::set<std::size_t> of_do;  // each `while` that ends a `do`
    for (std::size_t i = function_.body.first; i < function_.body.end; ++i) {
      if (is(i, "do")) of_do.insert(behind_statement(next(i)));
      if (!is(i, "while") || of_do.contains(i) || !is(next(i), "(")) continue;
      const std::size_t body = next(close_of(next(i)));
      if (is(body, ";")) ends.push_back(body);
      if (is(body, "{") && is(next(body), "}")) ends.push_back(next(body));
    }
  }

  /// @param functions all of the program.
  /// @param conditions gets where each begins.
  void find_watching_loops(const std::vector<DeviceFunction>& functions,
                           std::vector<std::size_t>& conditions) {
    if (is_constexpr()) return;
    std::size_t first = 0;
    for (const DeviceFunction& other : functions) {  // variables and members, not others' own
      collect_names({first, std::max(first, other.parameters.first)});
      first = std::max(first, other.body.end);
    }
    collect_names({first, tokens_.size()});
    collect_names(function_.parameters);
    collect_names(function_.body);
    for (std::size_t i = function_.body.first; i < function_.body.end; ++i) {
      if (!(is(i, "while") || is(i, "for")) || !is(next(i), "(")) continue;
      Range condition = {next(i) + 1, close_of(next(i))};
      if (is(i, "for")) condition = condition_of_for(condition);
      if (is_volatile(condition) && !assigns(condition))
        conditions.push_back(next(condition.first - 1));
    }
  }

  void find() {
    collect_names(function_.parameters);
    collect_names(function_.body);
    if (names_.empty()) return;
    bool begins = true;  // a statement
    for (std::size_t i = function_.body.first; i < function_.body.end; ++i) {
      if (tokens_[i].kind == TokenKind::space) continue;
      if (begins && names_.contains(tokens_[i].text) && read_store(i)) continue;
      if (is(i, "(")) {
        begins = is_condition(i);
        i = close_of(i);
      } else {
        begins =
            is(i, ";") || is(i, "{") || is(i, "}") || is(i, "else") || is(i, "do") || is(i, ":");
      }
    }
  }

 private:
  bool is(std::size_t place, std::string_view wanted) const {
    return place < tokens_.size() && tokens_[place].is(wanted);
  }

  std::size_t next(std::size_t place) const {
    while (++place < tokens_.size() && tokens_[place].kind == TokenKind::space) {
    }
    return place;
  }

  std::size_t close_of(std::size_t open) const {
    std::size_t depth = 0;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "{")) ++depth;
      if ((is(i, ")") || is(i, "]") || is(i, "}")) && --depth == 0) return i;
    }
    return tokens_.size();
  }

  std::size_t behind_statement(std::size_t first) const {
    std::size_t i = first;
    while (i < function_.body.end && !is(i, ";") && !is(i, "{")) {
      i = is(i, "(") ? next(close_of(i)) : next(i);
    }
    return next(is(i, "{") ? close_of(i) : i);
  }

  /// Such a function may run while the program is compiled, so that nothing is put into it.
  bool is_constexpr() const {
    for (std::size_t i = function_.name_at; i-- > 0;) {
      if (is(i, ";") || is(i, "{") || is(i, "}")) return false;
      if (is(i, "constexpr") || is(i, "consteval")) return true;
    }
    return false;
  }

  /// What stands between the semicolons; nothing where the loop declares a volatile variable.
  Range condition_of_for(Range head) const {
    std::size_t first = head.first;
    for (; first < head.end && !is(first, ";"); ++first) {
      if (is(first, "volatile")) return {first, first};
      if (is(first, "(") || is(first, "[") || is(first, "{")) first = close_of(first);
    }
    std::size_t end = ++first;
    while (end < head.end && !is(end, ";")) ++end;
    return {first, std::max(first, end)};
  }

  static bool is_type(std::string_view word) {
    constexpr std::array<std::string_view, 8> types = {"int",  "unsigned", "float", "double",
                                                       "char", "bool",     "long",  "short"};
    return std::find(types.begin(), types.end(), word) != types.end();
  }

  /// The name that each declaration with volatile ends with: `volatile float* partial`. A cast ends
  /// with a star.
  void collect_names(Range range) {
    for (std::size_t i = range.first; i < range.end; ++i) {
      if (!is(i, "volatile")) continue;
      std::string_view name;
      for (std::size_t j = next(i); j < range.end; j = next(j)) {
        if (is(j, ",") || is(j, ")") || is(j, ";") || is(j, "=") || is(j, "[") || is(j, "(")) break;
        name = tokens_[j].kind == TokenKind::word ? tokens_[j].text : std::string_view();
      }
      if (!name.empty() && !is_type(name)) names_.insert(name);
    }
  }

  bool is_volatile(Range range) const {
    for (std::size_t i = range.first; i < range.end; ++i) {
      if (is(i, "volatile") || names_.contains(tokens_[i].text)) return true;
    }
    return false;
  }

  bool assigns(Range range) const {
    for (std::size_t i = range.first; i < range.end; ++i) {
      if (is(i, "=") && is(i + 1, "=")) {
        ++i;
      } else if (is(i, "=") && !is(i - 1, "!") && !is(i - 1, "<") && !is(i - 1, ">")) {
        return true;
      }
    }
    return false;
  }

  /// Does a statement follow these parentheses?
  bool is_condition(std::size_t open) const {
    std::size_t before = open;
    while (before-- > function_.body.first) {
      if (tokens_[before].kind != TokenKind::space)
        return is(before, "if") || is(before, "for") || is(before, "while") ||
               is(before, "constexpr");
    }
    return false;
  }

  /// Reads `name[...] += ...;`.
  bool read_store(std::size_t first) {
    const std::size_t open = next(first);
    if (!is(open, "[") || has_side_effects({open, close_of(open)})) return false;
    VolatileStore store = {{first, close_of(open) + 1}, "", {}};
    std::size_t i = next(close_of(open));
    while (i < tokens_.size() && !is(i, "=") && tokens_[i].kind == TokenKind::symbol &&
           store.operation.size() < 3) {
      if (is(i, ".") || is(i, "->") || is(i, ";") || is(i, "[") || is(i, "(")) return false;
      store.operation += tokens_[i].text;
      i = i + 1;
    }
    if (!is(i, "=") || is(i + 1, "=") || is(next(i), "{")) return false;
    store.value.first = i + 1;
    for (++i; i < function_.body.end && !is(i, ";"); ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "{")) i = close_of(i);
      if (is(i, ",") || is(i, "}")) return false;
    }
    store.value.end = i;
    stores_[first] = store;
    return true;
  }

  bool has_side_effects(Range range) const {
    for (std::size_t i = range.first; i < range.end; ++i) {
      if (is(i, "=") || is(i, "(") || (is(i, "+") && is(i + 1, "+")) ||
          (is(i, "-") && is(i + 1, "-"))) {
        return true;
      }
    }
    return false;
  }

  const std::vector<Token>& tokens_;
  const DeviceFunction& function_;
  std::map<std::size_t, VolatileStore>& stores_;
  std::set<std::string_view> names_;
};

}  // namespace

std::map<std::size_t, VolatileStore> find_volatile_stores(
    const std::vector<Token>& tokens, const std::vector<DeviceFunction>& functions) {
  std::map<std::size_t, VolatileStore> stores;
  for (const DeviceFunction& function : functions) Finder(tokens, function, stores).find();
  return stores;
}

std::vector<std::size_t> find_empty_loops(const std::vector<Token>& tokens,
                                          const std::vector<DeviceFunction>& functions) {
  std::vector<std::size_t> ends;
  std::map<std::size_t, VolatileStore> none;
  for (const DeviceFunction& function : functions)
    Finder(tokens, function, none).find_empty_loops(ends);
  return ends;
}

std::vector<std::size_t> find_watching_loops(const std::vector<Token>& tokens,
                                             const std::vector<DeviceFunction>& functions) {
  std::vector<std::size_t> conditions;
  std::map<std::size_t, VolatileStore> none;
  for (const DeviceFunction& function : functions)
    Finder(tokens, function, none).find_watching_loops(functions, conditions);
  return conditions;
}

}  // namespace cuda_on_cpu
