#include "calls.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace cuda_on_cpu {
namespace {

/// A function of the host, in a namespace.
struct HostFunction {
  std::size_t name_at;
  Range body;
};

/// Looks for wrong calls.
class Checker {
 public:
  Checker(const std::vector<Token>& tokens, const std::vector<DeviceFunction>& functions)
      : tokens_(tokens), functions_(functions) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].kind != TokenKind::space) significant_.push_back(i);
    }
    for (const DeviceFunction& function : functions) files_.insert(tokens[function.name_at].file);
    find_host_functions();
    find_declarations();
  }

  void check() const {
    for (const DeviceFunction& function : functions_) {
      if (function.is_kernel) check_return_type(function);
      if (!function.is_host && !function.is_template) check_device_code(function);
    }
    for (const auto& [name, host] : hosts_) check_host_code(name, host);
  }

 private:
  /// All tokens but the spaces, by their number among these.
  const Token& at(std::size_t number) const { return tokens_[significant_[number]]; }
  bool is(std::size_t number, std::string_view wanted) const {
    return number < significant_.size() && at(number).is(wanted);
  }
  std::size_t number_of(std::size_t place) const {
    return static_cast<std::size_t>(
        std::lower_bound(significant_.begin(), significant_.end(), place) - significant_.begin());
  }

  /// Behind the bracket that closes the one here.
  std::size_t behind(std::size_t open) const {
    std::size_t depth = 0;
    for (std::size_t i = open; i < significant_.size(); ++i) {
      if (is(i, "(") || is(i, "{") || is(i, "[")) ++depth;
      if ((is(i, ")") || is(i, "}") || is(i, "]")) && --depth == 0) return i + 1;
    }
    return significant_.size();
  }

  /// Is this word declared here: does a type stand before it, and a parenthesis behind it?
  bool is_declared(std::size_t i) const {
    if (i == 0 || !is(i + 1, "(")) return false;
    const Token& before = at(i - 1);
    constexpr std::array<std::string_view, 7> keywords = {"return", "else",      "do",    "throw",
                                                          "case",   "co_return", "sizeof"};
    if (before.kind == TokenKind::word)
      return std::find(keywords.begin(), keywords.end(), before.text) == keywords.end();
    if (!before.is("*") && !before.is("&") && !before.is(">")) return false;
    return i > 1 && at(i - 2).kind != TokenKind::number && !is(i - 2, ")") && !is(i - 2, "]");
  }

  /// The words of the declaration up to this one.
  std::set<std::string_view> words_before(std::size_t i) const {
    std::set<std::string_view> words;
    while (i-- > 0 && !is(i, ";") && !is(i, "{") && !is(i, "}")) words.insert(at(i).text);
    return words;
  }

  static bool contains_any(const std::set<std::string_view>& words,
                           std::initializer_list<std::string_view> wanted) {
    return std::any_of(wanted.begin(), wanted.end(),
                       [&](std::string_view word) { return words.contains(word); });
  }

  /// Those in namespaces, of the files that have device functions, too.
  void find_host_functions() {
    for (std::size_t i = 0; i < significant_.size(); ++i) {
      if (is(i, "{")) {
        const auto words = words_before(i);
        if (contains_any(words, {"namespace", "extern"}) && !words.contains("(")) continue;
        i = behind(i) - 1;
      } else if (at(i).kind == TokenKind::word && is_declared(i) && files_.contains(at(i).file)) {
        const std::size_t body = behind(i + 1);
        if (!is(body, "{")) continue;
        if (!contains_any(words_before(i), {"__device__", "__global__", "template", "constexpr",
                                            "consteval", "operator", "=", "("}))
          hosts_.insert({at(i).text, {i, {body + 1, behind(body) - 1}}});
        i = behind(body) - 1;
      }
    }
  }

  /// What the declarations of each name have in common with none of a simple function.
  void find_declarations() {
    for (std::size_t i = 0; i < significant_.size(); ++i) {
      if (at(i).kind != TokenKind::word || !is_declared(i)) continue;
      const std::string_view name = at(i).text;
      if (!hosts_.contains(name) && !is_device_function(name)) continue;
      const auto words = words_before(i);
      const bool is_device = contains_any(words, {"__device__", "__global__"});
      (is_device ? of_device_ : of_host_).insert(name);
      if (words.contains("__host__")) of_host_.insert(name);
      if (contains_any(words, {"template", "constexpr", "consteval"}) ||
          !files_.contains(at(i).file))
        doubtful_.insert(name);
    }
  }

  bool is_device_function(std::string_view name) const {
    return std::any_of(functions_.begin(), functions_.end(),
                       [&](const DeviceFunction& function) { return function.name == name; });
  }

  bool is_only_hosts(std::string_view name) const {
    return hosts_.count(name) == 1 && !of_device_.contains(name) && !doubtful_.contains(name);
  }

  bool is_only_devices(std::string_view name) const {
    return of_device_.contains(name) && !of_host_.contains(name) && !doubtful_.contains(name);
  }

  /// Is the name called here, as it is or in std?
  bool is_called(std::size_t i) const {
    if (!is(i + 1, "(") || is_declared(i)) return false;
    if (is(i - 1, "::")) return is(i - 2, "std");
    return !is(i - 1, ".") && !is(i - 1, "->") && !(is(i - 1, "(") && is(i - 2, "decltype"));
  }

  /// Does the range use the name as that of a variable?
  bool is_shadowed(std::string_view name, Range range) const {
    for (std::size_t i = range.first; i < range.end; ++i) {
      if (is(i, name) && (!is(i + 1, "(") || is_declared(i))) return true;
    }
    return false;
  }

  [[noreturn]] static void refuse(const Token& token, const std::string& what) {
    throw TranslationError(std::string(token.file) + ":" + std::to_string(token.line) + ": " +
                           what);
  }

  void check_return_type(const DeviceFunction& kernel) const {
    const auto words = words_before(number_of(kernel.name_at));
    if (!contains_any(words, {"void", "auto", "template"}) &&
        contains_any(words,
                     {"int", "float", "double", "bool", "char", "unsigned", "long", "short"})) {
      refuse(tokens_[kernel.name_at], "the kernel '" + std::string(kernel.name) +
                                          "' returns something, but a kernel must be void");
    }
  }

  void check_device_code(const DeviceFunction& function) const {
    constexpr std::array<std::string_view, 8> of_library = {
        "rand", "srand", "fprintf", "sprintf", "puts", "snprintf", "system", "getenv"};
    const Range body = {number_of(function.body.first), number_of(function.body.end)};
    const Range parameters = {number_of(function.parameters.first),
                              number_of(function.parameters.end)};
    const std::string caller = (function.is_kernel ? "the kernel '" : "the device function '") +
                               std::string(function.name) + "'";
    for (std::size_t i = body.first; i < body.end; ++i) {
      const std::string name(at(i).text);
      if (name == "cout" && is(i - 1, "::") && is(i - 2, "std"))
        refuse(at(i), caller + " uses std::cout, which is the host's; in a kernel, write printf()");
      if (at(i).kind != TokenKind::word || !is_called(i)) continue;
      const bool is_of_library =
          std::find(of_library.begin(), of_library.end(), name) != of_library.end() &&
          !hosts_.contains(at(i).text) && !is_device_function(name);
      if ((!is_of_library && !is_only_hosts(name)) || is_shadowed(name, body) ||
          is_shadowed(name, parameters)) {
        continue;
      }
      refuse(at(i),
             caller + " calls '" + name + "', a function of the host" +
                 (is_of_library ? ", which no GPU has" : "; write __device__ before that one"));
    }
  }

  void check_host_code(std::string_view caller, const HostFunction& host) const {
    for (std::size_t i = host.body.first; i < host.body.end; ++i) {
      if (is(i, "__device__")) return;  // a lambda for a kernel
    }
    for (std::size_t i = host.body.first; i < host.body.end; ++i) {
      if (at(i).kind != TokenKind::word || !is_called(i) || is(i - 1, "::")) continue;
      const std::string_view name = at(i).text;
      if (!is_only_devices(name) || is_shadowed(name, host.body)) continue;
      const auto callee = std::find_if(functions_.begin(), functions_.end(),
                                       [&](const auto& function) { return function.name == name; });
      if (callee == functions_.end() || callee->is_host) continue;
      refuse(
          at(i),
          callee->is_kernel
              ? "the kernel '" + std::string(name) + "' is called like a function; launch it: " +
                    std::string(name) + "<<<blocks, threads>>>(...)"
              : "'" + std::string(caller) + "' calls '" + std::string(name) +
                    "' on the host, but that is __device__; write __host__ __device__ before it");
    }
  }

  const std::vector<Token>& tokens_;
  const std::vector<DeviceFunction>& functions_;
  std::vector<std::size_t> significant_;
  std::set<std::string_view> files_;  ///< those with device functions
  std::multimap<std::string_view, HostFunction> hosts_;
  std::set<std::string_view>
      of_device_;  ///< the names that are declared with __device__ or __global__
  std::set<std::string_view> of_host_;   ///< those that are declared without, or with __host__
  std::set<std::string_view> doubtful_;  ///< templates, constexpr functions, functions of headers
};

}  // namespace

void refuse_wrong_calls(const std::vector<Token>& tokens,
                        const std::vector<DeviceFunction>& functions) {
  Checker(tokens, functions).check();
}

}  // namespace cuda_on_cpu
