#include "volatiles.hpp"

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
    std::set<std::size_t> of_do;  // each `while` that ends a `do`
    for (std::size_t i = function_.body.first; i < function_.body.end; ++i) {
      if (is(i, "do")) of_do.insert(behind_statement(next(i)));
      if (!is(i, "while") || of_do.contains(i) || !is(next(i), "(")) continue;
      const std::size_t body = next(close_of(next(i)));
      if (is(body, ";")) ends.push_back(body);
      if (is(body, "{") && is(next(body), "}")) ends.push_back(next(body));
    }
  }

  /// @param conditions gets where each begins.
  void find_watching_loops(std::vector<std::size_t>& conditions) {
    collect_names({0, tokens_.size()});
    for (std::size_t i = function_.body.first; i < function_.body.end; ++i) {
      if (!is(i, "while") || !is(next(i), "(")) continue;
      const Range condition = {next(i) + 1, close_of(next(i))};
      if (is_volatile(condition) && !assigns(condition)) conditions.push_back(next(next(i)));
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

  /// The last word of each declaration that says volatile: `volatile float* partial`.
  void collect_names(Range range) {
    for (std::size_t i = range.first; i < range.end; ++i) {
      if (!is(i, "volatile")) continue;
      std::string_view name;
      for (std::size_t j = next(i); j < range.end; j = next(j)) {
        if (tokens_[j].kind == TokenKind::word) name = tokens_[j].text;
        if (is(j, ",") || is(j, ")") || is(j, ";") || is(j, "=") || is(j, "[") || is(j, "(")) break;
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
    Finder(tokens, function, none).find_watching_loops(conditions);
  return conditions;
}

}  // namespace cuda_on_cpu
