#include <algorithm>
#include <set>

#include "finders.hpp"

namespace cuda_on_cpu {
namespace {

/// Looks into one function.
class VolatileFinder {
 public:
  VolatileFinder(const Tokens& tokens, const std::vector<DeviceFunction>& functions, const DeviceFunction& function,
                 VolatileUses& uses)
      : tokens_(tokens), functions_(functions), function_(function), uses_(uses) {}

  void find() {
    collect_names(function_.parameters);
    collect_names(function_.body);
    if (!names_.empty()) find_stores();
    if (is_constexpr()) return;
    find_empty_loops();
    find_watching_loops();
  }

 private:
  void find_empty_loops() {
    std::set<std::size_t> of_do;  // each `while` that ends a `do`
    for (std::size_t i = function_.body.first; i < function_.body.end; ++i) {
      if (is(i, "do")) of_do.insert(behind_statement(next(i)));
      if (!is(i, "while") || of_do.contains(i) || !is(next(i), "(")) continue;
      const std::size_t body = next(close_of(next(i)));
      if (is(body, ";")) uses_.empty_loops.push_back(body);
      if (is(body, "{") && is(next(body), "}")) uses_.empty_loops.push_back(next(body));
    }
  }

  void find_watching_loops() {
    std::size_t first = 0;
    for (const DeviceFunction& other : functions_) {  // variables and members, not others' own
      collect_names({first, std::max(first, other.parameters.first)});
      first = std::max(first, other.body.end);
    }
    collect_names({first, tokens_.size()});
    for (std::size_t i = function_.body.first; i < function_.body.end; ++i) {
      if (!tokens_.is_any(i, {"while", "for"}) || !is(next(i), "(")) continue;
      Range condition = {next(i) + 1, close_of(next(i))};
      if (is(i, "for")) condition = condition_of_for(condition);
      if (is_volatile(condition) && !assigns(condition)) uses_.watching_loops.push_back(next(condition.first - 1));
    }
  }

  void find_stores() {
    bool begins = true;  // a statement
    for (std::size_t i = function_.body.first; i < function_.body.end; ++i) {
      if (tokens_[i].kind == TokenKind::space) continue;
      if (begins && names_.contains(tokens_[i].text) && read_store(i)) continue;
      if (is(i, "(")) {
        begins = is_condition(i);
        i = close_of(i);
      } else {
        begins = tokens_.is_any(i, {";", "{", "}", "else", "do", ":"});
      }
    }
  }

  bool is(std::size_t place, std::string_view wanted) const { return tokens_.is(place, wanted); }
  std::size_t next(std::size_t place) const { return tokens_.next(place); }
  std::size_t close_of(std::size_t open) const { return tokens_.close_of(open); }

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
      if (tokens_.is_any(i, {";", "{", "}"})) return false;
      if (tokens_.is_any(i, {"constexpr", "consteval"})) return true;
    }
    return false;
  }

  /// What stands between the semicolons; nothing where the loop declares a volatile variable.
  Range condition_of_for(Range head) const {
    std::size_t first = head.first;
    for (; first < head.end && !is(first, ";"); ++first) {
      if (is(first, "volatile")) return {first, first};
      if (tokens_.opens(first)) first = close_of(first);
    }
    std::size_t end = ++first;
    while (end < head.end && !is(end, ";")) ++end;
    return {first, std::max(first, end)};
  }

  /// The name that each declaration with volatile ends with: `volatile float* partial`. A cast ends
  /// with a star.
  void collect_names(Range range) {
    for (std::size_t i = range.first; i < range.end; ++i) {
      if (!is(i, "volatile")) continue;
      std::string_view name;
      for (std::size_t j = next(i); j < range.end; j = next(j)) {
        if (tokens_.is_any(j, {",", ")", ";", "=", "[", "("})) break;
        const bool is_type = tokens_.is_any(j, {"int", "unsigned", "float", "double", "char", "bool", "long", "short"});
        name = tokens_.is_word(j) && !is_type ? tokens_[j].text : std::string_view();
      }
      if (!name.empty()) names_.insert(name);
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
    return tokens_.is_any(tokens_.previous(open), {"if", "for", "while", "constexpr"});
  }

  /// Reads `name[...] += ...;`.
  bool read_store(std::size_t first) {
    const std::size_t open = next(first);
    if (!is(open, "[") || has_side_effects({open, close_of(open)})) return false;
    VolatileStore store = {{first, close_of(open) + 1}, "", {}};
    std::size_t i = next(close_of(open));
    while (i < tokens_.size() && !is(i, "=") && tokens_[i].kind == TokenKind::symbol && store.operation.size() < 3) {
      if (tokens_.is_any(i, {".", "->", ";", "[", "("})) return false;
      store.operation += tokens_[i].text;
      i = i + 1;
    }
    if (!is(i, "=") || is(i + 1, "=") || is(next(i), "{")) return false;
    store.value.first = i + 1;
    for (++i; i < function_.body.end && !is(i, ";"); ++i) {
      if (tokens_.opens(i)) i = close_of(i);
      if (tokens_.is_any(i, {",", "}"})) return false;
    }
    store.value.end = i;
    uses_.stores[first] = store;
    return true;
  }

  bool has_side_effects(Range range) const {
    for (std::size_t i = range.first; i < range.end; ++i) {
      if (is(i, "=") || is(i, "(") || (is(i, "+") && is(i + 1, "+")) || (is(i, "-") && is(i + 1, "-"))) {
        return true;
      }
    }
    return false;
  }

  const Tokens& tokens_;
  const std::vector<DeviceFunction>& functions_;
  const DeviceFunction& function_;
  VolatileUses& uses_;
  std::set<std::string_view> names_;
};

}  // namespace

VolatileUses find_volatile_uses(const Tokens& tokens, const std::vector<DeviceFunction>& functions) {
  VolatileUses uses;
  for (const DeviceFunction& function : functions) {
    VolatileFinder(tokens, functions, function, uses).find();
  }
  return uses;
}

}  // namespace cuda_on_cpu
